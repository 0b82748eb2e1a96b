// SPDX-License-Identifier: Apache-2.0
// Memory checks. Warps that access consecutive words or a single word are checked at once, other
// accesses lane by lane. Accesses that look wrong take the full check, which decides.
#include "machine/isa/watch.hpp"

#include "memory/shadow.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

constexpr u32 kWhole = 15;

// Mask of the bytes in its word that an access of 1 or 2 bytes covers.
[[gnu::always_inline]] inline u32 part(u64 address, u32 bytes) {
  return ((1u << bytes) - 1) << (address & 3);
}

// The words of an access without gaps between lanes: `count` words from `first`.
struct Words {
  u64 first = 0, count = 0;
};
[[gnu::always_inline]] inline Words words_of(u64 begin, u32 bytes, Pattern pattern) {
  const u64 size = pattern == Pattern::kContiguous ? u64{bytes} * kLanes : bytes;
  return {begin / 4, (begin % 4 + size + 3) / 4};
}

bool read_words(const u8* written, Words words) {
  u32 lacking = 0;
  for (u64 i = 0; i < words.count; ++i) lacking |= written[words.first + i] ^ kWhole;
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
      for (u32 w = 0; w < bytes / 4; ++w) lacking |= marks.written[at / 4 + w] ^ kWhole;
    } else {
      lacking = part(at, bytes) & ~u32{marks.written[at / 4]};
    }
    if (__builtin_expect(lacking != 0, 0))
      warp.watch->report_global(warp, insn, i, addresses[i], bytes);
  }
}

void check_written(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                   Pattern pattern) {
  const observer::LaunchMarks& marks = warp.watch->global;
  if (pattern != Pattern::kScattered) {
    const u64 at = addresses[0] - marks.begin;
    if (at >= marks.bytes || read_words(marks.written, words_of(at, bytes, pattern))) return;
  }
  check_lanes_written(warp, insn, mask, addresses, bytes);
}

void mark_written(Warp& warp, u32 mask, const u64* addresses, u32 bytes, Pattern pattern) {
  const observer::LaunchMarks& marks = warp.watch->global;
  if (pattern != Pattern::kScattered && bytes >= 4) {
    const u64 at = addresses[0] - marks.begin;
    const Words words = words_of(at, bytes, pattern);
    if (at < marks.bytes) __builtin_memset(marks.written + words.first, kWhole, words.count);
    return;
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u64 at = addresses[__builtin_ctz(m)] - marks.begin;
    if (at >= marks.bytes) continue;
    if (bytes >= 4) {
      for (u32 w = 0; w < bytes / 4; ++w) marks.written[at / 4 + w] = kWhole;
    } else {
      // Other host threads may write the word's other bytes.
      __atomic_fetch_or(marks.written + at / 4, static_cast<u8>(part(at, bytes)), __ATOMIC_RELAXED);
    }
  }
}

// Whether an access leaves `entry` unchanged: the block's own word, or, for a load, a word that
// several blocks have read.
struct Known {
  u32 written, read, several;
  explicit Known(const Warp& warp)
      : written(Shadow::kWritten | warp.watch->mark),
        read(Shadow::kReadByOne | warp.watch->mark),
        several(Shadow::kReadBySeveral | warp.watch->global.first) {}
  template <bool kWrite>
  [[gnu::always_inline]] u32 is_foreign(u32 entry) const {
    const u32 foreign = static_cast<u32>(entry != written);
    if constexpr (kWrite) return foreign;
    return foreign & static_cast<u32>(entry != read) & static_cast<u32>(entry != several);
  }
};

// The word at `byte` of what the lane stores.
u32 stored_word(const Warp& warp, const std::byte* window, const Insn& insn, u32 lane, u32 byte) {
  std::byte bytes[32];
  for (u32 e = 0; e < insn.vector; ++e) {
    const u32 offset = insn.vector == 1 ? insn.d : warp.lists[insn.list + e];
    const u64 value = read_register(window, offset, insn.width, lane);
    __builtin_memcpy(bytes + e * insn.bytes, &value, insn.bytes);
  }
  u32 word = 0;
  __builtin_memcpy(&word, bytes + byte, 4);
  return word;
}

template <bool kWrite>
void touch_lanes(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                 const std::byte* window) {
  const observer::LaunchMarks& marks = warp.watch->global;
  const Known known(warp);
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 i = static_cast<u32>(__builtin_ctz(m));
    const u64 at = addresses[i] - marks.begin;
    if (at >= marks.bytes) continue;
    for (u32 byte = 0; byte < bytes; byte += 4) {
      if (known.is_foreign<kWrite>(
              __atomic_load_n(marks.touched + (at + byte) / 4, __ATOMIC_RELAXED)) == 0)
        continue;
      const u32 word = window == nullptr ? 0 : stored_word(warp, window, insn, i, byte);
      warp.watch->touch_word(warp, insn, i, addresses[i] + byte, kWrite,
                             window == nullptr ? nullptr : &word);
    }
  }
}

template <bool kWrite>
void touch(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes, Pattern pattern,
           const std::byte* window) {
  const observer::LaunchMarks& marks = warp.watch->global;
  const Known known(warp);
  const u32* const touched = marks.touched;
  u32 bad = 0;
  if (pattern != Pattern::kScattered) {
    const u64 at = addresses[0] - marks.begin;
    if (at >= marks.bytes) return;
    const Words words = words_of(at, bytes, pattern);
    for (u64 i = 0; i < words.count; ++i) bad |= known.is_foreign<kWrite>(touched[words.first + i]);
    if (bad == 0) return;
    if (pattern == Pattern::kUniform) mask = 1;
  } else if (mask == kAllLanes && bytes == 4) {
    u64 outside = 0;
    for (u32 i = 0; i < kLanes; ++i)
      outside |= static_cast<u64>(addresses[i] - marks.begin >= marks.bytes);
    if (outside == 0) {
      alignas(64) u32 entries[kLanes];
      for (u32 i = 0; i < kLanes; ++i) entries[i] = touched[(addresses[i] - marks.begin) / 4];
      for (u32 i = 0; i < kLanes; ++i) bad |= known.is_foreign<kWrite>(entries[i]);
      if (bad == 0) return;
    }
  }
  touch_lanes<kWrite>(warp, insn, mask, addresses, bytes, window);
}

}  // namespace

void watch_global_access(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                         Pattern pattern, Touch kind, bool ordered, const std::byte* stored) {
  observer::Watch& watch = *warp.watch;
  if (watch.global.written != nullptr && !warp.memos[insn.site].written) {
    if (kind != Touch::kStore) check_written(warp, insn, mask, addresses, bytes, pattern);
    if (kind != Touch::kLoad) mark_written(warp, mask, addresses, bytes, pattern);
  }
  if (watch.global.touched == nullptr) return;
  if (ordered) {
    watch.synchronised |= kind != Touch::kStore;
  } else if (bytes >= 4) {
    if (kind == Touch::kLoad)
      touch<false>(warp, insn, mask, addresses, bytes, pattern, nullptr);
    else
      touch<true>(warp, insn, mask, addresses, bytes, pattern, stored);
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
                        u32 vector, Touch kind) {
  u8* const written = warp.local_written;
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
