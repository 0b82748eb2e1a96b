// SPDX-License-Identifier: Apache-2.0
// A best-fit allocator over one reserved range. Its own data is outside device memory, so a
// kernel's stray writes cannot corrupt it.
#include "memory/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "ir/fault.hpp"
#include "memory/reservation.hpp"
#include "memory/shadow.hpp"

namespace vgpu {
namespace {

constexpr std::size_t kMaxRedZone = std::size_t{1} << 20;
// Freed blocks larger than this return their pages, in bytes.
constexpr std::size_t kMaxResidentFreed = std::size_t{64} << 10;
constexpr std::size_t kQuarantineBlocks = 4096;
// Maximum distance, in bytes, at which an error message names a neighbouring block.
constexpr std::uint64_t kNearby = std::uint64_t{16} << 20;
constexpr std::uint64_t kNullPage = 4096;

std::size_t round_up(std::size_t bytes) {
  return (bytes + Memory::kAlignment - 1) / Memory::kAlignment * Memory::kAlignment;
}

// Size that a block occupies: its bytes and the red zone after it, an eighth of them, so that an
// access some rows beyond a matrix's end does not reach the next block.
std::size_t footprint(std::size_t bytes) {
  return round_up(bytes) + round_up(std::clamp(bytes / 8, Memory::kMinRedZone, kMaxRedZone));
}

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string count_bytes(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

std::string title(const Allocation& block) {
  const std::string size = std::to_string(block.end - block.begin) + "-byte";
  const std::string at = " at " + hexadecimal(block.begin);
  if (!block.name.empty()) return "the " + size + " variable '" + block.name + "'" + at;
  return std::string(block.freed ? "the freed " : "the ") + size + " allocation" + at;
}

}  // namespace

const Allocation* AllocationMap::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(sorted_.begin(), sorted_.end(), address,
                       [](std::uint64_t a, const Allocation& block) { return a < block.begin; });
  if (after == sorted_.begin()) return nullptr;
  const Allocation& block = *std::prev(after);
  return address < block.end ? &block : nullptr;
}

const Allocation* LaunchAllocations::find_since(std::uint64_t address) const {
  std::shared_ptr<const AllocationMap> now = memory_.map();
  const std::lock_guard lock(mutex_);
  if (now != first_ && (later_.empty() || later_.back() != now)) later_.push_back(now);
  return now->find(address);
}

const Allocation* AllocationCursor::search(std::uint64_t address, std::uint64_t bytes) {
  const Allocation* block = map_->find(address);
  if (block == nullptr || block->freed || bytes > block->end - address) return nullptr;
  last_ = block;
  begin_ = block->begin;
  size_ = block->end - block->begin;
  return block;
}

struct Memory::Impl {
  mutable std::mutex mutex;
  std::size_t capacity = 0, allocated = 0;
  Reservation arena;  // empty until something is allocated
  // Name of the limit that made the arena smaller than the capacity requires; "" if none
  std::string addresses_by;
  HostRoom (*host)() = nullptr;
  std::uint64_t resident_before = 0;  // of the process, when the arena was reserved
  // Host memory available for allocations before the host is queried again.
  std::uint64_t granted = 0;
  // Host memory, including allocated memory, as room() last reported.
  std::uint64_t host_total = 0;
  bool tracks = false, tracks_blocks = false;
  std::map<std::uint64_t, Allocation> blocks;    // live and in quarantine, by begin
  std::map<std::uint64_t, Allocation> adopted;   // host memory, outside the arena
  std::map<std::uint64_t, std::uint64_t> holes;  // free ranges: begin to size
  std::set<std::pair<std::uint64_t, std::uint64_t>> holes_by_size;  // the same, size and begin
  std::uint64_t never_used = 0;          // addresses from here on were never allocated
  std::deque<std::uint64_t> quarantine;  // begins, oldest first
  std::size_t quarantine_bytes = 0;
  std::unique_ptr<Shadow> shadow;  // null if nothing is tracked
  // Reasons of doubts, latest last; the shadow holds the bytes.
  std::vector<std::pair<Range, std::shared_ptr<const Fault>>> doubts;
  mutable std::shared_ptr<const AllocationMap> map;  // null if it must be rebuilt

