// SPDX-License-Identifier: Apache-2.0
// Which warps accessed a word of global memory: marks by rows where all accesses are to whole ones,
// else by words (memory/shadow.hpp).
#include "machine/isa/marks.hpp"

#include "memory/shadow.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

constexpr u32 kHalf = kLanes / 2;
constexpr int kFew = 4;  // lanes that are looked at one by one

// Stores the first values of words whose marks are locked.
[[gnu::always_inline]] inline void store_words(u64 address, const u32* values, u64 count) {
#ifdef __SANITIZE_THREAD__
  for (u64 i = 0; i < count; ++i)
    __atomic_store_n(reinterpret_cast<u32*>(address) + i, values[i], __ATOMIC_RELAXED);
#else
  __builtin_memcpy(reinterpret_cast<void*>(address), values, count * 4);
#endif
}

// How a warp's access changes the mark of a word or of a row.
struct Known {
  const observer::WarpMarks& of;
  bool synchronised;  // observer::Watch::synchronised
  // Whether an access leaves `entry` unchanged: the warp's own word, or, for a load, a word that
  // was written before it, that another warp of the cluster reads, or that several blocks have
  // read.
  template <bool kWrite>
  [[gnu::always_inline]] u32 is_foreign(u32 entry) const {
    const u32 foreign = static_cast<u32>(entry != of.written);
    if constexpr (kWrite) return foreign;
    return foreign & static_cast<u32>(entry - (Shadow::kWritten | of.base) >= of.seen) &
           static_cast<u32>(entry - (Shadow::kReadByOne | (of.base + of.recent)) >=
                            of.count - of.recent) &
           static_cast<u32>(entry != of.several);
  }
  // Whether the mark is of an access that is ordered before the warp's.
  [[gnu::always_inline]] bool is_past(u32 entry) const {
    const u32 moment = (entry & Shadow::kMarkBits) - of.base;
    return moment < of.seen || (moment < of.count && (moment - 1) % of.warps == of.me);
  }
  // Whether the words of the row with this mark have marks of their own.
  [[gnu::always_inline]] u32 is_parted(u32 row) const {
    return static_cast<u32>(row >= (Shadow::kStoring | of.first)) &
           static_cast<u32>(row != Shadow::kLocked);
  }
  // Whether `count` words, which a block of another cluster has written, hold what is stored there
  // now. Their mark becomes agreed(): it says that several blocks wrote them.
  [[gnu::always_inline]] bool agrees(u32 entry, u64 address, const u32* stored, u32 count) const {
    const u32 moment = entry & Shadow::kMarkBits;
    if (stored == nullptr || synchronised || (entry & ~Shadow::kMarkBits) != Shadow::kWritten ||
        moment < of.first || moment - of.base < of.count)
      return false;
    u32 differs = 0;
    for (u32 i = 0; i < count; ++i)
      differs |= peek(reinterpret_cast<const u32*>(address)[i]) ^ stored[i];
    return differs == 0;
  }
  u32 agreed() const { return Shadow::kWritten | of.first; }
  // The mark after the access. False if another warp's access may conflict with it.
  template <bool kWrite>
  [[gnu::always_inline]] bool step(u32 entry, u32& next) const {
    const u32 how = entry & ~Shadow::kMarkBits;
    const bool unmarked =
        (entry & Shadow::kMarkBits) < of.first;  // by an earlier launch, if at all
    if constexpr (kWrite) {
      next = of.written;
      return unmarked || entry == of.written || entry == of.read ||
             ((how == Shadow::kWritten || how == Shadow::kReadByOne) && is_past(entry));
    }
    next = unmarked ? of.read : entry;
    if (unmarked || is_foreign<kWrite>(entry) == 0) return true;
    if (how == Shadow::kWritten) return is_past(entry);
    next = (entry & Shadow::kMarkBits) - of.base < of.count ? of.read : of.several;
    return how == Shadow::kReadByOne;
  }
};

