// SPDX-License-Identifier: Apache-2.0
// Common parts of loads, stores and atomics: lane addresses, checks and counts.
#pragma once
#include "machine/fault.hpp"
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {

// The counts of access.hpp. (cost.cpp)
AccessCost global_cost(const u64* addresses, u32 mask, u32 bytes);
AccessCost atomic_cost(const u64* addresses, u32 mask, u32 bytes);
AccessCost shared_load_cost(const u32* offsets, u32 mask, u32 bytes);
AccessCost shared_store_cost(const u32* offsets, u32 mask, u32 bytes);
AccessCost no_cost(const u32* offsets, u32 mask, u32 bytes);

// Whether a bit of kCount numbers is set. A compiler's own union of all lanes takes more host
// instructions than the test of a vector.
template <u32 kCount = kLanes, class T>
[[gnu::always_inline]] inline bool any_set(const T* numbers) {
#if defined(__AVX512F__)
  __m512i all = _mm512_load_si512(numbers);
  for (u32 i = 64 / sizeof(T); i < kCount; i += 64 / sizeof(T))
    all = _mm512_or_si512(all, _mm512_load_si512(numbers + i));
  return _mm512_test_epi32_mask(all, all) != 0;
#else
  T all = 0;
  for (u32 i = 0; i < kCount; ++i) all |= numbers[i];
  return all != 0;
#endif
}

// Memory and marks that other host threads may change at the same time. What is read is the former
// or the later value, and threads that write a mark write the same. Compilers do not vectorise
// atomic accesses, so these are plain ones but for ThreadSanitizer.
template <class T>
[[gnu::always_inline]] inline T peek(const T& mark) {
#ifdef __SANITIZE_THREAD__
  return __atomic_load_n(&mark, __ATOMIC_RELAXED);
#else
  return mark;
#endif
}

// The same address, hidden from the compiler, which would otherwise extract the lanes' numbers from
// the vectors that it has just stored there.
template <class T>
[[gnu::always_inline]] inline const T* in_memory(const T* numbers) {
  __asm__("" : "+r"(numbers));
  return numbers;
}

// Loads kWords words per lane from at(lane) on: word w of lane i becomes row(w)[i], unless row(w)
// is null. Whole vectors are stored, because the load of a row that was stored lane by lane has to
// wait until all of it is in the cache.
template <u32 kWords>
[[gnu::always_inline]] inline void gather_words(auto at, auto row) {
#if defined(__AVX2__) && !defined(__SANITIZE_THREAD__)
  const auto lane = [&](u32 i) VGPU_INLINE {
    if constexpr (kWords == 1)
      return _mm_loadu_si32(at(i));
    else if constexpr (kWords == 2)
      return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at(i)));
    else
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at(i)));
  };
  constexpr u32 kPart = 8, kParts = kVectorBytes / 32;
  for (u32 first = 0; first < kLanes; first += kPart * kParts) {
    __m256i rows[kParts][kWords];
    for (u32 p = 0; p < kParts; ++p) {
      __m128i fours[2][kWords];
      for (u32 k = 0; k < 2; ++k) {
        const u32 i = first + kPart * p + 4 * k;
        const __m128i a = lane(i), b = lane(i + 1), c = lane(i + 2), d = lane(i + 3);
        const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
        fours[k][0] = _mm_unpacklo_epi64(ab, cd);
        if constexpr (kWords > 1) fours[k][1] = _mm_unpackhi_epi64(ab, cd);
        if constexpr (kWords > 2) {
          const __m128i upper_ab = _mm_unpackhi_epi32(a, b), upper_cd = _mm_unpackhi_epi32(c, d);
          fours[k][2] = _mm_unpacklo_epi64(upper_ab, upper_cd);
          fours[k][3] = _mm_unpackhi_epi64(upper_ab, upper_cd);
        }
      }
      for (u32 w = 0; w < kWords; ++w) rows[p][w] = _mm256_set_m128i(fours[1][w], fours[0][w]);
    }
    for (u32 w = 0; w < kWords; ++w) {
      if (row(w) == nullptr) continue;
#if defined(__AVX512F__)
      const __m512i lower = _mm512_maskz_broadcast_i64x4(0x0f, rows[0][w]);
      _mm512_store_si512(row(w) + first,
                         _mm512_mask_broadcast_i64x4(lower, 0xf0, rows[kParts - 1][w]));
#else
      _mm256_store_si256(reinterpret_cast<__m256i*>(row(w) + first), rows[0][w]);
#endif
    }
  }
