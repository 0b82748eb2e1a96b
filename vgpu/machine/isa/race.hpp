// SPDX-License-Identifier: Apache-2.0
// Fast path of the race check (check/race.hpp) for loads and stores of shared memory. Nearly all
// accesses are ordered after all earlier ones by a simple comparison of clocks. They are checked
// and recorded here, one run of words at a time, with the host's widest instructions. All other
// accesses take the full check, which decides.
#pragma once
#include "machine/isa/access.hpp"

namespace vgpu::machine::VGPU_ISA {

// Whether all earlier accesses to these words happened before this one, judged by the oldest clocks
// that the warp knows of the other warps and of asynchronous copies.
template <bool kWrite>
[[gnu::always_inline]] inline bool is_in_order(const observer::Races::Glance& g, u32 first,
                                               u32 words) {
  const u32 seen = g.oldest;
  const u32* const written = g.write_clock + first;
  u32 late = 0;
  for (u32 i = 0; i < words; ++i) late |= static_cast<u32>(written[i] > seen);
  const u32 seen_async = g.oldest_async;
  if (g.async_write != nullptr) {
    const u32* const copied = g.async_write + first;
    for (u32 i = 0; i < words; ++i) late |= static_cast<u32>(copied[i] > seen_async);
  }
  if constexpr (kWrite) {
    const u32* const read = g.last_read + first;
    for (u32 i = 0; i < words; ++i) late |= static_cast<u32>(read[i] > seen);
    if (g.last_async_read != nullptr) {
      const u32* const async_read = g.last_async_read + first;
      for (u32 i = 0; i < words; ++i) late |= static_cast<u32>(async_read[i] > seen_async);
    }
  }
  return late == 0;
}

template <bool kWrite>
[[gnu::always_inline]] inline void remember(const observer::Races::Glance& g, u32 first, u32 words,
                                            u32 info) {
  const u32 now = g.now;
  if constexpr (kWrite) {
    for (u32 i = 0; i < words; ++i) g.write_clock[first + i] = now;
    for (u32 i = 0; i < words; ++i) g.write_info[first + i] = info;
    for (u32 i = 0; i < words; ++i) g.writer[first + i] = static_cast<u16>(g.me);
  } else {
    for (u32 i = 0; i < words; ++i) g.read_clock[first + i] = now;
    for (u32 i = 0; i < words; ++i) g.read_info[first + i] = info;
    u32* const last = g.last_read + first;
    for (u32 i = 0; i < words; ++i) last[i] = last[i] > now ? last[i] : now;
  }
}

// Call after count_shared, whose memo holds the pattern's runs.
template <bool kWrite>
[[gnu::always_inline]] inline bool race_at_a_glance(Warp& warp, const Insn& insn, u32 mask,
                                                    const u32* offsets, u32 bytes, Pattern pattern,
                                                    bool strong) {
  const observer::Races::Glance g = warp.race->glance(warp);
  const u32 info = static_cast<u32>(&insn - warp.code) << 5 | (strong ? 16 : 0);
  constexpr u32 kWhole = 15;
  if (bytes >= 4 && pattern != Pattern::kScattered) {
    const u32 first = (offsets[0] - g.begin) / 4;
    const u32 words = (pattern == Pattern::kContiguous ? kLanes * bytes : bytes) / 4;
    if (!is_in_order<kWrite>(g, first, words)) return false;
    remember<kWrite>(g, first, words, info | kWhole);
    return true;
  }
  if (bytes >= 4) {
    const WordRuns runs = warp.memos[insn.site].shared.runs(bytes);
    if (runs.count != 0) {
      const u32 base = (offsets[__builtin_ctz(mask)] - g.begin) / 4;
      for (const WordRun& run : runs) {
        if (!is_in_order<kWrite>(g, base + static_cast<u32>(run.first), run.words)) return false;
      }
      for (const WordRun& run : runs) {
        remember<kWrite>(g, base + static_cast<u32>(run.first), run.words, info | kWhole);
      }
      return true;
    }
  }
  const u32 words = bytes < 4 ? 1 : bytes / 4;
  for (u32 m = mask; m != 0; m &= m - 1) {
    if (!is_in_order<kWrite>(g, (offsets[__builtin_ctz(m)] - g.begin) / 4, words)) return false;
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 at = offsets[__builtin_ctz(m)] - g.begin;
    const u32 part = bytes < 4 ? ((1u << bytes) - 1) << at % 4 : kWhole;
    remember<kWrite>(g, at / 4, words, info | part);
  }
  return true;
}

// For strong accesses, after their conflicts are checked. location(i) is lane i's.
inline void race_strong(Warp& warp, u32 mask, bool reads, bool writes, auto location) {
  if (warp.race == nullptr || !warp.race->fenced()) return;
  for (u32 m = mask; m != 0; m &= m - 1)
    warp.race->strong(warp, location(static_cast<u32>(__builtin_ctz(m))), reads, writes);
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
