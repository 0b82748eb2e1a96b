// SPDX-License-Identifier: Apache-2.0
// Memory checks. Warps that access consecutive words or a single word are checked at once, other
// accesses lane by lane. Accesses that look wrong take the full check, which decides.
#include "machine/isa/watch.hpp"
#include "machine/isa/marks.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

constexpr u32 kWhole = 15;

[[gnu::always_inline]] inline void set_whole(u8* marks, u64 count) {
#ifdef __SANITIZE_THREAD__
  for (u64 i = 0; i < count; ++i)
    __atomic_store_n(marks + i, static_cast<u8>(kWhole), __ATOMIC_RELAXED);
#else
  __builtin_memset(marks, kWhole, count);
#endif
}

// Mask of the bytes in its word that an access of 1 or 2 bytes covers.
[[gnu::always_inline]] inline u32 part(u64 address, u32 bytes) {
  return ((1u << bytes) - 1) << (address & 3);
}

bool read_words(const u8* written, Words words) {
  u32 lacking = 0;
  for (u64 i = 0; i < words.count; ++i) lacking |= peek(written[words.first + i]) ^ kWhole;
  return lacking == 0;
}

void check_lanes_written(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes) {
  const observer::LaunchMarks& marks = warp.watch->global;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 i = static_cast<u32>(__builtin_ctz(m));
    const u64 at = addresses[i] - marks.begin;
    if (at >= marks.bytes) continue;
    u32 lacking = 0;
    if (bytes >= 4) {
      for (u32 w = 0; w < bytes / 4; ++w) lacking |= peek(marks.written[at / 4 + w]) ^ kWhole;
    } else {
      lacking = part(at, bytes) & ~u32{peek(marks.written[at / 4])};
    }
    if (__builtin_expect(lacking != 0, 0))
      warp.watch->report_global(warp, insn, i, addresses[i], bytes);
  }
}

void check_written(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                   Pattern pattern) {
  const observer::LaunchMarks& marks = warp.watch->global;
  if (pattern != Pattern::kScattered) {
    const u64 at = addresses[__builtin_ctz(mask)] - marks.begin;
    if (at >= marks.bytes || read_words(marks.written, words_of(at, bytes, pattern))) return;
  }
  check_lanes_written(warp, insn, mask, addresses, bytes);
}

void mark_written(Warp& warp, u32 mask, const u64* addresses, u32 bytes, Pattern pattern) {
  const observer::LaunchMarks& marks = warp.watch->global;
  const u64 first = addresses[__builtin_ctz(mask)] - marks.begin;
  if (pattern != Pattern::kScattered &&
      (bytes >= 4 || (pattern == Pattern::kContiguous && first % 4 == 0))) {
    const Words words = words_of(first, bytes, pattern);
    if (first >= marks.bytes) return;
    if (words.count == kLanes)
      set_whole(marks.written + words.first, kLanes);  // one instruction
    else
      set_whole(marks.written + words.first, words.count);
    return;
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u64 at = addresses[__builtin_ctz(m)] - marks.begin;
    if (at >= marks.bytes) continue;
    if (bytes >= 4) {
      for (u32 w = 0; w < bytes / 4; ++w) set_whole(marks.written + at / 4 + w, 1);
    } else {
      // Other host threads may write the word's other bytes.
      __atomic_fetch_or(marks.written + at / 4, static_cast<u8>(part(at, bytes)), __ATOMIC_RELAXED);
    }
  }
}

}  // namespace

void watch_global_access(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                         Pattern pattern, Touch kind, bool ordered, const std::byte* stored) {
  observer::Watch& watch = *warp.watch;
  if (watch.global.written != nullptr && !warp.memos[insn.site].written) {
    if (kind != Touch::kStore) check_written(warp, insn, mask, addresses, bytes, pattern);
    if (kind >= Touch::kStore) mark_written(warp, mask, addresses, bytes, pattern);
  }
  if (watch.global.touched == nullptr) return;
  if (ordered) {
    watch.synchronised |= kind != Touch::kStore;
  } else if (bytes >= 4) {
    if (kind < Touch::kStore)
      touch_loaded(warp, insn, mask, addresses, bytes, pattern, kind == Touch::kCopy);
    else
      touch_stored(warp, insn, mask, addresses, bytes, pattern, stored);
  }
}

