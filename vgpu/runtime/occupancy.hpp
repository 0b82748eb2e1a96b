// SPDX-License-Identifier: Apache-2.0
// How many blocks fit on a multiprocessor: registers are given to warps in units, shared memory to blocks.
#pragma once
#include <cstddef>
#include <cstdint>

#include "devices/devices.hpp"

namespace vgpu::runtime {

// The largest block whose threads' registers the device has (a multiple of the warp), at most 1024.
int largest_block(const Device& device, std::uint32_t registers);

// 0 if the block fits on no multiprocessor. `threads` is at least 1; `shared_bytes` is static and dynamic
// together.
int blocks_per_multiprocessor(const Device& device, std::uint32_t registers, int threads,
                              std::size_t shared_bytes);

// The dynamic shared memory that each of `blocks` blocks on one multiprocessor can have; they must fit
// without.
std::size_t dynamic_shared_for(const Device& device, int blocks, std::size_t static_bytes);

}  // namespace vgpu::runtime