// `copies`: the warp's marks for its asynchronous copies. Their time is the earliest one, since
// what orders them is not known.
[[gnu::noinline]] observer::WarpMarks made_known(const Warp& warp, bool copies) {
  const observer::Races::Moments moments = warp.race->moments(warp);
  const observer::Watch& watch = *warp.watch;
  const u32 now = copies ? 0 : moments.now;
  observer::WarpMarks known;
  known.changes = warp.race->changes();
  known.mine = watch.mark + now;
  known.written = Shadow::kWritten | known.mine;
  known.storing = Shadow::kStoring | known.mine;
  known.read = Shadow::kReadByOne | known.mine;
  known.several = Shadow::kReadBySeveral | watch.global.first;
  known.first = watch.global.first;
  known.base = watch.mark;
  known.count = watch.global.moments;
  known.seen = moments.seen;
  known.recent = now < moments.seen ? now : moments.seen;
  known.me = warp.block->rank * warp.block->warp_count + warp.id;
  known.warps = watch.warps;
  return known;
}
// The warp's marks, kept while nothing changes their order.
[[gnu::always_inline]] inline const observer::WarpMarks& kept_marks(const Warp& warp) {
  observer::WarpMarks& kept = warp.watch->warp_marks[warp.id];
  if (__builtin_expect(kept.changes != warp.race->changes(), 0)) kept = made_known(warp, false);
  return kept;
}

// The words that the lanes store, lane after lane. None for a null window.
struct Stored {
  u32 per_lane = 0;
  alignas(64) u32 words[kLanes * 8];
  Stored(const Warp& warp, const std::byte* window, const Insn& insn) {
    if (window == nullptr) return;
    per_lane = insn.vector * insn.bytes / 4;
    for (u32 e = 0; e < insn.vector; ++e) {
      const u32 offset = insn.vector == 1 ? insn.d : warp.lists[insn.list + e];
      if (insn.bytes == 4 && insn.width == 4) {
        const u32* const reg = reinterpret_cast<const u32*>(window + offset);
        for (u32 i = 0; i < kLanes; ++i) words[i * per_lane + e] = reg[i];
        continue;
      }
      std::byte* const bytes = reinterpret_cast<std::byte*>(words) + e * insn.bytes;
      for (u32 i = 0; i < kLanes; ++i) {
        const u64 value = read_register(window, offset, insn.width, i);
        __builtin_memcpy(bytes + i * per_lane * 4, &value, insn.bytes);
      }
    }
  }
  const u32* of(u32 lane, u32 word) const {
    return per_lane == 0 ? nullptr : words + lane * per_lane + word;
  }
};