void watch_shared_access(Warp& warp, const Insn& insn, u32 mask, const u32* offsets, u32 bytes,
                         Pattern pattern, Touch kind) {
  observer::Watch& watch = *warp.watch;
  u32* const written = watch.shared_written;
  const u32 begin = watch.shared_begin;
  if (kind != Touch::kStore) {
    u32 lacking = 0;
    if (pattern != Pattern::kScattered) {
      const Words words = words_of(offsets[0] - begin, bytes, pattern);
      for (u64 i = 0; i < words.count; ++i) lacking |= written[words.first + i] ^ kWhole;
    } else if (mask == kAllLanes && bytes >= 4) {
      for (u32 w = 0; w < bytes / 4; ++w) {
        for (u32 i = 0; i < kLanes; ++i) lacking |= written[(offsets[i] - begin) / 4 + w] ^ kWhole;
      }
    } else {
      lacking = 1;
    }
    for (u32 m = lacking == 0 ? 0 : mask; m != 0; m &= m - 1) {
      const u32 i = static_cast<u32>(__builtin_ctz(m));
      const u32 at = offsets[i] - begin;
      u32 bad = 0;
      if (bytes >= 4) {
        for (u32 w = 0; w < bytes / 4; ++w) bad |= written[at / 4 + w] ^ kWhole;
      } else {
        bad = part(at, bytes) & ~written[at / 4];
      }
      if (__builtin_expect(bad != 0, 0)) warp.watch->note_shared(warp, insn, i, offsets[i], bytes);
    }
  }
  if (kind == Touch::kLoad) return;
  u32 completed = 0;
  if (pattern != Pattern::kScattered && bytes >= 4) {
    const Words words = words_of(offsets[0] - begin, bytes, pattern);
    for (u64 i = 0; i < words.count; ++i) {
      completed += static_cast<u32>(written[words.first + i] != kWhole);
      written[words.first + i] = kWhole;
    }
  } else {
    for (u32 m = mask; m != 0; m &= m - 1) {
      const u32 at = offsets[__builtin_ctz(m)] - begin;
      const u32 bits = bytes >= 4 ? kWhole : part(at, bytes);
      for (u32 w = 0; w < (bytes + 3) / 4; ++w) {
        u32& mark = written[at / 4 + w];
        completed += static_cast<u32>(mark != kWhole && (mark | bits) == kWhole);
        mark |= bits;
      }
    }
  }
  watch.shared_unwritten -= completed;
}

// Marks of local memory have the layout of its words: word w of lane l at 32 w + l.
void watch_local_access(Warp& warp, const Insn& insn, u32 mask, const u64* offsets, u32 bytes,
                        u32 vector, Touch kind, bool in_row) {
  u8* const written = warp.local_written;
  if (in_row && bytes >= 4) {
    u8* const row = written + offsets[0] / 4 * kLanes;
    const u32 size = bytes * vector / 4 * kLanes;
    if (kind == Touch::kStore) {
      __builtin_memset(row, kWhole, size);
      return;
    }
    u32 lacking = 0;
    for (u32 i = 0; i < size; ++i) lacking |= static_cast<u32>(row[i] == 0);
    if (lacking == 0) return;
  } else if (in_row && vector == 1) {
    u8* const row = written + offsets[0] / 4 * kLanes;
    const u8 bits = static_cast<u8>(part(offsets[0], bytes));
    if (kind == Touch::kStore) {
      for (u32 i = 0; i < kLanes; ++i) row[i] |= bits;
      return;
    }
    u32 lacking = 0;
    for (u32 i = 0; i < kLanes; ++i) lacking |= static_cast<u32>((row[i] & bits) == 0);
    if (lacking == 0) return;
  } else if (bytes >= 4) {
    u32 lacking = 0;
    for (u32 w = 0; w < bytes * vector / 4; ++w) {
      for (u32 m = mask; m != 0; m &= m - 1) {
        const u32 i = static_cast<u32>(__builtin_ctz(m));
        u8& mark = written[(offsets[i] / 4 + w) * kLanes + i];
        lacking |= static_cast<u32>(mark == 0);
        if (kind == Touch::kStore) mark = kWhole;
      }
    }
    if (lacking == 0 || kind == Touch::kStore) return;
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 i = static_cast<u32>(__builtin_ctz(m));
    for (u32 e = 0; e < vector; ++e) {
      const u64 at = offsets[i] + e * bytes;
      const u32 bits = bytes >= 4 ? kWhole : part(at, bytes);
      u32 any = 0;
      for (u32 w = 0; w < (bytes + 3) / 4; ++w) {
        u8& mark = written[(at / 4 + w) * kLanes + i];
        any |= mark & bits;
        if (kind == Touch::kStore) mark = static_cast<u8>(mark | bits);
      }
      if (__builtin_expect(kind != Touch::kStore && any == 0, 0)) {
        warp.watch->note_local(warp, insn, i, at, bytes);
        for (u32 w = 0; w < (bytes + 3) / 4; ++w)  // once is enough
          written[(at / 4 + w) * kLanes + i] |= static_cast<u8>(bits);
      }
    }
  }
}

}  // namespace vgpu::machine::VGPU_ISA
