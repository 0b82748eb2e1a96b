// SPDX-License-Identifier: Apache-2.0
// Fuzzes fat binaries: entries, decompression (LZ4, zstd) and the selection of an entry.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "runtime/image/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace image = vgpu::image;
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 24;  // bytes that a test may unpack
  try {
    const auto entries = image::read_entries(std::as_bytes(std::span(data, size)));
    image::choose_ptx(entries, 90);
    image::choose_cubin(entries, 90);
    for (const image::Entry& entry : entries) {
      if (entry.plain_bytes > kLargest) continue;
      try {
        if (entry.kind == image::Kind::kPtx)
          image::ptx_text(entry);
        else if (image::contents(entry).size() > entry.plain_bytes)
          std::abort();
      } catch (const image::Damaged&) {
      }
    }
  } catch (const image::Damaged&) {
  }
  return 0;
}
