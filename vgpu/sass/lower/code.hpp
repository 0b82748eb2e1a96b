// SPDX-License-Identifier: Apache-2.0
// The machine code of a lowered program: its instructions, their source lines and its constants.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "sass/decode/instruction.hpp"

namespace vgpu::sass {

// The source line of the instructions from `address` to the next entry.
struct LineEntry {
  std::uint32_t address = 0;
  std::uint32_t file = 0;  // index into files
  std::uint32_t line = 0;  // 0: none
};

struct LineTable {
  std::vector<LineEntry> entries;  // in order of address
  std::vector<std::string> files;
  const LineEntry* find(std::uint32_t address) const;  // null if there is none
};

// Constant banks 0 (the launch and its parameters), 2 (literals and tables of the kernel), 3
// (__constant__ variables), 4 (addresses).
inline constexpr std::size_t kBanks = 5;

struct Code {
  std::vector<Instruction> instructions;      // by address / 16
  std::vector<std::uint32_t> instruction_at;  // by program counter
  std::vector<bool> is_helper;                // by program counter: added by lowering, not counted
  std::vector<std::uint32_t> pc_at;           // by instruction
  LineTable lines;
  std::uint32_t param_base = 0;
  std::uint32_t stack_bytes = 0;
  bool indexes_addresses = false;  // reads bank 4 at computed offsets
  std::vector<std::byte> bank2, bank4;
  const std::byte* bank3 = nullptr;  // in device memory
  std::size_t bank3_bytes = 0;

  const Instruction& at(std::uint32_t pc) const { return instructions[instruction_at[pc]]; }
};

// The contents of the constant banks for one launch.
std::array<std::vector<std::byte>, kBanks> make_banks(const Code& code, const LaunchConfig& config,
                                                      const std::vector<std::byte>& params);

}  // namespace vgpu::sass