  std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(arena.begin()); }
  char* at(std::uint64_t address) const { return arena.begin() + (address - begin()); }
  bool reserve();
  bool open(std::uint64_t end);
  std::uint64_t cost(std::uint64_t bytes) const;
  std::uint64_t largest_hole() const;
  Allocation* retire(const void* pointer);
  Bound host_memory() const;
  bool afford(std::size_t bytes);
  void clear(std::uint64_t begin, std::uint64_t end);
  std::uint64_t take_hole(std::size_t bytes);
  void give_hole(std::uint64_t begin, std::uint64_t size);
  void add_hole(std::uint64_t begin, std::uint64_t size);
  void remove_hole(std::map<std::uint64_t, std::uint64_t>::iterator hole);
  void evict();
  const AllocationMap& current() const;
  const Allocation* find(std::uint64_t address) const;
  Allocation* tracked(std::uint64_t address);
  void part_by_part(Allocation& block);
};

// The live allocation at the address if its bytes have, or may have, marks; null for allocations
// that always count as written.
Allocation* Memory::Impl::tracked(std::uint64_t address) {
  const auto next = blocks.upper_bound(address);
  if (shadow == nullptr || next == blocks.begin()) return nullptr;
  Allocation& block = std::prev(next)->second;
  const bool variable = !block.name.empty();
  return address >= block.end || block.freed || block.shared || variable ? nullptr : &block;
}

// Gives an allocation that was written as a whole marks per byte.
void Memory::Impl::part_by_part(Allocation& block) {
  if (!block.written) return;
  block.written = false;
  map.reset();
  shadow->forget(block.begin, block.end - block.begin);
  shadow->mark_written(block.begin, block.end - block.begin);
}

// Makes [begin, end) read as zero, by giving its whole pages back to the host.
void Memory::Impl::clear(std::uint64_t begin, std::uint64_t end) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = std::min((begin + page - 1) / page * page, end);
  const std::uint64_t last = std::max(end / page * page, first);
  std::memset(at(begin), 0, first - begin);
  madvise(at(first), last - first, MADV_DONTNEED);
  std::memset(at(last), 0, end - last);
}

void Memory::Impl::add_hole(std::uint64_t begin, std::uint64_t size) {
  holes.emplace(begin, size);
  holes_by_size.emplace(size, begin);
}

void Memory::Impl::remove_hole(std::map<std::uint64_t, std::uint64_t>::iterator hole) {
  holes_by_size.erase({hole->second, hole->first});
  holes.erase(hole);
}

std::uint64_t Memory::Impl::take_hole(std::size_t bytes) {
  const auto found = holes_by_size.lower_bound({bytes, 0});
  if (found == holes_by_size.end()) return 0;
  const auto [size, begin] = *found;
  remove_hole(holes.find(begin));
  if (size > bytes) add_hole(begin + bytes, size - bytes);
  return begin;
}

void Memory::Impl::give_hole(std::uint64_t begin, std::uint64_t size) {
  const auto after = holes.lower_bound(begin);
  if (after != holes.end() && begin + size == after->first) {
    size += after->second;
    remove_hole(after);
  }
  const auto next = holes.lower_bound(begin);
  if (next != holes.begin() && std::prev(next)->first + std::prev(next)->second == begin) {
    const auto before = std::prev(next);
    begin = before->first;
    size += before->second;
    remove_hole(before);
  }
  add_hole(begin, size);
}

void Memory::Impl::evict() {
  const auto oldest = blocks.find(quarantine.front());
  const std::size_t bytes = oldest->second.end - oldest->second.begin;
  quarantine.pop_front();
  quarantine_bytes -= bytes;
  give_hole(oldest->first, footprint(bytes));
  blocks.erase(oldest);
}

const Allocation* Memory::Impl::find(std::uint64_t address) const {
  for (const auto* const all : {&blocks, &adopted}) {
    const auto next = all->upper_bound(address);
    if (next != all->begin() && address < std::prev(next)->second.end)
      return &std::prev(next)->second;
  }
  return nullptr;
}