#else
  for (u32 w = 0; w < kWords; ++w) {
    for (u32 i = 0; i < kLanes && row(w) != nullptr; ++i) row(w)[i] = peek(at(i)[w]);
  }
#endif
}

// Pattern of the lanes' addresses. The two frequent ones, contiguous and uniform, have cheap
// special cases. All lanes take part in a contiguous access.
enum class Pattern { kContiguous, kUniform, kScattered };

[[gnu::always_inline]] inline void lane_addresses(std::byte* window, const Insn& insn,
                                                  u64* addresses) {
  if ((insn.flags & kFlagAddress32) != 0) {
    const u32* const base = slot<u32>(window, insn.s[0]);
    for (u32 i = 0; i < kLanes; ++i)
      addresses[i] = static_cast<u32>(base[i] + static_cast<u32>(insn.imm));
  } else if ((insn.flags & kFlagMachine) != 0) {
    const u32 *const low = slot<u32>(window, insn.s[0]), *const high = low + kLanes;
    for (u32 i = 0; i < kLanes; ++i)
      addresses[i] = (low[i] | u64{high[i]} << 32) + static_cast<u64>(insn.imm);
  } else {
    const u64* const base = slot<u64>(window, insn.s[0]);
    for (u32 i = 0; i < kLanes; ++i) addresses[i] = base[i] + static_cast<u64>(insn.imm);
  }
}

// Shared addresses have 32 bits. If the upper half of a 64-bit register is not zero, the access is
// out of bounds.
[[gnu::always_inline]] inline void lane_offsets(const Warp& warp, std::byte* window,
                                                const Insn& insn, u32* offsets) {
  if ((insn.flags & kFlagAddress32) != 0) {
    const u32* const base = slot<u32>(window, insn.s[0]);
    const u32 offset = static_cast<u32>(insn.imm) - warp.shared_tag;
    for (u32 i = 0; i < kLanes; ++i) offsets[i] = base[i] + offset;
    if ((insn.flags & kFlagMachine) != 0) {
      const u32* const uniform = slot<u32>(window, insn.s[3]);
      for (u32 i = 0; i < kLanes; ++i) offsets[i] += uniform[i];
    }
  } else {
    const u64* const base = slot<u64>(window, insn.s[0]);
    for (u32 i = 0; i < kLanes; ++i) {
      const u64 address = base[i] + static_cast<u64>(insn.imm);
      offsets[i] = (address >> 32) == 0 ? static_cast<u32>(address) : kNone;
    }
  }
}

template <class Address>
[[gnu::always_inline]] inline Pattern pattern_of(const Address* addresses, u32 mask, u32 bytes) {
  if (mask != kAllLanes) return Pattern::kScattered;
  alignas(64) Address apart[kLanes], gaps[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    apart[i] = addresses[i] - addresses[0];
    gaps[i] = apart[i] - static_cast<Address>(i * bytes);
  }
  return !any_set(gaps)    ? Pattern::kContiguous
         : !any_set(apart) ? Pattern::kUniform
                           : Pattern::kScattered;
}

// The same for a load, which is uniform also if only some lanes load (in curand_init, those whose
// bit is set).
[[gnu::always_inline]] inline Pattern load_pattern_of(const u64* addresses, u32 mask, u32 bytes) {
  if (mask == kAllLanes) return pattern_of(addresses, mask, bytes);
  const u64 first = addresses[__builtin_ctz(mask)];
  alignas(64) u64 apart[kLanes];
  for (u32 i = 0; i < kLanes; ++i) apart[i] = (mask >> i & 1) != 0 ? addresses[i] ^ first : 0;
  return any_set(apart) ? Pattern::kScattered : Pattern::kUniform;
}

