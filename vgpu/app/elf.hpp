// SPDX-License-Identifier: Apache-2.0
// The few facts about a program's file that decide how it can be put on the virtual GPU.
#pragma once
#include <string>

namespace vgpu::app {

struct ElfFacts {
  bool is_elf = false;           // 64-bit little-endian; a script is not
  std::string interpreter;       // of a dynamically linked program; "" otherwise
  bool has_device_code = false;  // nvcc's section .nv_fatbin
};

// A file that cannot be read or is damaged has no facts.
ElfFacts read_elf(const std::string& path);

}  // namespace vgpu::app
