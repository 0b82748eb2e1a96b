// SPDX-License-Identifier: Apache-2.0
// One memory access of a warp, from its lanes' addresses: what it costs, and a picture of it in
// text. The counts are the virtual GPU's own (vgpu/engine/memory/access.hpp), whose rules were
// measured on an H200.
#pragma once
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
  int bytes = 4;                                 // of a lane: 1, 2, 4, 8 or 16
  std::uint32_t mask = 0;                        // lanes that take part
  std::array<std::uint64_t, kWarp> addresses{};  // in bytes, multiples of `bytes`
};

struct Cost {
  int lanes = 0;
  int bytes = 0;               // wanted: distinct bytes
  int sectors = 0, lines = 0;  // global: 32-byte sectors, 128-byte lines
  double sector_use = 0;       // global: bytes wanted over bytes of the sectors
  int wavefronts = 0;          // shared
  int least_wavefronts = 0;    // shared: of the distinct words, if they were spread over all banks
  int degree =
      0;  // shared: most distinct words in one bank that must be served one after the other
  bool broadcast = false;  // all lanes want the same element
};
Cost cost_of(const Access& access);

// Shared memory, the bank of a byte address: 32 banks of 4 bytes.
constexpr int bank_of(std::uint64_t address) { return static_cast<int>(address / 4 % 32); }

// Lanes that are served together: all for up to 4 bytes, halves for 8, quarters for 16.
int lanes_together(int bytes);

// For each group of lanes that is served together, the distinct words in each bank.
std::vector<std::array<int, 32>> bank_map(const Access& access);

// Lines of text without line ends. Of a global access the 128-byte lines with the lanes in their
// sectors, of a shared one the banks of each group. At most `most` lines of each.
std::vector<std::string> draw(const Access& access, int most = 4);

// "0-7,16,18": the lanes of a mask.
std::string lanes_text(std::uint32_t mask);

}  // namespace ladder::analyse