// Whether the active lanes access multiples of `bytes` from `begin` to `last`.
template <class Address>
[[gnu::always_inline]] inline bool are_inside(const Address* addresses, u32 mask, u32 bytes,
                                              Pattern pattern, Address begin, Address last) {
  const Address first = addresses[__builtin_ctz(mask)];
  if (pattern != Pattern::kScattered) {
    const Address end = pattern == Pattern::kContiguous ? first + 31 * bytes : first;
    return first >= begin && end >= first && end <= last && (first & (bytes - 1)) == 0;
  }
  alignas(64) Address outside[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    const Address a = (mask >> i & 1) != 0 ? addresses[i] : first;
    outside[i] =
        static_cast<Address>(a < begin) | static_cast<Address>(a > last) | (a & (bytes - 1));
  }
  return !any_set(outside);
}

// For global and constant memory.
[[gnu::always_inline]] inline void check_global(Warp& warp, const Insn& insn, u32 mask,
                                                const u64* addresses, u32 bytes, Pattern pattern) {
  const SiteMemo& memo = warp.memos[insn.site];
  if (__builtin_expect(are_inside(addresses, mask, bytes, pattern, memo.begin, memo.end - bytes),
                       1))
    return;
  verify_global(warp, insn, mask, addresses, bytes);
}

[[gnu::always_inline]] inline void check_shared(const Warp& warp, const Insn& insn, u32 mask,
                                                const u32* offsets, u32 bytes, Pattern pattern) {
  const u32 begin = warp.shared_begin, end = warp.shared_end;
  if (__builtin_expect(
          end - begin >= bytes && are_inside(offsets, mask, bytes, pattern, begin, end - bytes), 1))
    return;
  verify_shared(warp, insn, mask, offsets, bytes);
}

[[gnu::always_inline]] inline void count_global(Warp& warp, const Insn& insn, u32 mask,
                                                const u64* addresses, u32 bytes, Pattern pattern) {
  observer::SiteCount& count = warp.site_counts[insn.site];
  ++count.global_requests;
  if (__builtin_expect(warp.samples != nullptr, 0))
    sample_global(warp, insn, mask, addresses, bytes);
  const u64 base = addresses[__builtin_ctz(mask)];
  if (pattern == Pattern::kContiguous) {
    count.global_sectors += ((base + 32 * bytes - 1) >> 5) - (base >> 5) + 1;
    count.global_bytes += u64{bytes} * kLanes;
  } else if (pattern == Pattern::kUniform) {
    ++count.global_sectors;  // aligned: it never crosses a sector
    count.global_bytes += bytes;
  } else if (warp.counted) {
    const AccessCost cost = warp.memos[insn.site].global(global_cost, addresses, mask, bytes);
    count.global_sectors += cost.units;
    count.global_bytes += u64{bytes} * cost.addresses;
  }
}

// Whether lanes in more than kLinesOfAtomic cache lines access several words of a sector.
bool is_scattered(const u64* addresses, u32 mask, u32 distinct_addresses);

[[gnu::always_inline]] inline void count_atomic(Warp& warp, const Insn& insn, u32 mask,
                                                const u64* addresses, u32 bytes) {
  observer::SiteCount& count = warp.site_counts[insn.site];
  ++count.global_requests;
  if (__builtin_expect(warp.samples != nullptr, 0))
    sample_global(warp, insn, mask, addresses, bytes);
  if (!warp.counted) return;
  const AccessCost cost = warp.memos[insn.site].global(atomic_cost, addresses, mask, bytes);
  count.global_sectors += cost.units;
  count.global_bytes += u64{bytes} * cost.addresses;
  bool& scattered = warp.block->counters.scattered_atomics;
  if (!scattered && cost.addresses > observer::kLinesOfAtomic) {
    scattered = is_scattered(addresses, mask, cost.addresses);
  }
}

