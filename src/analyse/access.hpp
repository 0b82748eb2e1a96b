// SPDX-License-Identifier: Apache-2.0
// One memory access of a warp: its cost, computed from the lanes' addresses, and a drawing of it as
// text. The counts use the virtual GPU's rules (vgpu/memory/access.hpp), which were measured
// on an H200.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analyse/machine.hpp"

namespace ladder::analyse {

enum class Memory : std::uint8_t { kGlobal, kShared };

struct Access {
  Memory memory = Memory::kGlobal;
  bool store = false;
  int bytes = 4;                                 // per lane: 1, 2, 4, 8 or 16
  std::uint32_t mask = 0;                        // active lanes
  std::array<std::uint64_t, kWarp> addresses{};  // in bytes, multiples of `bytes`
};

struct Cost {
  int lanes = 0;
  int bytes = 0;               // distinct bytes requested
  int sectors = 0, lines = 0;  // global: 32-byte sectors, 128-byte lines
  double sector_use = 0;       // global: distinct bytes requested / bytes of the touched sectors
  // Cycles of L1's data stage, of which shared memory is a part: each reads one word from each of
  // 32 banks, from any lines.
  int wavefronts = 0;
  // shared: minimum, if the distinct 4-byte words were spread evenly over the banks
  int least_wavefronts = 0;
  // shared: bank conflict degree, the most distinct words that one bank serves in sequence
  int degree = 0;
  bool broadcast = false;  // all active lanes request the same element

  // Cycles of L1: of its data stage, or of the tag stage, which looks up four lines per cycle.
  int l1_cycles() const {
    return std::max(wavefronts, (lines + kTagsPerCycle - 1) / kTagsPerCycle);
  }
  static constexpr int kTagsPerCycle = 4;
};
Cost cost_of(const Access& access);

// Lanes served in one pass: 32 for accesses of up to 4 bytes, 16 for 8 bytes, 8 for 16 bytes.
int lanes_together(int bytes);

// Draws the access as lines of text without line ends. A global access shows its 128-byte lines
// with the lanes in each sector; a shared access shows the banks of each group. Draws at most
// `most` lines or groups.
std::vector<std::string> draw(const Access& access, int most = 4);

// Lanes of a mask as text, for example "0-7,16,18".
std::string lanes_text(std::uint32_t mask);

}  // namespace ladder::analyse