const AllocationMap& Memory::Impl::current() const {
  if (!map) {
    std::vector<Allocation> sorted;
    sorted.reserve(blocks.size() + adopted.size());
    // All blocks are in the arena, all adopted memory is outside.
    const auto split = blocks.empty() ? adopted.end() : adopted.lower_bound(blocks.begin()->first);
    for (auto block = adopted.begin(); block != split; ++block) sorted.push_back(block->second);
    for (const auto& [begin, block] : blocks) sorted.push_back(block);
    for (auto block = split; block != adopted.end(); ++block) sorted.push_back(block->second);
    map = std::make_shared<const AllocationMap>(std::move(sorted));
  }
  return *map;
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
    add_hole(begin() + kMinRedZone, bytes - kMinRedZone);
    return true;
  }
  addresses_by = before.addresses.by;
  return false;
}

// Opens the arena, and its shadow, up to an address.
bool Memory::Impl::open(std::uint64_t end) {
  return arena.open(end - begin()) && (shadow == nullptr || shadow->open(end - begin()));
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

// The largest hole for one block. Quarantined blocks are released if their space is needed.
std::uint64_t Memory::Impl::largest_hole() const {
  std::map<std::uint64_t, std::uint64_t> all = holes;
  for (const std::uint64_t freed : quarantine) {
    const Allocation& block = blocks.at(freed);
    all.emplace(freed, footprint(block.end - block.begin));
  }
  std::uint64_t largest = 0, begin = 0, end = 0;
  for (const auto& [at, size] : all) {
    if (at != end) begin = at;
    end = at + size;
    largest = std::max(largest, end - begin);
  }
  return largest - std::min<std::uint64_t>(largest, kMaxRedZone + 2 * kMinRedZone);
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
  const std::size_t taken = footprint(bytes);
  std::uint64_t begin = impl_->take_hole(taken);
  while (begin == 0 && !impl_->quarantine.empty()) {
    impl_->evict();
    begin = impl_->take_hole(taken);
  }
  if (begin == 0) return nullptr;
  if (!impl_->open(begin + taken)) {
    impl_->give_hole(begin, taken);
    return nullptr;
  }
  impl_->map.reset();
  impl_->allocated += bytes;
  const bool written = impl_->shadow == nullptr || !name.empty();
  if (!written && begin < impl_->never_used) impl_->shadow->forget(begin, bytes);
  impl_->blocks.emplace(begin, Allocation{begin, begin + bytes, std::move(name), false, written});
  void* pointer = impl_->at(begin);
  if (bytes <= kFillLimit) {
    std::memset(pointer, kFill, bytes);
  } else if (begin < impl_->never_used) {
    impl_->clear(begin, begin + bytes);
  }
  impl_->never_used = std::max(impl_->never_used, begin + taken);
  return pointer;
}

// Ends the life of the allocation that starts at `pointer`; null if there is none.
Allocation* Memory::Impl::retire(const void* pointer) {
  const auto found = blocks.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == blocks.end() || found->second.freed) return nullptr;
  Allocation& block = found->second;
  const std::size_t bytes = block.end - block.begin;
  block.freed = true;
  map.reset();
  allocated -= bytes;
  granted = bytes < kMaxResidentFreed ? granted + cost(bytes) : 0;
  if (bytes >= kMaxResidentFreed) clear(block.begin, block.end);
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
  if (bytes <= kFillLimit) std::memset(pointer, kFill, bytes);
  impl_->map.reset();
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

void Memory::track(bool by_block) {
  const std::lock_guard lock(impl_->mutex);
  impl_->tracks = true;
  impl_->tracks_blocks |= by_block;
  if (impl_->shadow != nullptr || impl_->arena.begin() == nullptr) return;
  impl_->shadow = std::make_unique<Shadow>(impl_->begin(), impl_->arena.bytes());
  if (!impl_->shadow->open(impl_->arena.opened()))
    throw std::system_error(errno, std::generic_category(), "no memory for the memory checks");
}

Shadow* Memory::shadow() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->shadow.get();
}

void Memory::mark_written(const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::lock_guard lock(impl_->mutex);
  if (impl_->shadow == nullptr || bytes == 0) return;
  const auto next = impl_->blocks.upper_bound(address);
  if (next == impl_->blocks.begin()) return;
  Allocation& block = std::prev(next)->second;
  if (block.written || address >= block.end) return;
  if (address == block.begin && address + bytes >= block.end) {
    block.written = true;
    impl_->map.reset();
  } else {
    impl_->shadow->mark_written(address, std::min<std::size_t>(bytes, block.end - address));
  }
}

