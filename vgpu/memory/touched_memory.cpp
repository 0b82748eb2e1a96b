// SPDX-License-Identifier: Apache-2.0
#include "memory/touched_memory.hpp"

#include <algorithm>

#include "memory/content_hash.hpp"
#include "memory/shadow.hpp"

namespace vgpu {
namespace {

// States of a piece; any other value is the hash of what it held.
constexpr std::uint64_t kUntouched = 0, kBusy = 1, kSummed = 2, kLeastHash = 3;

}  // namespace

std::uint64_t hash_of(const MemoryPiece& piece, const Shadow* shadow) {
  const void* const data = reinterpret_cast<const void*>(piece.begin);  // NOLINT
  std::uint64_t hash = 0;
  if (piece.marked) {
    const std::uint64_t first = (piece.begin - shadow->begin()) / 4;
    hash = content_hash(shadow->written() + first, (piece.bytes + 3) / 4);
  }
  return std::max(content_hash(data, piece.bytes, hash), kLeastHash);
}

struct TouchedMemory::Table {
  explicit Table(const Allocation& of)
      : states((of.end - of.begin + kPieceBytes - 1) / kPieceBytes) {}
  std::vector<std::atomic<std::uint64_t>> states;

  static MemoryPiece piece(const Allocation& of, std::size_t index, const Shadow* shadow) {
    const std::uint64_t begin = of.begin + index * kPieceBytes;
    const auto bytes = std::min<std::uint64_t>(kPieceBytes, of.end - begin);
    const bool marked = shadow != nullptr && !of.written;
    return {begin, static_cast<std::uint32_t>(bytes), marked};
  }
};

TouchedMemory::TouchedMemory(std::shared_ptr<const AllocationMap> map, const Changes& changes,
                             const Shadow* shadow)
    : map_(std::move(map)), changes_(changes), shadow_(shadow), tables_(map_->all().size()) {}

TouchedMemory::~TouchedMemory() {
  for (const auto& table : tables_) delete table.load();
}

// Null for memory of which not every change is noted.
TouchedMemory::Table* TouchedMemory::table_of(const Allocation& allocation) {
  const std::optional<std::size_t> known = map_->index_of(allocation);
  if (!known || allocation.shared || !changes_.covers(allocation.begin)) {
    complete_ = false;
    return nullptr;
  }
  std::atomic<Table*>& slot = tables_[*known];
  Table* table = slot.load(std::memory_order_acquire);
  if (table != nullptr) return table;
  auto made = std::make_unique<Table>(allocation);
  if (slot.compare_exchange_strong(table, made.get(), std::memory_order_acq_rel))
    return made.release();
  return table;
}

AddressRange TouchedMemory::touch(const Allocation& allocation, std::uint64_t address) {
  Table* const table = table_of(allocation);
  if (table == nullptr) return {allocation.begin, allocation.end};
  const std::size_t index = (address - allocation.begin) / kPieceBytes;
  const MemoryPiece piece = Table::piece(allocation, index, shadow_);
  std::atomic<std::uint64_t>& state = table->states[index];
  std::uint64_t now = state.load(std::memory_order_acquire);
  if ((now == kUntouched || now == kSummed) &&
      state.compare_exchange_strong(now, kBusy, std::memory_order_acq_rel)) {
    now = hash_of(piece, shadow_);
    state.store(now, std::memory_order_release);
  }
  while (now == kBusy) now = state.load(std::memory_order_acquire);
  return {piece.begin, piece.begin + piece.bytes};
}

void TouchedMemory::touch(const Allocation& allocation, std::uint64_t address,
                          std::uint64_t bytes) {
  const std::uint64_t end = std::min(address + bytes, allocation.end);
  while (address < end) address = touch(allocation, address).end;
}

AddressRange TouchedMemory::add_to(const Allocation& allocation, std::uint64_t address) {
  Table* const table = table_of(allocation);
  if (table == nullptr) return {allocation.begin, allocation.end};
  const std::size_t index = (address - allocation.begin) / kPieceBytes;
  std::uint64_t untouched = kUntouched;
  table->states[index].compare_exchange_strong(untouched, kSummed, std::memory_order_acq_rel);
  const MemoryPiece piece = Table::piece(allocation, index, shadow_);
  return {piece.begin, piece.begin + piece.bytes};
}

void TouchedMemory::set_sums(std::optional<Sums> sums) {
  if (sums)
    sums_ = std::move(*sums);
  else
    complete_ = false;
}

std::vector<Allocation> TouchedMemory::allocations() const {
  std::vector<Allocation> touched;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i] != nullptr) touched.push_back(map_->all()[i]);
  }
  return touched;
}

template <class Wanted>
std::vector<MemoryPiece> TouchedMemory::pieces_where(Wanted wanted) const {
  std::vector<MemoryPiece> pieces;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const Table* const table = tables_[i];
    for (std::size_t k = 0; table != nullptr && k < table->states.size(); ++k) {
      if (!wanted(table->states[k].load())) continue;
      pieces.push_back(Table::piece(map_->all()[i], k, shadow_));
      pieces.back().before = table->states[k];
    }
  }
  return pieces;
}

std::vector<MemoryPiece> TouchedMemory::pieces() const {
  return pieces_where([](std::uint64_t state) { return state >= kLeastHash; });
}

std::vector<MemoryPiece> TouchedMemory::summed() const {
  return pieces_where([](std::uint64_t state) { return state == kSummed; });
}

}  // namespace vgpu
