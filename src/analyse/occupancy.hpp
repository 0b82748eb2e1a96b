// SPDX-License-Identifier: Apache-2.0
// Occupancy: resident blocks per SM by each resource limit, and the number of waves of a grid.
#pragma once
#include <cstdint>
#include <string>

#include "analyse/machine.hpp"

namespace ladder::analyse {

struct BlockNeeds {
  int threads = 0, registers = 0;  // `registers`: per thread, as ptxas reports them
  int shared_bytes = 0;            // static and dynamic, per block
};

// Uses the virtual GPU's rules (vgpu/runtime/occupancy.hpp), which are CUDA's. Registers are
// allocated per warp in units of 256 and divided among four schedulers. Shared memory is allocated
// per block in units of 128 bytes and includes the runtime's reserve.
struct Occupancy {
  // Blocks per SM by each limit.
  int by_threads = 0, by_registers = 0, by_shared = 0, by_blocks = 0;
  int warps_per_block = 0;
  int registers_per_warp = 0;   // rounded up
  int registers_per_block = 0;  // of all the block's warps
  int shared_per_block = 0;     // including the reserve, rounded up

  int blocks = 0;        // minimum of the four limits
  int warps = 0;         // resident warps
  double occupancy = 0;  // share of the SM's maximum warps, 0 to 1
  std::string binds;     // names of all binding limits, for example "registers, threads"
};
Occupancy occupancy_of(const BlockNeeds& needs, const Machine& machine);

struct Waves {
  double blocks = 0;
  double slots = 0;  // SMs * resident blocks per SM
  double waves = 0;  // blocks / slots
  double full = 0;   // number of waves, rounded up
  double used = 0;   // share of the slots' time in use until the last wave ends
};
Waves waves_of(double blocks, int blocks_per_sm, const Machine& machine);

// Tile quantisation: blocks compute whole tiles, even where a tile exceeds C.
struct Quantisation {
  std::int64_t tiles_m = 0, tiles_n = 0;
  double used = 0;  // elements of C / elements covered
};
Quantisation quantisation_of(std::int64_t m, std::int64_t n, int tile_m, int tile_n);

}  // namespace ladder::analyse
