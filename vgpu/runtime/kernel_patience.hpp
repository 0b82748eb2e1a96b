// SPDX-License-Identifier: Apache-2.0
// How a queued kernel waits for what others write: the host, copies, kernels of other streams.
#pragma once
#include <vector>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {

// Where the memory at a device address can be written from. Called with the runtime's lock.
WorkQueue::Writer writer_of(const Runtime& runtime, std::uint64_t address);

// Used without the runtime's lock.
class KernelPatience : public Patience {
 public:
  explicit KernelPatience(Runtime& runtime) : runtime_(runtime) {}
  bool wait(const std::vector<std::uint64_t>& addresses, bool still) override;

 private:
  Runtime& runtime_;
};

}  // namespace vgpu::runtime
