// SPDX-License-Identifier: Apache-2.0
// How many blocks fit on a multiprocessor, by each resource: registers are given to warps in units,
// shared memory to blocks. The rules are those of the toolkit's cuda_occupancy.h, and of an H200's
// answers.
#pragma once
#include <cstddef>
#include <cstdint>

#include "devices/devices.hpp"

namespace vgpu::runtime {

// What a block of a kernel takes.
struct BlockResources {
  std::uint32_t registers = 0;   // a thread; 0: not known, no limit
  int threads = 1;               // at least 1
  std::size_t shared_bytes = 0;  // static and dynamic together
  std::uint32_t barriers = 0;    // named barriers; 0: none, no limit
};

enum class Resource { kBlocks, kRegisters, kShared, kWarps, kBarriers };
const char* to_string(Resource resource);  // "registers", ...

// Blocks that fit on a multiprocessor if only this resource counted; kNoLimit where the block takes
// none of it.
struct Occupancy {
  static constexpr int kNoLimit = 1 << 30;
  int by_blocks = 0, by_registers = 0, by_shared = 0, by_warps = 0, by_barriers = 0;
  int blocks = 0;  // the least of them; 0 if the block fits on no multiprocessor
  Resource limiter = Resource::kBlocks;  // what gives that least one; the first in the order above
  int warps = 0;                         // resident
};
Occupancy occupancy(const Device& device, const BlockResources& block);

// The largest block whose threads' registers the device has (a multiple of the warp), at most 1024.
int largest_block(const Device& device, std::uint32_t registers);

// occupancy().blocks of a kernel without barriers' limit, which never binds where threads do not.
int blocks_per_multiprocessor(const Device& device, std::uint32_t registers, int threads,
                              std::size_t shared_bytes);

// The dynamic shared memory that each of `blocks` blocks on one multiprocessor can have; they must
// fit without.
std::size_t dynamic_shared_for(const Device& device, int blocks, std::size_t static_bytes);

}  // namespace vgpu::runtime
