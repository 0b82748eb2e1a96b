// SPDX-License-Identifier: Apache-2.0
// What ptxas decided about each kernel and PTX does not know, read from a cubin (an ELF file): its registers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace vgpu::image {

// Registers a thread, by mangled kernel name. Throws Damaged.
std::map<std::string, std::uint32_t> read_register_counts(std::span<const std::byte> cubin);

}  // namespace vgpu::image
