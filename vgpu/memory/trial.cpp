// SPDX-License-Identifier: Apache-2.0
#include "memory/trial.hpp"

#include <algorithm>
#include <cstring>

#include "memory/shadow.hpp"

namespace vgpu {
namespace {

constexpr std::uint64_t kPieceBytes = 16384;
constexpr std::size_t kMostKept = std::size_t{256} << 20;
constexpr std::uint8_t kUsed = 1, kAddedTo = 2;

std::byte* bytes_at(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT: device pointers are host pointers
}

}  // namespace

// What the pieces of an allocation held before they were written.
struct Trial::Copies {
  explicit Copies(const Allocation& of)
      : pieces((of.end - of.begin + kPieceBytes - 1) / kPieceBytes) {}
  ~Copies() {
    for (const auto& piece : pieces) delete[] piece.load();
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // Bytes, followed by their marks in the shadow. Null: not written; kCopying: being copied.
  std::vector<std::atomic<std::byte*>> pieces;
};

namespace {

std::byte copying;
std::byte* const kCopying = &copying;

struct Piece {
  Piece(const Allocation& of, std::size_t index, const Shadow* shadow)
      : begin(of.begin + index * kPieceBytes), bytes(std::min(kPieceBytes, of.end - begin)) {
    if (shadow == nullptr || of.written || !shadow->covers(begin, bytes)) return;
    marks = shadow->written() + (begin - shadow->begin()) / 4;
    mark_bytes = (bytes + 3) / 4;
  }
  std::uint64_t begin, bytes;
  std::uint8_t* marks = nullptr;
  std::size_t mark_bytes = 0;
};

}  // namespace

Trial::Trial(std::shared_ptr<const AllocationMap> map, const Shadow* shadow, bool keeps_sums)
    : map_(std::move(map)), shadow_(shadow), entries_(map_->all().size()) {
  if (keeps_sums) sums_.emplace();
}

Trial::~Trial() {
  for (const Entry& entry : entries_) delete entry.copies.load();
}

void Trial::fail() {
  failed_ = true;
  throw Failed();
}

void Trial::keep(const Allocation& allocation, Copies& copies, std::size_t index) {
  std::atomic<std::byte*>& state = copies.pieces[index];
  std::byte* now = state.load(std::memory_order_acquire);
  if (now == nullptr && state.compare_exchange_strong(now, kCopying, std::memory_order_acq_rel)) {
    const Piece piece(allocation, index, shadow_);
    now = new std::byte[piece.bytes + piece.mark_bytes];
    std::memcpy(now, bytes_at(piece.begin), piece.bytes);
    std::copy_n(reinterpret_cast<const std::byte*>(piece.marks), piece.mark_bytes,
                now + piece.bytes);
    state.store(now, std::memory_order_release);
    if (kept_bytes_.fetch_add(piece.bytes) > kMostKept) fail();
  }
  while (now == kCopying) now = state.load(std::memory_order_acquire);
}

AddressRange Trial::use(const Allocation& allocation, std::uint64_t address, Use how) {
  const std::optional<std::size_t> known = map_->index_of(allocation);
  if (failed_ || !known) fail();
  Entry& entry = entries_[*known];
  const std::uint8_t use = how == Use::kSum ? kAddedTo : kUsed;
  if ((entry.uses.load(std::memory_order_relaxed) & use) == 0) entry.uses.fetch_or(use);
  if ((entry.uses & ~use) != 0) fail();
  if (how == Use::kLoad) return {allocation.begin, allocation.end};
  if (allocation.shared) fail();  // the host may read it at any time
  Copies* copies = entry.copies.load(std::memory_order_acquire);
  if (copies == nullptr) {
    auto made = std::make_unique<Copies>(allocation);
    if (entry.copies.compare_exchange_strong(copies, made.get(), std::memory_order_acq_rel))
      copies = made.release();
  }
  const std::size_t index = (address - allocation.begin) / kPieceBytes;
  keep(allocation, *copies, index);
  const std::uint64_t begin = allocation.begin + index * kPieceBytes;
  return {begin, std::min(begin + kPieceBytes, allocation.end)};
}

void Trial::use(const Allocation& allocation, std::uint64_t address, std::uint64_t bytes, Use how) {
  const std::uint64_t end = std::min(address + bytes, allocation.end);
  while (address < end) address = use(allocation, address, how).end;
}

void Trial::added(std::vector<Sum> sums) {
  sum_count_ += sums.size();
  if (sum_count_ > kMostSums) sums_.reset();
  if (sums_ && !sums.empty()) sums_->push_back(std::move(sums));
}

void Trial::undo() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Copies* const copies = entries_[i].copies.load();
    for (std::size_t k = 0; copies != nullptr && k < copies->pieces.size(); ++k) {
      const std::byte* const held = copies->pieces[k].load();
      if (held == nullptr) continue;
      const Piece piece(map_->all()[i], k, shadow_);
      std::memcpy(bytes_at(piece.begin), held, piece.bytes);
      std::copy_n(held + piece.bytes, piece.mark_bytes, reinterpret_cast<std::byte*>(piece.marks));
    }
  }
}

}  // namespace vgpu
