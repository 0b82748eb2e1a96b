// SPDX-License-Identifier: Apache-2.0
#include "ir/special.hpp"

#include <unordered_map>

namespace vgpu::ir {

std::optional<SpecialRegister> find_special(std::string_view name) {
  using enum Special;
  static const std::unordered_map<std::string_view, SpecialRegister> kTable = {
      {"%tid.x", {kTidX, false}},
      {"%tid.y", {kTidY, false}},
      {"%tid.z", {kTidZ, false}},
      {"%ntid.x", {kNtidX, false}},
      {"%ntid.y", {kNtidY, false}},
      {"%ntid.z", {kNtidZ, false}},
      {"%ctaid.x", {kCtaidX, false}},
      {"%ctaid.y", {kCtaidY, false}},
      {"%ctaid.z", {kCtaidZ, false}},
      {"%nctaid.x", {kNctaidX, false}},
      {"%nctaid.y", {kNctaidY, false}},
      {"%nctaid.z", {kNctaidZ, false}},
      {"%laneid", {kLaneid, false}},
      {"%warpid", {kWarpid, false}},
      {"%nwarpid", {kNwarpid, false}},
      {"%smid", {kSmid, false}},
      {"%nsmid", {kNsmid, false}},
      {"%gridid", {kGridid, true}},
      {"%lanemask_eq", {kLanemaskEq, false}},
      {"%lanemask_le", {kLanemaskLe, false}},
      {"%lanemask_lt", {kLanemaskLt, false}},
      {"%lanemask_ge", {kLanemaskGe, false}},
      {"%lanemask_gt", {kLanemaskGt, false}},
      {"%clock", {kClock, false}},
      {"%clock_hi", {kClockHi, false}},
      {"%clock64", {kClock64, true}},
      {"%globaltimer", {kGlobaltimer, true}},
      {"%globaltimer_lo", {kGlobaltimerLo, false}},
      {"%globaltimer_hi", {kGlobaltimerHi, false}},
      {"%dynamic_smem_size", {kDynamicSmem, false}},
      {"%total_smem_size", {kTotalSmem, false}},
      {"%aggr_smem_size", {kAggrSmem, false}},
      {"%reserved_smem_offset_begin", {kReservedSmemBegin, false}},
      {"%reserved_smem_offset_end", {kReservedSmemEnd, false}},
      {"%reserved_smem_offset_cap", {kReservedSmemCap, false}},
      // The driver provides it in these registers; cooperative_groups/details/helpers.h reads them.
      {"%envreg1", {kGridWorkspaceHigh, false}},
      {"%envreg2", {kGridWorkspaceLow, false}},
      {"%clusterid.x", {kClusteridX, false}},
      {"%clusterid.y", {kClusteridY, false}},
      {"%clusterid.z", {kClusteridZ, false}},
      {"%nclusterid.x", {kNclusteridX, false}},
      {"%nclusterid.y", {kNclusteridY, false}},
      {"%nclusterid.z", {kNclusteridZ, false}},
      {"%cluster_ctaid.x", {kClusterCtaidX, false}},
      {"%cluster_ctaid.y", {kClusterCtaidY, false}},
      {"%cluster_ctaid.z", {kClusterCtaidZ, false}},
      {"%cluster_nctaid.x", {kClusterNctaidX, false}},
      {"%cluster_nctaid.y", {kClusterNctaidY, false}},
      {"%cluster_nctaid.z", {kClusterNctaidZ, false}},
      {"%cluster_ctarank", {kClusterCtarank, false}},
      {"%cluster_nctarank", {kClusterNctarank, false}},
  };
  const auto found = kTable.find(name);
  return found == kTable.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace vgpu::ir
