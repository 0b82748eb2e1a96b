// SPDX-License-Identifier: Apache-2.0
// barrier.cluster, mapa, getctarank. PTX ISA, "Parallel Synchronization and Communication
// Instructions: barrier.cluster", "Data Movement and Conversion Instructions: mapa, getctarank".
#include <fmt/format.h>

#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {

// barrier.cluster.arrive{.release|.relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}
void FunctionLowering::cluster_barrier() {
  const auto parts = opcode().parts;
  if (parts.size() < 3 || operand_count() != 0) refuse();
  const bool arrives = parts[2] == "arrive";
  if (!arrives && parts[2] != "wait") refuse();
  bool relaxed = false;
  for (std::size_t i = 3; i < parts.size(); ++i) {
    if (parts[i] == "relaxed" && arrives)
      relaxed = true;
    else if (parts[i] != "aligned" && parts[i] != (arrives ? "release" : "acquire"))
      refuse(fmt::format("modifier .{}", parts[i]));
  }
  const u32 pc = emit(arrives ? "barrier.cluster.arrive" : "barrier.cluster.wait");
  at(pc).sub = relaxed ? 1 : 0;
  if (opcode().has("aligned")) at(pc).flags |= kFlagAligned;
}

// mapa{.shared::cluster}.u32|u64 d, a, rank; without a space the addresses are generic.
void FunctionLowering::map_address() {
  const Value to = named(operand(0));
  const Value from = source(operand(1), to.type);
  const Value rank = source(operand(2), RegisterClass::k32);
  const u32 pc = emit(to.type == RegisterClass::k64 ? "mapa.64" : "mapa.32", {from, rank});
  if (!opcode().has("shared::cluster")) at(pc).flags |= kFlagGeneric;
  write(pc, Field::kD, to);
}

// getctarank{.shared::cluster}.u32|u64 d, a; d has 32 bits
void FunctionLowering::cluster_rank() {
  const bool wide = opcode().parts.back() == "u64";
  const Value from = source(operand(1), wide ? RegisterClass::k64 : RegisterClass::k32);
  const u32 pc = emit(wide ? "getctarank.64" : "getctarank.32", {from});
  if (!opcode().has("shared::cluster")) at(pc).flags |= kFlagGeneric;
  destination(pc, operand(0), RegisterClass::k32);
}

}  // namespace vgpu::ptx