// Marks one word or two neighbouring ones, and stores their first values (if `stores`). Other host
// threads may mark them, too. False if an access to one of them may conflict with another warp's.
template <bool kWrite, class Entry>
[[gnu::always_inline]] inline bool mark(const Known& known, u32* touched, u64 address,
                                        const u32* stored, bool stores = true) {
  constexpr u32 kWords = sizeof(Entry) / 4;
  constexpr Entry kEach = ~Entry{0} / ~u32{0};
  Entry* const entry = reinterpret_cast<Entry*>(touched);
  Entry old = __atomic_load_n(entry, __ATOMIC_RELAXED), next = 0;
  for (;;) {
    next = 0;
    for (u32 i = 0; i < kWords; ++i) {
      u32 changed;
      const u32 before = static_cast<u32>(old >> 32 * i);
      if (!known.step<kWrite>(before, changed)) {
        if (!kWrite || stored == nullptr || !known.agrees(before, address + i * 4, stored + i, 1))
          return false;
        changed = known.agreed();
      }
      next |= Entry{changed} << 32 * i;
    }
    if (next == old) return true;
    const bool locks = stored != nullptr && stores;
    const Entry first = locks ? kEach * known.of.storing : next;
    if (!__atomic_compare_exchange_n(entry, &old, first, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    if (!locks) return true;
    store_words(address, stored, kWords);
    __atomic_store_n(entry, next, __ATOMIC_RELEASE);
    return true;
  }
}

// Marks a row, of which the access touches all words or some, and stores the first values of all.
// False if its words have marks of their own, which it gives them where needed.
template <bool kWrite>
bool mark_row(const Known& known, const observer::LaunchMarks& marks, u64 row, bool whole,
              const u32* stored) {
  u32* const entry = marks.rows + row;
  const u64 word = row * Shadow::kRowWords;
  u32 old = __atomic_load_n(entry, __ATOMIC_ACQUIRE), next = 0;
  for (;;) {
    if (known.is_foreign<kWrite>(old) == 0) return true;
    if (known.is_parted(old) != 0) return false;
    if (old == Shadow::kLocked) {
      old = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
      continue;
    }
    if (kWrite && whole && known.agrees(old, marks.begin + word * 4, stored, Shadow::kRowWords)) {
      next = known.agreed();
      if (next == old) return true;
    } else if (!whole || !known.step<kWrite>(old, next)) {
      Shadow::part(entry, marks.touched + word, known.of.first);
      return false;
    }
    const u32 first = stored == nullptr ? next : Shadow::kLocked;
    if (!__atomic_compare_exchange_n(entry, &old, first, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    if (stored == nullptr) return true;
    store_words(marks.begin + word * 4, stored, Shadow::kRowWords);
    __atomic_store_n(entry, next, __ATOMIC_RELEASE);
    return true;
  }
}

// Marks two neighbouring rows, of which the access touches all words. False if they need a look one
// by one.
template <bool kWrite>
[[gnu::always_inline]] inline bool mark_two_rows(const Known& known,
                                                 const observer::LaunchMarks& marks, u64 row,
                                                 const u32* stored) {
  constexpr u64 kEach = ~u64{0} / ~u32{0};
  u64* const entry = reinterpret_cast<u64*>(marks.rows + row);
  u64 old = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
  u32 low, high;
  if (!known.step<kWrite>(static_cast<u32>(old), low) ||
      !known.step<kWrite>(static_cast<u32>(old >> 32), high))
    return false;
  const u64 next = low | u64{high} << 32;
  const u64 first = stored == nullptr ? next : kEach * Shadow::kLocked;
  if (!__atomic_compare_exchange_n(entry, &old, first, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return false;
  if (stored == nullptr) return true;
  store_words(marks.begin + row * Shadow::kRowWords * 4, stored, 2 * Shadow::kRowWords);
  __atomic_store_n(entry, next, __ATOMIC_RELEASE);
  return true;
}

// Calls visit(row, words of it) for the rows that the words are in.
template <class Visit>
[[gnu::always_inline]] inline void for_rows(Words words, Visit visit) {
  const u64 end = words.first + words.count;
  for (u64 word = words.first; word < end;) {
    const u64 row = word / Shadow::kRowWords, next = (row + 1) * Shadow::kRowWords;
    const u64 last = next < end ? next : end;
    visit(row, Words{word, last - word});
    word = last;
  }
}

template <bool kWrite>
bool mark_words(const Known& known, const observer::LaunchMarks& marks, Words words,
                const u32* stored) {
  const u64 end = words.first + words.count;
  for (u64 word = words.first; word < end;) {
    u32* const touched = marks.touched + word;
    const u64 address = marks.begin + word * 4;
    const bool pair = word % 2 == 0 && word + 2 <= end;
    if (!(pair ? mark<kWrite, u64>(known, touched, address, stored)
               : mark<kWrite, u32>(known, touched, address, stored)))
      return false;
    word += pair ? 2 : 1;
    if (stored != nullptr) stored += pair ? 2 : 1;
  }
  return true;
}

template <bool kWrite>
void touch_lanes(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                 const Known& known, const Stored& stored) {
  const observer::LaunchMarks& marks = warp.watch->global;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 i = static_cast<u32>(__builtin_ctz(m));
    const u64 at = addresses[i] - marks.begin;
    if (at >= marks.bytes) continue;
    // Elements of two words are stored at once: here, or, if they conflict, by the instruction.
    const bool pairs = bytes >= 8;
    for (u32 word = 0; word < bytes / 4; ++word) {
      const u64 address = addresses[i] + word * 4;
      const u32* const value = stored.of(i, word);
      const u64 row = (at / 4 + word) / Shadow::kRowWords;
      if (mark_row<kWrite>(known, marks, row, false, nullptr)) continue;
      u32* const touched = marks.touched + at / 4 + word;
      if (pairs && word % 2 == 0 && mark<kWrite, u64>(known, touched, address, value)) {
        ++word;
        continue;
      }
      if (!mark<kWrite, u32>(known, touched, address, value, !pairs))
        warp.watch->touch_word(warp, insn, i, address, kWrite, known.of.mine, value);
    }
  }
}

// Whether an access to these words, whose rows from `row` to `last` are not all settled as a whole,
// changes no mark.
template <bool kWrite>
[[gnu::noinline]] bool are_words_settled(const Known& known, const observer::LaunchMarks& marks,
                                         Words words, u64 row, u64 last) {
  alignas(64) u32 foreign[Shadow::kRowWords] = {};
  for (u64 r = row; r <= last; ++r) {
    const u32 entry = peek(marks.rows[r]);
    if (known.is_foreign<kWrite>(entry) == 0) continue;
    if (known.is_parted(entry) == 0) return false;
    const u64 begin = r * Shadow::kRowWords;
    const u32 before = static_cast<u32>(words.first - begin), count = static_cast<u32>(words.count);
    for (u32 i = 0; i < Shadow::kRowWords; ++i) {
      foreign[i] |= known.is_foreign<kWrite>(peek(marks.touched[begin + i])) &
                    static_cast<u32>(i - before < count);
    }
  }
  return !any_set<Shadow::kRowWords>(foreign);
}

// Whether an access to these words changes no mark.
template <bool kWrite>
[[gnu::always_inline]] inline bool is_settled(const Known& known,
                                              const observer::LaunchMarks& marks, Words words) {
  const u64 row = words.first / Shadow::kRowWords,
            last = (words.first + words.count - 1) / Shadow::kRowWords;
  const u32 entry = peek(marks.rows[row]);
  u32 foreign = known.is_foreign<kWrite>(entry);
  if (words.count == 1) {
    return foreign == 0 || (known.is_parted(entry) != 0 &&
                            known.is_foreign<kWrite>(peek(marks.touched[words.first])) == 0);
  }
  for (u64 r = row + 1; r <= last; ++r) foreign |= known.is_foreign<kWrite>(peek(marks.rows[r]));
  return foreign == 0 || are_words_settled<kWrite>(known, marks, words, row, last);
}

// The lanes whose accesses, to kWords words each, may change a mark. Lanes that are not active
// stand for the first one that is.
template <bool kWrite, u32 kWords>
[[gnu::noinline]] u32 unsettled_lanes(const Known& known, const observer::LaunchMarks& marks,
                                      u32 mask, const u64* addresses) {
  const u64 first = addresses[__builtin_ctz(mask)];
  alignas(64) u64 places[kLanes], others[kLanes];
  alignas(64) u32 entries[kWords][kLanes], foreign[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    places[i] = ((mask >> i & 1) != 0 ? addresses[i] : first) - marks.begin;
    others[i] = static_cast<u64>(places[i] >= marks.bytes);
  }
  if (any_set(others)) return mask;
  const auto row_at = [&](u64 place) { return peek(marks.rows[place / 4 / Shadow::kRowWords]); };
  if (known.is_foreign<kWrite>(row_at(first - marks.begin)) == 0) {
    // The lanes of each half warp in one row: a tile's.
    for (u32 i = 0; i < kLanes; ++i)
      others[i] = (places[i] ^ places[i & kHalf]) / (4 * Shadow::kRowWords);
    const u32 either = known.is_foreign<kWrite>(row_at(places[0])) |
                       known.is_foreign<kWrite>(row_at(places[kHalf]));
    if (either == 0 && !any_set(others)) return 0;
  }
  // Words that this launch has marked are in rows that it has parted.
  const u64* const lanes = in_memory(places);
  const auto word = [&](u32 i) VGPU_INLINE {
    return reinterpret_cast<const u32*>(reinterpret_cast<u64>(marks.touched) + lanes[i]);
  };
  gather_words<kWords>(word, [&](u32 w) VGPU_INLINE { return entries[w]; });
  for (u32 w = 0; w < kWords; ++w) {
    for (u32 i = 0; i < kLanes; ++i)
      foreign[i] = (w == 0 ? 0 : foreign[i]) | known.is_foreign<kWrite>(entries[w][i]);
  }
  if (!any_set(foreign)) return 0;
  u32* const rows = entries[0];
  gather_words<1>([&](u32 i) VGPU_INLINE { return marks.rows + places[i] / 4 / Shadow::kRowWords; },
                  [&](u32) VGPU_INLINE { return rows; });
  return mask & lanes_where([&](u32 i) __attribute__((always_inline)) {
           const u32 of_words = (known.is_parted(rows[i]) ^ 1) | foreign[i];
           return (known.is_foreign<kWrite>(rows[i]) & of_words) != 0;
         });
}

// The same for few lanes.
template <bool kWrite>
[[gnu::always_inline]] inline u32 unsettled_few(const Known& known,
                                                const observer::LaunchMarks& marks, u32 mask,
                                                const u64* addresses, u32 bytes) {
  u32 unsettled = 0;
  for (const u32 i : SetBits(mask)) {
    const u64 at = addresses[i] - marks.begin;
    const bool settled = at >= marks.bytes || is_settled<kWrite>(known, marks, {at / 4, bytes / 4});
    unsettled |= static_cast<u32>(!settled) << i;
  }
  return unsettled;
}

// Marks an access to words without gaps. stored: what it stores there, or null. False if a word's
// mark may conflict.
template <bool kWrite>
[[gnu::always_inline]] inline bool touch_words(const Known& known,
                                               const observer::LaunchMarks& marks, Words words,
                                               const u32* stored) {
  constexpr u64 kTwo = 2 * Shadow::kRowWords;
  if (words.count == kTwo && words.first % kTwo == 0 &&
      mark_two_rows<kWrite>(known, marks, words.first / Shadow::kRowWords, stored))
    return true;
  bool marked = true;
  for_rows(
      words, [&](u64 row, Words piece) __attribute__((always_inline)) {
        const u32* const first = stored == nullptr ? nullptr : stored + (piece.first - words.first);
        if (!mark_row<kWrite>(known, marks, row, piece.count == Shadow::kRowWords, first))
          marked &= mark_words<kWrite>(known, marks, piece, first);
      });
  return marked;
}

// Marks the runs of lanes whose accesses are next to each other. Returns the other lanes.
template <bool kWrite>
u32 touch_runs(const Known& known, const observer::LaunchMarks& marks, u32 mask,
               const u64* addresses, u32 bytes, const Stored& stored) {
  // The lanes that go on where the lane before ends.
  const u32 on = mask & mask << 1 & lanes_where([&](u32 i) __attribute__((always_inline)) {
                   return addresses[i] == addresses[i == 0 ? 0 : i - 1] + bytes;
                 });
  u32 left = mask;
  for (const u32 first : SetBits(mask & ~on)) {
    const u32 count =
        first + 1 == kLanes ? 1 : 1 + static_cast<u32>(__builtin_ctz(~(on >> (first + 1))));
    const u64 at = addresses[first] - marks.begin;
    const Words words{at / 4, count * bytes / 4};
    if (words.count == 1 || at >= marks.bytes) continue;
    if (is_settled<kWrite>(known, marks, words) ||
        touch_words<kWrite>(known, marks, words, stored.of(first, 0)))
      left &= ~((kAllLanes >> (kLanes - count)) << first);
  }
  return left;
}

// Marks an access without gaps between lanes.
template <bool kWrite>
[[gnu::noinline]] void touch_run(Warp& warp, const Insn& insn, u32 mask, const u64* addresses,
                                 u32 bytes, Words words, const Known& known,
                                 const std::byte* window) {
  const Stored stored(warp, window, insn);
  if (touch_words<kWrite>(known, warp.watch->global, words, stored.of(0, 0))) return;
  touch_lanes<kWrite>(warp, insn, mask, addresses, bytes, known, stored);
}

template <bool kWrite>
[[gnu::noinline]] void touch_unsettled(Warp& warp, const Insn& insn, u32 mask, const u64* addresses,
                                       u32 bytes, const Known& known, const std::byte* window) {
  const Stored stored(warp, window, insn);
  mask = touch_runs<kWrite>(known, warp.watch->global, mask, addresses, bytes, stored);
  touch_lanes<kWrite>(warp, insn, mask, addresses, bytes, known, stored);
}

template <bool kWrite>
[[gnu::always_inline]] inline void touch(Warp& warp, const Insn& insn, u32 mask,
                                         const u64* addresses, u32 bytes, Pattern pattern,
                                         const Known& known, const std::byte* window) {
  const observer::LaunchMarks& marks = warp.watch->global;
  if (pattern != Pattern::kScattered) {
    const u64 at = addresses[__builtin_ctz(mask)] - marks.begin;
    if (at >= marks.bytes) return;
    const Words words = words_of(at, bytes, pattern);
    if (!is_settled<kWrite>(known, marks, words)) {
      touch_run<kWrite>(warp, insn, pattern == Pattern::kUniform ? mask & -mask : mask, addresses,
                        bytes, words, known, window);
    }
    return;
  }
  if (__builtin_popcount(mask) <= kFew)
    mask = unsettled_few<kWrite>(known, marks, mask, addresses, bytes);
  else
    switch (bytes) {
      case 4: mask = unsettled_lanes<kWrite, 1>(known, marks, mask, addresses); break;
      case 8: mask = unsettled_lanes<kWrite, 2>(known, marks, mask, addresses); break;
      case 16: mask = unsettled_lanes<kWrite, 4>(known, marks, mask, addresses); break;
      default: break;
    }
  if (mask != 0) touch_unsettled<kWrite>(warp, insn, mask, addresses, bytes, known, window);
}

[[gnu::noinline]] void touch_copied(Warp& warp, const Insn& insn, u32 mask, const u64* addresses,
                                    u32 bytes, Pattern pattern) {
  const observer::WarpMarks made = made_known(warp, true);
  touch<false>(warp, insn, mask, addresses, bytes, pattern, {made, warp.watch->synchronised},
               nullptr);
}

}  // namespace

void touch_loaded(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                  Pattern pattern, bool copies) {
  if (copies) {
    touch_copied(warp, insn, mask, addresses, bytes, pattern);
    return;
  }
  touch<false>(warp, insn, mask, addresses, bytes, pattern,
               {kept_marks(warp), warp.watch->synchronised}, nullptr);
}

void touch_stored(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                  Pattern pattern, const std::byte* window) {
  touch<true>(warp, insn, mask, addresses, bytes, pattern,
              {kept_marks(warp), warp.watch->synchronised}, window);
}

}  // namespace vgpu::machine::VGPU_ISA
