// SPDX-License-Identifier: Apache-2.0
// Looks up __device__ and __constant__ variables by the address of their host shadow variable.
#pragma once
#include <cstddef>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {

// The device address of the bytes [offset, offset + bytes) of a variable. Throws Failure.
void* symbol_slice(Runtime& runtime, const void* host_variable, std::size_t offset,
                   std::size_t bytes);

}  // namespace vgpu::runtime
