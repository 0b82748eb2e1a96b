// SPDX-License-Identifier: Apache-2.0
// How many blocks fit on an SM, by each resource, and how a grid of them fills the machine.
#pragma once
#include <cstdint>
#include <string>

#include "analyse/machine.hpp"

namespace ladder::analyse {

struct BlockNeeds {
  int threads = 0, registers = 0;  // registers a thread, as ptxas reports them
  int shared_bytes = 0;            // static and dynamic, a block
};

// By the virtual GPU's rules (vgpu/runtime/occupancy.hpp), which are CUDA's: a warp's registers
// come in units of 256, a block's shared memory in units of 128 bytes with what the runtime
// reserves; four schedulers share the registers.
struct Occupancy {
  // Blocks by each limit, and what the limits are made of.
  int by_threads = 0, by_registers = 0, by_shared = 0, by_blocks = 0;
  int warps_per_block = 0;
  int registers_per_warp = 0;   // after rounding
  int registers_per_block = 0;  // of all its warps
  int shared_per_block = 0;     // with the reserve, after rounding

  int blocks = 0;        // the least of the four
  int warps = 0;         // resident
  double occupancy = 0;  // of the warps that an SM can hold, 0 to 1
  std::string binds;  // "threads", "registers, threads": all limits that are as low as the result
};
Occupancy occupancy_of(const BlockNeeds& needs, const Machine& machine);

struct Waves {
  double blocks = 0;
  double slots = 0;  // SMs times resident blocks
  double waves = 0;  // blocks over slots
  double full = 0;   // whole waves it takes
  double used = 0;   // share of block places that are used until the last wave ends
};
Waves waves_of(double blocks, int blocks_per_sm, const Machine& machine);

// Tile quantisation: blocks cover whole tiles, whatever part of them C needs.
struct Quantisation {
  std::int64_t tiles_m = 0, tiles_n = 0;
  double used = 0;  // elements of C over elements covered
};
Quantisation quantisation_of(std::int64_t m, std::int64_t n, int tile_m, int tile_n);

}  // namespace ladder::analyse
