// SPDX-License-Identifier: Apache-2.0
// A best-fit allocator over one reserved range. Its own data is outside device memory, so a
// kernel's stray writes cannot corrupt it.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>
#include <utility>

#include "memory/memory_state.hpp"

namespace vgpu {
namespace {

constexpr std::size_t kMaxRedZone = std::size_t{1} << 20;
// Freed blocks of at least so many bytes return their pages.
constexpr std::size_t kMaxResidentFreed = std::size_t{64} << 10;
// After freed blocks of at least so many bytes the host is queried again: reading its files takes
// much less than clearing these.
constexpr std::size_t kMaxGrantedFreed = std::size_t{64} << 20;
constexpr std::size_t kQuarantineBlocks = 4096;

std::size_t round_up(std::size_t bytes) {
  return (bytes + Memory::kAlignment - 1) / Memory::kAlignment * Memory::kAlignment;
}

std::size_t alignment_of(std::size_t bytes) {
  return bytes < Memory::kLargeBlock ? Memory::kAlignment : Memory::kLargeAlignment;
}

// Size that a block occupies: its bytes and the red zone after it, an eighth of them, so that an
// access some rows beyond a matrix's end does not reach the next block.
std::size_t footprint(std::size_t bytes) {
  return round_up(bytes) + round_up(std::clamp(bytes / 8, Memory::kMinRedZone, kMaxRedZone));
}

}  // namespace

// Makes [begin, end) read as zero; gives the whole pages of a larger one back to the host.
void Memory::Impl::clear(std::uint64_t begin, std::uint64_t end) {
  if (end - begin < kMaxResidentFreed) {
    std::memset(at(begin), 0, end - begin);
    return;
  }
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = std::min((begin + page - 1) / page * page, end);
  const std::uint64_t last = std::max(end / page * page, first);
  std::memset(at(begin), 0, first - begin);
  madvise(at(first), last - first, MADV_DONTNEED);
  std::memset(at(last), 0, end - last);
}

// Ends the quarantine of a block, whose space belongs to the caller now.
void Memory::Impl::release(const std::deque<std::uint64_t>::const_iterator& freed) {
  const auto block = blocks.find(*freed);
  quarantine_bytes -= block->second.end - block->second.begin;
  quarantine.erase(freed);
  blocks.erase(block);
}

void Memory::Impl::evict() {
  const Allocation& oldest = blocks.at(quarantine.front());
  const std::uint64_t begin = oldest.begin, bytes = oldest.end - begin;
  release(quarantine.begin());
  holes.give(begin, footprint(bytes));
}

// A program that alternately allocates and frees gets the block of the turn before the last one, so
// that its launches repeat earlier ones. 0: none.
std::uint64_t Memory::Impl::take_earlier_turn(std::size_t bytes) {
  const std::uint64_t begin = turns.earlier(bytes);
  const auto block = blocks.find(begin);
  if (block == blocks.end() || block->second.end - begin != bytes) return 0;
  const auto freed = std::find(quarantine.begin(), quarantine.end(), begin);
  if (freed == quarantine.end()) return 0;
  release(freed);
  return begin;
}

const Allocation* Memory::Impl::find(std::uint64_t address) const {
  for (const auto* const all : {&blocks, &adopted}) {
    const auto next = all->upper_bound(address);
    if (next != all->begin() && address < std::prev(next)->second.end)
      return &std::prev(next)->second;
  }
  return nullptr;
}

// Reserves the addresses of the arena and of the shadow if there is one. False: not even enough for
// a little memory.
bool Memory::Impl::reserve() {
  if (arena.begin() != nullptr) return true;
  constexpr std::size_t kMost = std::size_t{64} << 20, kLeast = std::size_t{1} << 20;
  // Twice the capacity leaves room for red zones and quarantine, and for holes too small to use.
  const std::size_t wanted = 2 * capacity + kMost;
  const HostRoom before = host();
  resident_before = before.resident;
  // The program needs addresses, too. The shadow takes 5 bytes per word.
  const std::uint64_t affordable = before.addresses.bytes / 2 / (tracks ? 9 : 4) * 4;
  for (std::size_t bytes = std::min<std::uint64_t>(wanted, affordable) / 4096 * 4096;
       bytes >= kLeast; bytes = bytes / 2 / 4096 * 4096) {
    Reservation range(bytes);
    if (range.begin() == nullptr) continue;
    try {
      if (tracks)
        shadow = std::make_unique<Shadow>(reinterpret_cast<std::uint64_t>(range.begin()), bytes);
    } catch (const std::system_error&) {
      continue;
    }
    arena = std::move(range);
    if (bytes < wanted) addresses_by = before.addresses.by;
    never_used = begin() + kMinRedZone;
    holes.give(begin() + kMinRedZone, bytes - kMinRedZone);
    return true;
  }
  addresses_by = before.addresses.by;
  return false;
}

// Opens the arena, and its shadow, up to an address.
bool Memory::Impl::open(std::uint64_t end) {
  const std::uint64_t bytes = end - begin();
  return arena.open(bytes) && (shadow == nullptr || shadow->open(bytes)) &&
         (changes == nullptr || changes->open(bytes));
}

std::uint64_t Memory::Impl::cost(std::uint64_t bytes) const {
  return bytes + (tracks ? bytes / 4 : 0) + (tracks_blocks ? bytes : 0);
}

// Host memory available for new blocks. Some pages of existing blocks were never touched and will
// still need memory, so they are subtracted.
Bound Memory::Impl::host_memory() const {
  const HostRoom now = host();
  const std::uint64_t promised = cost(allocated);
  const std::uint64_t resident =
      std::min(promised, now.resident - std::min(now.resident, resident_before));
  const std::uint64_t opened = arena.opened() + (shadow == nullptr ? 0 : shadow->opened());
  const auto left = [&](const Bound& bound, std::uint64_t paid) {
    if (bound.by.empty()) return bound.bytes;
    const std::uint64_t with_paid =
        bound.bytes - bound.bytes / 16 + paid;  // a sixteenth is reserved for the program
    return with_paid - std::min(with_paid, promised);
  };
  Bound bound;
  bound.lower(left(now.memory, resident), now.memory.by);
  bound.lower(left(now.mappable, opened), now.mappable.by);
  return bound;
}

bool Memory::Impl::afford(std::size_t bytes) {
  const std::uint64_t price = cost(bytes);
  if (price > granted) {
    const std::uint64_t left = host_memory().bytes;
    if (price > left) return false;
    granted = price + (left - price) / 8;
  }
  granted -= price;
  return true;
}

// The largest block that there is room for. Quarantined blocks are released if their space is
// needed.
std::uint64_t Memory::Impl::largest_hole() const {
  Holes all = holes;
  for (const std::uint64_t freed : quarantine) {
    const Allocation& block = blocks.at(freed);
    all.give(freed, footprint(block.end - block.begin));
  }
  const std::uint64_t largest = all.largest();
  constexpr std::uint64_t kAround = kMaxRedZone + 2 * kMinRedZone + kLargeAlignment;
  return largest - std::min(largest, kAround);
}

Bound Memory::room() {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->reserve()) return {0, impl_->addresses_by};
  Bound room{impl_->capacity - impl_->allocated, ""};
  if (!impl_->addresses_by.empty()) room.lower(impl_->largest_hole(), impl_->addresses_by);
  const Bound host = impl_->host_memory();
  if (host.by.empty()) return room;
  // The host's free memory changes all the time. Small changes are ignored, so that the reported
  // room decreases by what is allocated.
  const std::uint64_t promised = impl_->cost(impl_->allocated), now = promised + host.bytes;
  std::uint64_t& known = impl_->host_total;
  if (now < known - known / 32 || now > known + known / 8) known = now;
  impl_->granted = known - std::min(known, promised);
  room.lower(impl_->granted / impl_->cost(4) * 4, host.by);
  return room;
}

