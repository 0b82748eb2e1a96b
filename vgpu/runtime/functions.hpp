// SPDX-License-Identifier: Apache-2.0
// The functions of kernels: found by handle, loaded, and what is known before a launch.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {

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
