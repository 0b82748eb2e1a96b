// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_effect.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "memory/content_hash.hpp"
#include "memory/shadow.hpp"

namespace vgpu {
namespace {

std::byte* data_of(const MemoryPiece& piece) {
  return reinterpret_cast<std::byte*>(piece.begin);  // NOLINT(performance-no-int-to-ptr)
}

std::span<std::byte> marks_of(const MemoryPiece& piece, const Shadow* shadow) {
  if (!piece.marked) return {};
  return {reinterpret_cast<std::byte*>(shadow->written()) + (piece.begin - shadow->begin()) / 4,
          (piece.bytes + 3) / 4};
}

std::uint64_t hash_of_marks(const MemoryPiece& piece, const Shadow* shadow) {
  const auto marks = marks_of(piece, shadow);
  return content_hash(marks.data(), marks.size());
}

std::size_t image_bytes(const MemoryPiece& piece) {
  return piece.bytes + (piece.marked ? (piece.bytes + 3) / 4 : 0);
}

// Whether the allocation exists with all that a launch depends on.
bool exists(const Allocation& known, const Memory& memory) {
  const Allocation* const now = memory.find(known.begin);
  return now != nullptr && now->begin == known.begin && now->end == known.end && !now->freed &&
         now->written == known.written && !now->shared;
}

}  // namespace

std::optional<MemoryEffect> MemoryEffect::of(TouchedMemory& touched, Memory& memory,
                                             Changes& changes, std::uint64_t begin,
                                             std::size_t most) {
  MemoryEffect effect;
  effect.allocations_ = touched.allocations();
  effect.sums_ = touched.take_sums();
  if (!effect.sums_.empty()) effect.summed_ = touched.summed();
  const Shadow* const shadow = memory.shadow();
  const std::vector<MemoryPiece> pieces = touched.pieces();
  const auto others_changed = [&](const MemoryPiece& piece) {
    return changes.any_since(begin, piece.begin, piece.bytes);
  };
  const bool alone =
      std::ranges::all_of(effect.allocations_,
                          [&](const Allocation& of) { return exists(of, memory); }) &&
      std::ranges::none_of(pieces, others_changed) &&
      std::ranges::none_of(effect.summed_, others_changed);
  for (MemoryPiece& piece : effect.summed_) {
    piece.before = hash_of_marks(piece, shadow);
    changes.note(piece.begin, piece.bytes);
  }
  std::size_t size = 0;
  for (const MemoryPiece& piece : pieces) {
    const std::uint64_t after = hash_of(piece, shadow);
    effect.pieces_.push_back({piece, after, size});
    if (after == piece.before) continue;
    size += image_bytes(piece);
    changes.note(piece.begin, piece.bytes);
  }
  effect.moment_ = changes.now();
  if (!alone || size > most || size + effect.bytes() > most) return std::nullopt;
  effect.images_.resize(size);
  for (const Piece& piece : effect.pieces_) {
    if (piece.after == piece.before) continue;
    std::byte* const image = effect.images_.data() + piece.image;
    const auto marks = marks_of(piece, shadow);
    std::memcpy(image, data_of(piece), piece.bytes);
    std::copy(marks.begin(), marks.end(), image + piece.bytes);
  }
  return effect;
}

bool MemoryEffect::holds(const Piece& piece, const Changes& changes, const Shadow* shadow) const {
  if (!changes.any_since(moment_, piece.begin, piece.bytes)) return piece.after == piece.before;
  return hash_of(piece, shadow) == piece.before;
}

bool MemoryEffect::repeat(Memory& memory, Changes& changes) {
  const Shadow* const shadow = memory.shadow();
  if (!std::all_of(allocations_.begin(), allocations_.end(),
                   [&](const Allocation& of) { return exists(of, memory); }))
    return false;
  if (suspect_ < pieces_.size() && !holds(pieces_[suspect_], changes, shadow)) return false;
  for (const Piece& piece : pieces_) {
    if (holds(piece, changes, shadow)) continue;
    suspect_ = static_cast<std::size_t>(&piece - pieces_.data());
    return false;
  }
  if (!std::ranges::all_of(summed_, [&](const MemoryPiece& piece) {
        return hash_of_marks(piece, shadow) == piece.before;
      }))
    return false;
  for (const MemoryPiece& piece : summed_) changes.note(piece.begin, piece.bytes);
  for (const Piece& piece : pieces_) {
    if (piece.after == piece.before) continue;
    const std::byte* const image = images_.data() + piece.image;
    const auto marks = marks_of(piece, shadow);
    std::memcpy(data_of(piece), image, piece.bytes);
    std::copy_n(image + piece.bytes, marks.size(), marks.begin());
    changes.note(piece.begin, piece.bytes);
  }
  moment_ = changes.now();
  return true;
}

std::size_t MemoryEffect::bytes() const {
  std::size_t sums = 0;
  for (const std::vector<Sum>& part : sums_) sums += part.capacity() * sizeof(Sum) + sizeof(part);
  return allocations_.size() * sizeof(Allocation) + pieces_.size() * sizeof(Piece) +
         images_.size() + sums + summed_.size() * sizeof(MemoryPiece);
}

}  // namespace vgpu