std::uint64_t Memory::cost(std::uint64_t bytes) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->cost(bytes);
}

Memory::Memory(std::size_t capacity, HostRoom (*host)()) : impl_(std::make_unique<Impl>()) {
  constexpr std::size_t kAddressable = std::size_t{1} << 46;
  if (capacity > kAddressable) {
    throw std::system_error(ENOMEM, std::generic_category(),
                            "device memory of more than 2^46 bytes");
  }
  impl_->capacity = capacity;
  impl_->host = host;
}

Memory::~Memory() = default;

void* Memory::allocate(std::size_t bytes, std::string name) {
  const std::lock_guard lock(impl_->mutex);
  if (bytes == 0 || bytes > impl_->capacity || impl_->allocated > impl_->capacity - bytes)
    return nullptr;
  if (!impl_->reserve() || !impl_->afford(bytes)) return nullptr;
  const std::size_t taken = footprint(bytes), alignment = alignment_of(bytes);
  std::uint64_t begin = name.empty() ? impl_->take_earlier_turn(bytes) : 0;
  if (begin == 0) begin = impl_->holes.take(taken, alignment);
  while (begin == 0 && !impl_->quarantine.empty()) {
    impl_->evict();
    begin = impl_->holes.take(taken, alignment);
  }
  if (begin == 0) begin = impl_->holes.take(taken, kAlignment);  // rather than none
  if (begin == 0) return nullptr;
  if (!impl_->open(begin + taken)) {
    impl_->holes.give(begin, taken);
    return nullptr;
  }
  impl_->map.reset();
  impl_->allocated += bytes;
  impl_->turns.allocated(bytes, begin);
  const bool written = impl_->shadow == nullptr || !name.empty();
  if (!written && begin < impl_->never_used) impl_->shadow->forget(begin, bytes);
  impl_->blocks.emplace(begin, Allocation{begin, begin + bytes, std::move(name), false, written});
  impl_->never_used = std::max(impl_->never_used, begin + taken);
  impl_->note_change(begin, bytes);
  return impl_->at(begin);
}