// Whether the race check takes the runs of words of such a scattered access from the memo. If some
// lanes are inactive, few patterns repeat, so that it computes them.
[[gnu::always_inline]] inline bool has_runs(const Warp& warp, u32 mask, u32 bytes) {
  return warp.race != nullptr && mask == kAllLanes && bytes >= 4;
}

template <bool kStore>
[[gnu::always_inline]] inline void count_shared(Warp& warp, const Insn& insn, u32 mask,
                                                const u32* offsets, u32 bytes, Pattern pattern) {
  observer::SiteCount& count = warp.site_counts[insn.site];
  ++count.shared_requests;
  if (__builtin_expect(warp.samples != nullptr, 0)) sample_shared(warp, insn, mask, offsets, bytes);
  if (bytes == 4 && pattern != Pattern::kScattered) {
    ++count.shared_wavefronts;
    count.shared_bytes += pattern == Pattern::kUniform ? 4 : 4 * kLanes;
  } else if (warp.counted || has_runs(warp, mask, bytes)) {
    const auto count_of = !warp.counted ? no_cost : kStore ? shared_store_cost : shared_load_cost;
    const AccessCost cost = warp.memos[insn.site].shared(count_of, offsets, mask, bytes);
    count.shared_wavefronts += cost.units;
    count.shared_bytes += u64{bytes} * cost.addresses;
  }
}

// Word w of lane l of local memory is at word offset 32 w + l, as in hardware, so that lanes that
// access the same offset access consecutive words.
[[gnu::always_inline]] inline std::byte* local_byte(const Warp& warp, u32 lane, u32 offset) {
  return warp.local + (offset / 4 * kLanes + lane) * u64{4} + offset % 4;
}
inline u64 read_local(const Warp& warp, u32 lane, u32 offset, u32 bytes) {
  u64 value = 0;
  if (bytes == 8) {
    u32 low, high;
    __builtin_memcpy(&low, local_byte(warp, lane, offset), 4);
    __builtin_memcpy(&high, local_byte(warp, lane, offset + 4), 4);
    return low | u64{high} << 32;
  }
  __builtin_memcpy(&value, local_byte(warp, lane, offset), bytes);
  return value;
}
inline void write_local(const Warp& warp, u32 lane, u32 offset, u32 bytes, u64 value) {
  if (bytes == 8) {
    const u32 low = static_cast<u32>(value), high = static_cast<u32>(value >> 32);
    __builtin_memcpy(local_byte(warp, lane, offset), &low, 4);
    __builtin_memcpy(local_byte(warp, lane, offset + 4), &high, 4);
  } else {
    __builtin_memcpy(local_byte(warp, lane, offset), &value, bytes);
  }
}

// One lane of a register of `width` bytes.
[[gnu::always_inline]] inline u64 read_register(const std::byte* window, u32 offset, u32 width,
                                                u32 lane) {
  switch (width) {
    case 2: return reinterpret_cast<const u16*>(window + offset)[lane];
    case 4: return reinterpret_cast<const u32*>(window + offset)[lane];
    default: return reinterpret_cast<const u64*>(window + offset)[lane];
  }
}
[[gnu::always_inline]] inline void write_register(std::byte* window, u32 offset, u32 width,
                                                  u32 lane, u64 value) {
  switch (width) {
    case 2: reinterpret_cast<u16*>(window + offset)[lane] = static_cast<u16>(value); break;
    case 4: reinterpret_cast<u32*>(window + offset)[lane] = static_cast<u32>(value); break;
    default: reinterpret_cast<u64*>(window + offset)[lane] = value;
  }
}
[[gnu::always_inline]] inline u64 extend(u64 value, u32 bytes, bool is_signed) {
  const u32 unused = 64 - 8 * bytes;
  return is_signed ? static_cast<u64>(static_cast<i64>(value << unused) >> unused)
                   : value << unused >> unused;
}

}  // namespace vgpu::machine::VGPU_ISA
