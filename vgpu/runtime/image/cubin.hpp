// SPDX-License-Identifier: Apache-2.0
// What ptxas decided about each kernel and PTX does not know, read from a cubin (an ELF file).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace vgpu::image {

struct Resources {
  std::uint32_t registers = 0;  // a thread
  std::uint32_t barriers =
      0;  // named barriers of a block: the highest number used and 1; 16 where it is computed
  std::uint32_t shared_bytes = 0;  // static, the system's in front of it included
  bool operator==(const Resources&) const = default;
};

// By mangled name; device functions are there as well. Throws Damaged.
std::map<std::string, Resources> read_resources(std::span<const std::byte> cubin);

}  // namespace vgpu::image
