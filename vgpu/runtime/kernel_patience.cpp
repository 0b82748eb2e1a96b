// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_patience.hpp"

#include <algorithm>

namespace vgpu::runtime {

using Writer = WorkQueue::Writer;

Writer writer_of(const Runtime& runtime, std::uint64_t address) {
  const auto* const pointer =
      reinterpret_cast<const std::byte*>(address);  // NOLINT: a device address
  if (const Block* const block = runtime.pointers.covering(pointer)) {
    const auto* const begin = reinterpret_cast<const std::byte*>(block->begin);  // NOLINT: as above
    if (runtime.interprocess.is_shared(begin)) return Writer::kAnybody;
    switch (block->origin) {
      case Origin::kDevice: return Writer::kDevice;
      case Origin::kManaged:
      case Origin::kPinnedHost: return Writer::kHost;
      case Origin::kRegisteredHost:
      case Origin::kMapped: return Writer::kAnybody;  // processes may share it
    }
  }
  const auto& managed = runtime.modules.managed_variables();
  const bool is_managed = std::ranges::any_of(managed, [&](const Variable& variable) {
    const auto* const begin = static_cast<const std::byte*>(*variable.managed_pointer);
    return begin != nullptr && pointer >= begin && pointer < begin + variable.bytes;
  });
  return is_managed ? Writer::kHost : Writer::kDevice;
}

bool KernelPatience::wait(const std::vector<std::uint64_t>& addresses, bool still) {
  const std::scoped_lock lock(runtime_.mutex);
  if (runtime_.fault.code != cudaSuccess) throw Abandoned();  // another kernel's
  Writer writer = Writer::kDevice;
  for (const std::uint64_t address : addresses)
    writer = std::max(writer, writer_of(runtime_, address));
  return runtime_.queue.let_others_run(writer, still);
}

}  // namespace vgpu::runtime
