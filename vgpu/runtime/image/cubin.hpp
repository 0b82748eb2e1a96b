// SPDX-License-Identifier: Apache-2.0
// The resources that ptxas assigned to each kernel, read from a cubin (an ELF file). PTX does not
// contain them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace vgpu::image {

struct Resources {
  std::uint32_t registers = 0;  // per thread
  // named barriers per block: the highest number used plus 1; 16 if a barrier number is computed at
  // run time
  std::uint32_t barriers = 0;
  // static shared memory, including the bytes that the system reserves in front of it
  std::uint32_t shared_bytes = 0;
  bool operator==(const Resources&) const = default;
};

// The resources by mangled name, including those of device functions. Throws Damaged.
std::map<std::string, Resources> read_resources(std::span<const std::byte> cubin);

}  // namespace vgpu::image
