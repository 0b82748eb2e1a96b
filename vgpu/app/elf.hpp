// SPDX-License-Identifier: Apache-2.0
// Reads those properties of a program file that decide how it can run on the virtual GPU.
#pragma once
#include <string>

namespace vgpu::app {

struct ElfFacts {
  bool is_elf = false;           // 64-bit and little-endian; false for a script
  std::string interpreter;       // the dynamic loader; "" if statically linked
  bool has_device_code = false;  // nvcc's section .nv_fatbin
};

// Returns default values for a file that cannot be read or is damaged.
ElfFacts read_elf(const std::string& path);

}  // namespace vgpu::app
