// SPDX-License-Identifier: Apache-2.0
// Fuzzes cubins (ELF) with both readers: the runtime's, which reads registers and barriers, and the
// machine code's.
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/image/image.hpp"
#include "sass/elf/cubin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    vgpu::image::read_resources(bytes);
  } catch (const vgpu::image::Damaged&) {
  }
  try {
    const vgpu::sass::Cubin cubin(bytes);
    for (const auto& kernel : cubin.kernels()) {
      volatile std::size_t touched = 0;
      for (const std::byte byte : kernel.code) touched = touched + static_cast<std::size_t>(byte);
    }
  } catch (const vgpu::sass::BadCubin&) {
  }
  return 0;
}
