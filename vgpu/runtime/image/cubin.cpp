// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/image.hpp"

#include <algorithm>

#include "sass/elf/cubin.hpp"

namespace vgpu::image {
namespace {

constexpr std::uint32_t kNoBits = 8;  // SHT_NOBITS

std::span<const std::byte> range(std::span<const std::byte> bytes, std::uint64_t offset,
                                 std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    throw Damaged("cubin: section outside the file");
  return bytes.subspan(offset, size);
}

}  // namespace

std::size_t cubin_tables_end(std::span<const std::byte> header) {
  const auto end = [&](std::size_t offset, std::size_t entry, std::size_t count) {
    std::size_t bytes = 0;
    if (__builtin_add_overflow(
            load<std::uint64_t>(header, offset),
            std::uint64_t{load<std::uint16_t>(header, entry)} * load<std::uint16_t>(header, count),
            &bytes))
      throw Damaged("cubin: a table larger than memory");
    return bytes;
  };
  return std::max({kCubinHeader, end(0x20, 0x36, 0x38), end(0x28, 0x3a, 0x3c)});
}

std::size_t cubin_bytes(std::span<const std::byte> up_to_tables) {
  const auto table = load<std::uint64_t>(up_to_tables, 0x28);
  const std::size_t entry_size = load<std::uint16_t>(up_to_tables, 0x3a);
  const std::size_t count = load<std::uint16_t>(up_to_tables, 0x3c);
  if (count != 0 && entry_size < 64) throw Damaged("cubin: bad section table");
  std::size_t bytes = up_to_tables.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto header = range(up_to_tables, table + i * entry_size, entry_size);
    if (load<std::uint32_t>(header, 4) == kNoBits) continue;
    std::size_t end = 0;
    if (__builtin_add_overflow(load<std::uint64_t>(header, 24), load<std::uint64_t>(header, 32),
                               &end))
      throw Damaged("cubin: section larger than memory");
    bytes = std::max(bytes, end);
  }
  return bytes;
}

// CUDA 12 and older number the architecture in other bits of the flags.
std::uint32_t cubin_target(std::span<const std::byte> header) {
  constexpr std::uint8_t kFormerAbi = 0x33;
  const auto flags = load<std::uint32_t>(header, 0x30);
  return (load<std::uint8_t>(header, 7) == kFormerAbi ? flags : flags >> 8) & 0xff;
}

std::map<std::string, Resources> read_resources(std::span<const std::byte> cubin) {
  try {
    std::map<std::string, Resources> all;
    const sass::Cubin file(cubin);
    for (const sass::KernelInfo& kernel : file.kernels())
      all[kernel.name] = {kernel.registers, kernel.barriers, kernel.shared_bytes};
    return all;
  } catch (const sass::BadCubin& error) {
    throw Damaged(error.what());
  }
}

}  // namespace vgpu::image