void Memory::copy_written(const void* to, const void* from, std::size_t bytes) {
  const auto source = reinterpret_cast<std::uint64_t>(from),
             target = reinterpret_cast<std::uint64_t>(to);
  bool tracked = false;  // whether the source may have unwritten bytes
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->shadow == nullptr || bytes == 0) return;
    const Allocation* const block = impl_->find(source);
    tracked = block != nullptr && !block->written;
    if (tracked) {
      Allocation* const other = impl_->tracked(target);
      if (other == nullptr) return;
      const bool in_doubt =
          !impl_->doubts.empty() && impl_->shadow->first_in_doubt(source, bytes) != source + bytes;
      if (other->written && !in_doubt) return;
      if (in_doubt) impl_->part_by_part(*other);
      impl_->shadow->copy_written(target, source, bytes);
    }
  }
  if (!tracked) mark_written(to, bytes);
}

void Memory::share(const void* pointer) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->blocks.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == impl_->blocks.end()) return;
  found->second.written = found->second.shared = true;
  impl_->map.reset();
}

bool Memory::can_doubt(const void* pointer) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->tracked(reinterpret_cast<std::uint64_t>(pointer)) != nullptr;
}

bool Memory::doubt(std::span<const Range> ranges, const Fault& why) {
  const std::lock_guard lock(impl_->mutex);
  if (ranges.empty()) return false;
  for (const Range& range : ranges) {
    if (impl_->tracked(range.begin) == nullptr) return false;
  }
  Range all = ranges.front();
  for (const Range& range : ranges) {
    impl_->part_by_part(*impl_->tracked(range.begin));
    impl_->shadow->doubt(range.begin, range.end - range.begin);
    all = {std::min(all.begin, range.begin), std::max(all.end, range.end)};
  }
  std::erase_if(impl_->doubts, [&](const auto& known) {
    return known.first.begin >= all.begin && known.first.end <= all.end;
  });
  impl_->doubts.emplace_back(all, std::make_shared<const Fault>(why));
  return true;
}

std::optional<Memory::Doubt> Memory::doubt_in(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::lock_guard lock(impl_->mutex);
  if (impl_->doubts.empty()) return std::nullopt;
  const Allocation* const block = impl_->tracked(address);
  if (block == nullptr || block->written) return std::nullopt;
  const std::uint64_t first = impl_->shadow->first_in_doubt(address, bytes);
  if (first == address + bytes) return std::nullopt;
  for (auto known = impl_->doubts.rbegin(); known != impl_->doubts.rend(); ++known) {
    if (first >= known->first.begin && first < known->first.end) return Doubt{first, known->second};
  }
  return Doubt{first, impl_->doubts.back().second};  // a copy of it
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

std::shared_ptr<const AllocationMap> Memory::map() const {
  const std::lock_guard lock(impl_->mutex);
  impl_->current();
  return impl_->map;
}

std::string Memory::describe(std::uint64_t address) const {
  if (address < kNullPage) return "a null pointer (" + hexadecimal(address) + ")";
  const std::shared_ptr<const AllocationMap> now = map();
  const std::vector<Allocation>& all = now->all();
  if (const Allocation* block = now->find(address)) {
    return count_bytes(address - block->begin) + " into " + title(*block);
  }
  const auto after =
      std::upper_bound(all.begin(), all.end(), address,
                       [](std::uint64_t a, const Allocation& block) { return a < block.begin; });
  const std::uint64_t behind = after == all.begin() ? kNearby : address - std::prev(after)->end;
  const std::uint64_t before = after == all.end() ? kNearby : after->begin - address;
  if (std::min(behind, before) >= kNearby)
    return hexadecimal(address) + ", which is no device memory";
  if (behind <= before) return count_bytes(behind) + " past the end of " + title(*std::prev(after));
  return count_bytes(before) + " before " + title(*after);
}

std::size_t Memory::allocated_bytes() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->allocated;
}

std::size_t Memory::capacity() const { return impl_->capacity; }

}  // namespace vgpu
