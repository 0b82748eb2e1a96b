// SPDX-License-Identifier: Apache-2.0
// From a kernel's handle to its execution: finding and loading it, the checks that CUDA makes,
// faults.
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
  dim3 cluster{0, 0, 0};  // blocks; 0: as the kernel says
};

// By host stub or handle. Throws Failure if there is none.
Function& known_function(Runtime& runtime, const void* handle);

// Its kernel in the engine, the module loaded where it was not. Throws Failure; says why the first
// time only. `in_clusters`: not its machine code, which the engine does not execute in clusters.
const Kernel& loaded_kernel(Runtime& runtime, Function& function, bool in_clusters = false);

// The blocks of a cluster that may be asked for: 8, or 16 where
// cudaFuncAttributeNonPortableClusterSizeAllowed is set.
std::uint64_t most_cluster_blocks(const Function& function);

// Registers a thread. Throws Failure where the fat binary has no machine code for the device.
std::uint32_t known_registers(Runtime& runtime, const Function& function);

// The largest block that may be launched: 1024, less by __launch_bounds__ or (where known) by
// registers.
int thread_limit(Runtime& runtime, Function& function);

// The dynamic shared memory that a block may have: what the static one leaves of 48 KB, or more
// where cudaFuncAttributeMaxDynamicSharedMemorySize allows it.
std::size_t dynamic_shared_limit(Runtime& runtime, Function& function);

cudaError_t launch(Runtime& runtime, const void* handle, const Request& request);

// A fault is no error of the call that shows it: a real device would find it later. It stays the
// device's state.
void keep_fault(Runtime& runtime, const Fault& fault);

}  // namespace vgpu::runtime
