// SPDX-License-Identifier: Apache-2.0
// The two entries of a CPU library in the registry: on one thread and on all cores.
#pragma once
#include <ladder/kernel.hpp>

#include <array>
#include <string_view>

namespace ladder {

struct HostBaseline {
  std::string_view id, idea;
};

template <Status (*run)(const Problem&, const Operands&, bool all_cores)>
constexpr std::array<KernelInfo, 2> host_baselines(std::string_view rung, HostBaseline one_thread,
                                                   HostBaseline all_cores,
                                                   decltype(KernelInfo::accepts) accepts) {
  KernelInfo one{.id = one_thread.id,
                 .rung = rung,
                 .idea = one_thread.idea,
                 .place = Place::kHost,
                 .role = Role::kBaseline,
                 .accepts = accepts};
  KernelInfo all = one;
  one.launch = [](const Problem& p, const Operands& o, Stream) { return run(p, o, false); };
  all.launch = [](const Problem& p, const Operands& o, Stream) { return run(p, o, true); };
  all.id = all_cores.id, all.idea = all_cores.idea, all.all_cores = true;
  return {one, all};
}

}  // namespace ladder
