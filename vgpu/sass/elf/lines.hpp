// SPDX-License-Identifier: Apache-2.0
// Source lines of a kernel from the cubin's .debug_line section, a DWARF line program that
// nvcc -lineinfo generates.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sass/elf/cubin.hpp"

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

// Returns an empty table if the cubin has no lines for the kernel or if their format is unknown.
LineTable read_lines(const Cubin& cubin, const KernelInfo& kernel);

}  // namespace vgpu::sass