// Ends the life of the allocation that starts at `pointer`, so that all free memory is zero. Null
// if there is none.
Allocation* Memory::Impl::retire(const void* pointer) {
  const auto found = blocks.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == blocks.end() || found->second.freed) return nullptr;
  Allocation& block = found->second;
  const std::size_t bytes = block.end - block.begin;
  block.freed = true;
  map.reset();
  turns.freed(bytes);
  allocated -= bytes;
  granted = bytes < kMaxGrantedFreed ? granted + cost(bytes) : 0;
  clear(block.begin, block.end);
  return &block;
}

bool Memory::suspend(void* pointer) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->retire(pointer) != nullptr;
}

bool Memory::resume(void* pointer) {
  const std::lock_guard lock(impl_->mutex);
  Allocation& block = impl_->blocks.at(reinterpret_cast<std::uint64_t>(pointer));
  const std::size_t bytes = block.end - block.begin;
  if (!block.freed || impl_->allocated > impl_->capacity - bytes || !impl_->afford(bytes))
    return false;
  block.freed = block.shared = false;
  block.written = impl_->shadow == nullptr;
  if (!block.written) impl_->shadow->forget(block.begin, bytes);
  impl_->note_change(block.begin, bytes);
  impl_->map.reset();
  impl_->turns.allocated(bytes, block.begin);
  impl_->allocated += bytes;
  return true;
}

bool Memory::free(void* pointer) {
  const std::lock_guard lock(impl_->mutex);
  const Allocation* const retired = impl_->retire(pointer);
  if (retired == nullptr) return false;
  const Allocation& block = *retired;
  const std::size_t bytes = block.end - block.begin;
  impl_->quarantine.push_back(block.begin);
  impl_->quarantine_bytes += bytes;
  while (impl_->quarantine.size() > 1 && (impl_->quarantine_bytes > kQuarantineBytes ||
                                          impl_->quarantine.size() > kQuarantineBlocks)) {
    impl_->evict();
  }
  return true;
}

bool Memory::adopt(void* pointer, std::size_t bytes, std::string name) {
  const auto begin = reinterpret_cast<std::uint64_t>(pointer), end = begin + bytes;
  const std::lock_guard lock(impl_->mutex);
  const std::uint64_t arena = impl_->begin();
  if (bytes == 0 || end < begin || (begin < arena + impl_->arena.bytes() && arena < end))
    return false;
  const auto next = impl_->adopted.lower_bound(begin);
  if (next != impl_->adopted.end() && next->second.begin < end) return false;
  if (next != impl_->adopted.begin() && std::prev(next)->second.end > begin) return false;
  impl_->map.reset();
  impl_->adopted.emplace(begin, Allocation{begin, end, std::move(name), false, true});
  return true;
}

bool Memory::disown(void* pointer) {
  const std::lock_guard lock(impl_->mutex);
  impl_->map.reset();
  return impl_->adopted.erase(reinterpret_cast<std::uint64_t>(pointer)) != 0;
}

bool Memory::contains(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::lock_guard lock(impl_->mutex);
  const Allocation* block = impl_->find(address);
  return block != nullptr && !block->freed && bytes <= block->end - address;
}

const Allocation* Memory::find(std::uint64_t address) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->find(address);
}

std::size_t Memory::allocated_bytes() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->allocated;
}

std::size_t Memory::capacity() const { return impl_->capacity; }

}  // namespace vgpu
