// SPDX-License-Identifier: Apache-2.0
// Fast path of the race check (check/race.hpp) for loads and stores of shared memory. Nearly all
// accesses are ordered after all earlier ones by a simple comparison of clocks. They are checked
// and recorded here, one run of words at a time, with the host's widest instructions. All other
// accesses take the full check, which decides.
#pragma once
#include "machine/isa/access.hpp"

namespace vgpu::machine::VGPU_ISA {

// Of an access, as in the history of accesses: instruction, strong, bytes.
inline constexpr u32 kStrongBit = 16, kWholeWord = 15;

// Whether f(i) is not 0 for one of the first `words` numbers.
template <class F>
[[gnu::always_inline]] inline bool any_of_words(u32 words, F f) {
  if (__builtin_constant_p(words) && words == kLanes) {
    alignas(64) u32 values[kLanes];
    for (u32 i = 0; i < kLanes; ++i) values[i] = f(i);
    return any_set(values);
  }
  u32 any = 0;
  for (u32 i = 0; i < words; ++i) any |= f(i);
  return any != 0;
}

// Whether all earlier accesses to the words place(0), place(1), ... are the warp's own or happened
// before this one, which is info_of(0), info_of(1), ... there, judged by the oldest clocks that the
// warp knows of the other warps and of asynchronous copies. Strong accesses do not conflict with
// each other.
template <bool kWrite>
[[gnu::always_inline]] inline bool is_in_order(const observer::Races::Glance& g, u32 words,
                                               auto place, auto info_of) {
  const u32 seen = g.oldest, me = g.me, seen_async = g.oldest_async;
  const auto later = [](u32 clock, u32 than) VGPU_INLINE { return clock > than ? kAllLanes : 0; };
  if (g.async_write != nullptr && any_of_words(words, [&](u32 i) VGPU_INLINE {
        return later(g.async_write[place(i)], seen_async);
      }))
    return false;
  if constexpr (kWrite) {
    if (g.last_async_read != nullptr && any_of_words(words, [&](u32 i) VGPU_INLINE {
          return later(g.last_async_read[place(i)], seen_async);
        }))
      return false;
  }
  if (!any_of_words(words, [&](u32 i) VGPU_INLINE {
        u32 late = later(g.write_clock[place(i)], seen);
        if constexpr (kWrite) late |= later(g.last_read[place(i)], seen);
        return late;
      }))
    return true;
  return !any_of_words(words, [&](u32 i) VGPU_INLINE {
    const u32 both = g.write_info[place(i)] & info_of(i);
    const bool apart = (both & kWholeWord) == 0 || (both & kStrongBit) != 0;
    u32 late = (apart ? 0 : later(g.write_clock[place(i)], seen)) & (g.writer[place(i)] ^ me);
    if constexpr (kWrite) late |= later(g.last_read[place(i)], seen) & (g.reader[place(i)] ^ me);
    return late;
  });
}

template <bool kWrite>
[[gnu::always_inline]] inline void remember(const observer::Races::Glance& g, u32 first, u32 words,
                                            u32 info) {
  const u32 now = g.now, me = g.me, seen = g.oldest;
  if constexpr (kWrite) {
    u32 *const clock = g.write_clock + first, *const infos = g.write_info + first,
               *const writer = g.writer + first;
    for (u32 i = 0; i < words; ++i) clock[i] = now;
    for (u32 i = 0; i < words; ++i) infos[i] = info;
    for (u32 i = 0; i < words; ++i) writer[i] = me;
  } else {
    u32 *const clock = g.read_clock + first, *const infos = g.read_info + first,
               *const last = g.last_read + first, *const reader = g.reader + first;
    for (u32 i = 0; i < words; ++i) clock[i] = now;
    for (u32 i = 0; i < words; ++i) infos[i] = info;
#pragma GCC ivdep
    for (u32 i = 0; i < words; ++i) {
      const u32 other = (last[i] > seen ? kAllLanes : 0) & (reader[i] ^ me);
      reader[i] = other == 0 ? me : observer::Races::kSeveral;
    }
    for (u32 i = 0; i < words; ++i) last[i] = last[i] > now ? last[i] : now;
  }
}

// The same for one word per lane, at places[lane] + word. An inactive lane has the place of an
// active one. The pointers are copied to locals, because the compiler must assume that a store
// through one changes `g`.
template <bool kWrite>
[[gnu::always_inline]] inline void remember_places(const observer::Races::Glance& g, u32 mask,
                                                   const u32* places, u32 word, auto info_of) {
  const u32 now = g.now, me = g.me, seen = g.oldest;
  if constexpr (kWrite) {
    u32 *const clock = g.write_clock + word, *const infos = g.write_info + word,
               *const writer = g.writer + word;
    for (const u32 lane : SetBits(mask)) {
      const u32 place = places[lane];
      clock[place] = now;
      infos[place] = info_of(lane);
      writer[place] = me;
    }
  } else {
    u32 *const clock = g.read_clock + word, *const infos = g.read_info + word,
               *const last = g.last_read + word, *const reader = g.reader + word;
    // Where the warp has read the words at this clock before, only the instruction is another.
    if (!any_of_words(kLanes, [&](u32 i) VGPU_INLINE { return clock[places[i]] ^ now; })) {
      for (const u32 lane : SetBits(mask)) infos[places[lane]] = info_of(lane);
      return;
    }
    for (const u32 lane : SetBits(mask)) {
      const u32 place = places[lane], before = last[place];
      const u32 other = (before > seen ? kAllLanes : 0) & (reader[place] ^ me);
      reader[place] = other == 0 ? me : observer::Races::kSeveral;
      last[place] = before > now ? before : now;
      clock[place] = now;
      infos[place] = info_of(lane);
    }
  }
}

// The same for four words at a time, of which places[0], places[4] and so on are the first: a
// fragment of a matrix. False, and nothing is recorded, unless clocks alone show the order.
template <bool kWrite>
[[gnu::always_inline]] inline bool remember_fours(const observer::Races::Glance& g,
                                                  const u32* places, u32 info) {
  using Four [[gnu::vector_size(16)]] = u32;
  const auto load = [](const u32* from) VGPU_INLINE {
    Four words;
    __builtin_memcpy(&words, from, sizeof(words));
    return words;
  };
  const auto store = [](u32* to, Four words)
                         VGPU_INLINE { __builtin_memcpy(to, &words, sizeof(words)); };
  const auto all = [](u32 value) VGPU_INLINE { return value - Four{}; };
  const auto later = [](Four clocks, Four than)
                         VGPU_INLINE { return reinterpret_cast<Four>(clocks > than); };
  const Four now = all(g.now), me = all(g.me), seen = all(g.oldest), infos = all(info);
  Four late = {};
  for (u32 i = 0; i < kLanes; i += 4) {
    const u32 place = places[i];
    late |= later(load(g.write_clock + place), seen);
    if (kWrite) late |= later(load(g.last_read + place), seen);
    if (g.async_write != nullptr) late |= later(load(g.async_write + place), all(g.oldest_async));
    if (kWrite && g.last_async_read != nullptr)
      late |= later(load(g.last_async_read + place), all(g.oldest_async));
  }
  if ((late[0] | late[1] | late[2] | late[3]) != 0) return false;
  for (u32 i = 0; i < kLanes; i += 4) {
    const u32 place = places[i];
    if constexpr (kWrite) {
      store(g.write_clock + place, now);
      store(g.write_info + place, infos);
      store(g.writer + place, me);
    } else {
      const Four last = load(g.last_read + place), reader = load(g.reader + place);
      const Four other = later(last, seen) & (reader ^ me);
      store(g.reader + place, other == 0 ? me : all(observer::Races::kSeveral));
      store(g.last_read + place, last > now ? last : now);
      store(g.read_clock + place, now);
      store(g.read_info + place, infos);
    }
  }
  return true;
}

// Call after count_shared, whose memo holds the pattern's runs.
template <bool kWrite>
[[gnu::always_inline]] inline bool race_at_a_glance(Warp& warp, const Insn& insn, u32 mask,
                                                    const u32* offsets, u32 bytes, Pattern pattern,
                                                    bool strong) {
  const observer::Races::Glance& g = warp.race->glance(warp);
  const u32 info = static_cast<u32>(&insn - warp.code) << 5 | (strong ? kStrongBit : 0);
  const u32 words = bytes < 4 ? 1 : bytes / 4;
  const u32 whole = info | kWholeWord;
  const auto whole_of = [whole](u32) VGPU_INLINE { return whole; };
  if (bytes >= 4) {
    const auto run_in_order = [&](u32 first, u32 count) VGPU_INLINE {
      return is_in_order<kWrite>(
          g, count, [first](u32 i) VGPU_INLINE { return first + i; }, whole_of);
    };
    if (pattern != Pattern::kScattered) {
      // `parts` runs of `count` words. Constant counts are loops without remainders.
      const auto run = [&](u32 parts, u32 count) VGPU_INLINE {
        const u32 first = (offsets[0] - g.begin) / 4;
        for (u32 part = 0; part < parts; ++part) {
          if (!run_in_order(first + part * count, count)) return false;
        }
        for (u32 part = 0; part < parts; ++part)
          remember<kWrite>(g, first + part * count, count, whole);
        return true;
      };
      if (pattern == Pattern::kContiguous) return run(words, kLanes);
      return bytes == 4 ? run(1, 1) : run(1, words);
    }
    const WordRuns runs =
        has_runs(warp, mask, bytes) ? warp.memos[insn.site].shared.runs(bytes) : WordRuns{};
    if (runs.count != 0) {
      const u32 base = (offsets[__builtin_ctz(mask)] - g.begin) / 4;
      for (const WordRun& run : runs) {
        const u32 first = base + static_cast<u32>(run.first);
        if (!(run.words == 1 ? run_in_order(first, 1) : run_in_order(first, run.words)))
          return false;
      }
      for (const WordRun& run : runs) {
        const u32 first = base + static_cast<u32>(run.first);
        if (run.words == 1)
          remember<kWrite>(g, first, 1, whole);
        else
          remember<kWrite>(g, first, run.words, whole);
      }
      return true;
    }
  }
  if (bytes < 4 && pattern == Pattern::kContiguous && offsets[0] % 4 == 0) {
    // All bytes of a run of words. The last lane of each word stays on record.
    const auto run = [&](u32 count) VGPU_INLINE {
      const u32 first = (offsets[0] - g.begin) / 4;
      const auto place = [first](u32 i) VGPU_INLINE { return first + i; };
      if (!is_in_order<kWrite>(g, count, place, whole_of)) return false;
      remember<kWrite>(g, first, count, info | ((1u << bytes) - 1) << (4 - bytes));
      return true;
    };
    return bytes == 1 ? run(kLanes / 4) : run(kLanes / 2);
  }
  // Lanes that are not active stand for the first one that is.
  alignas(64) u32 places[kLanes];
  const u32 first_offset = offsets[__builtin_ctz(mask)];
  for (u32 i = 0; i < kLanes; ++i)
    places[i] = (((mask >> i & 1) != 0 ? offsets[i] : first_offset) - g.begin) / 4;
  if (bytes == 4 && mask == kAllLanes) {
    alignas(64) u32 apart[kLanes];
    for (u32 i = 0; i < kLanes; ++i) apart[i] = places[i] - places[i / 4 * 4] - i % 4;
    if (!any_set(apart) && remember_fours<kWrite>(g, places, whole)) return true;
  }
  if (bytes >= 4) {
    for (u32 w = 0; w < words; ++w) {
      const auto place = [&](u32 i) VGPU_INLINE { return places[i] + w; };
      if (!is_in_order<kWrite>(g, kLanes, place, whole_of)) return false;
    }
    for (u32 w = 0; w < words; ++w) remember_places<kWrite>(g, mask, places, w, whole_of);
    return true;
  }
  alignas(64) u32 infos[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 offset = (mask >> i & 1) != 0 ? offsets[i] : first_offset;
    infos[i] = info | ((1u << bytes) - 1) << (offset - g.begin) % 4;
  }
  if (!is_in_order<kWrite>(
          g, kLanes, [&](u32 i) VGPU_INLINE { return places[i]; },
          [&](u32 i) VGPU_INLINE { return infos[i]; }))
    return false;
  remember_places<kWrite>(g, mask, places, 0, [&](u32 i) VGPU_INLINE { return infos[i]; });
  return true;
}

// For strong accesses, after their conflicts are checked. location(i) is lane i's.
inline void race_strong(Warp& warp, u32 mask, bool reads, bool writes, auto location) {
  if (warp.race == nullptr || !warp.race->fenced()) return;
  for (const u32 lane : SetBits(mask)) warp.race->strong(warp, location(lane), reads, writes);
}

// unchanged(): the lanes that write what memory holds already.
template <bool kWrite>
[[gnu::always_inline]] inline void race_shared(Warp& warp, const Insn& insn, u32 mask,
                                               const u32* offsets, u32 bytes, Pattern pattern,
                                               bool strong, auto unchanged) {
  if (__builtin_expect(warp.race == nullptr, 1)) return;
  if (!race_at_a_glance<kWrite>(warp, insn, mask, offsets, bytes, pattern, strong)) {
    warp.race->access(warp, insn, mask, offsets, bytes, kWrite,
                      strong ? observer::Access::kStrong : observer::Access::kPlain,
                      kWrite ? unchanged() : 0);
  }
  if (strong) {
    race_strong(warp, mask, !kWrite, kWrite,
                [&](u32 i) { return observer::Races::location(warp.block->rank, offsets[i]); });
  }
}

}  // namespace vgpu::machine::VGPU_ISA
