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

// A cubin's size follows from its headers. First the end of its tables of sections and segments,
// from the ELF header; then, from the tables, the end of the file. Both throw Damaged.
inline constexpr std::size_t kCubinHeader = 64;
std::size_t cubin_tables_end(std::span<const std::byte> header);
std::size_t cubin_bytes(std::span<const std::byte> up_to_tables);

// The target, such as 90 for sm_90. Throws Damaged.
std::uint32_t cubin_target(std::span<const std::byte> header);

// The resources by mangled name, including those of device functions. Throws Damaged.
std::map<std::string, Resources> read_resources(std::span<const std::byte> cubin);

}  // namespace vgpu::image
