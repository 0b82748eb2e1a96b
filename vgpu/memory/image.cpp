// SPDX-License-Identifier: Apache-2.0
#include "memory/image.hpp"

#include <algorithm>
#include <cstring>

namespace vgpu {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{64} << 10;  // bytes

std::byte* at(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT: device pointers are host pointers
}

bool is_zero(const std::byte* data, std::size_t bytes) {
  return data[0] == std::byte{0} && std::memcmp(data, data + 1, bytes - 1) == 0;
}

bool is_same(const std::byte* data, const std::byte* held, std::size_t bytes) {
  return held == nullptr ? is_zero(data, bytes) : std::memcmp(data, held, bytes) == 0;
}

}  // namespace

MemoryImage::MemoryImage(const AllocationMap& map) {
  for (const Allocation& block : map.all()) {
    if (block.freed) continue;
    for (std::uint64_t begin = block.begin; begin < block.end; begin += kPiece) {
      Piece piece{begin, std::min(kPiece, block.end - begin), nullptr};
      if (!is_zero(at(begin), piece.bytes)) {
        piece.held = std::make_unique_for_overwrite<std::byte[]>(piece.bytes);
        std::memcpy(piece.held.get(), at(begin), piece.bytes);
      }
      pieces_.push_back(std::move(piece));
    }
  }
}

void MemoryImage::restore() const {
  for (const Piece& piece : pieces_) {
    if (is_same(at(piece.begin), piece.held.get(), piece.bytes)) continue;
    if (piece.held == nullptr)
      std::memset(at(piece.begin), 0, piece.bytes);
    else
      std::memcpy(at(piece.begin), piece.held.get(), piece.bytes);
  }
}

std::vector<Memory::Range> MemoryImage::differences() const {
  std::vector<Memory::Range> ranges;
  for (const Piece& piece : pieces_) {
    const std::byte* const now = at(piece.begin);
    if (is_same(now, piece.held.get(), piece.bytes)) continue;
    for (std::size_t i = 0; i < piece.bytes; ++i) {
      if (now[i] == (piece.held == nullptr ? std::byte{0} : piece.held[i])) continue;
      const std::uint64_t address = piece.begin + i;
      if (ranges.empty() || ranges.back().end != address) ranges.push_back({address, address});
      ++ranges.back().end;
    }
  }
  return ranges;
}

}  // namespace vgpu
