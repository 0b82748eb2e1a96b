// SPDX-License-Identifier: Apache-2.0
// Launching a kernel: makes the checks that CUDA makes, executes it and reports faults.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/functions.hpp"

namespace vgpu::runtime {

struct Request {
  dim3 grid, block;
  void** arguments = nullptr;
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  dim3 cluster{0, 0, 0};  // in blocks; 0: the kernel's own cluster size
};

inline Dim3 extent(const dim3& d) { return {d.x, d.y, d.z}; }

// Checks the launch and queues it.
void launch(Runtime& runtime, Stream& stream, const void* handle, const Request& request);

// Stores a fault as the device's sticky error and reports it. If a queued task caused it, the
// program sees the error when it synchronises, else from now on.
void keep_fault(Runtime& runtime, const Fault& fault);

// Reports what a check found `times` times in work that went on; the same only once.
void keep_finding(Runtime& runtime, const Fault& fault, std::uint64_t times);

// The cluster size of a launch: that of the request, or the kernel's own.
Dim3 cluster_of(const KernelAttributes& attributes, const Request& request);

// The rules that a launch's grid, block, cluster and shared memory keep. Throws Failure, which
// names the rule and what breaks it, where an H200 refuses the launch.
void require_launchable(Runtime& runtime, Function& function, const KernelAttributes& attributes,
                        const Request& request);

}  // namespace vgpu::runtime
