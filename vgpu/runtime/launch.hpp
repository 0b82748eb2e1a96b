// SPDX-License-Identifier: Apache-2.0
// The functions of kernels, and their launch: makes the checks that CUDA makes, executes the kernel
// and reports faults.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/runtime.hpp"

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

// Finds the function by host stub or by handle. Throws Failure if there is none.
Function& known_function(Runtime& runtime, const void* handle);

// Returns the engine's kernel of the function and loads its module if necessary. Throws Failure;
// only the first Failure per function has a message.
const Kernel& loaded_kernel(Runtime& runtime, Function& function);

// The largest allowed cluster, in blocks: 8, or 16 if
// cudaFuncAttributeNonPortableClusterSizeAllowed is set.
std::uint64_t most_cluster_blocks(const Function& function);

// Registers per thread. 0, after a message, if there is no machine code for the device: they do not
// limit then.
std::uint32_t known_registers(Runtime& runtime, Function& function);

// The largest block that can be launched, in threads: kMostThreads, or less if __launch_bounds__ or
// the registers per thread (where known) limit it.
constexpr int kMostThreads = 1024;
int thread_limit(Runtime& runtime, Function& function);

// The most dynamic shared memory per block, in bytes: what static shared memory leaves of 48 KB, or
// more if cudaFuncAttributeMaxDynamicSharedMemorySize allows it.
std::size_t dynamic_shared_limit(Runtime& runtime, Function& function);

// What cudaFuncGetAttributes returns. The registers are 0 if they are not known, which
// say_unknown_registers tells once: libraries ask for the attributes of all their kernels.
cudaFuncAttributes attributes_of(Runtime& runtime, Function& function);
void say_unknown_registers(Runtime& runtime, const char* call, const Function& function);

}  // namespace vgpu::runtime
