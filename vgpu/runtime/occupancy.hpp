// SPDX-License-Identifier: Apache-2.0
// Occupancy: how many blocks fit on a multiprocessor, by each resource. Registers are allocated per
// warp and shared memory per block, both in fixed units. The rules are those of the toolkit's
// cuda_occupancy.h, and were compared with the occupancy functions on an H200.
#pragma once
#include <cstddef>
#include <cstdint>

#include "devices/devices.hpp"

namespace vgpu::runtime {

// The resources that one block of a kernel occupies.
struct BlockResources {
  std::uint32_t registers = 0;   // per thread; 0: unknown, not limiting
  int threads = 1;               // at least 1
  std::size_t shared_bytes = 0;  // static and dynamic together
  std::uint32_t barriers = 0;    // named barriers per block; 0: none, not limiting
};

enum class Resource { kBlocks, kRegisters, kShared, kWarps, kBarriers };
const char* to_string(Resource resource);  // "registers", ...

// Number of blocks that fit on a multiprocessor, if each resource alone limited them; kNoLimit if
// the block uses none of the resource.
struct Occupancy {
  static constexpr int kNoLimit = 1 << 30;
  int by_blocks = 0, by_registers = 0, by_shared = 0, by_warps = 0, by_barriers = 0;
  int blocks = 0;  // the minimum of these; 0 if a single block does not fit
  // the resource with that minimum; the first one in the order of Resource
  Resource limiter = Resource::kBlocks;
  int warps = 0;  // resident warps per multiprocessor
};
Occupancy occupancy(const Device& device, const BlockResources& block);

// The largest block (in threads, a multiple of the warp size, at most 1024) whose registers fit.
int largest_block(const Device& device, std::uint32_t registers);

// occupancy().blocks without named barriers, which never limit where threads do not.
int blocks_per_multiprocessor(const Device& device, std::uint32_t registers, int threads,
                              std::size_t shared_bytes);

// The dynamic shared memory, in bytes, that each block can have if `blocks` blocks share a
// multiprocessor. The blocks must fit without dynamic shared memory.
std::size_t dynamic_shared_for(const Device& device, int blocks, std::size_t static_bytes);

}  // namespace vgpu::runtime
