// SPDX-License-Identifier: Apache-2.0
// Moves elements between memory and the registers of a warp's lanes: all lanes at once where they
// are as wide as their registers or next to each other, else lane by lane.
#pragma once
#include "machine/isa/access.hpp"

namespace vgpu::machine::VGPU_ISA {

template <u32 kBytes>
using Word = std::conditional_t<
    kBytes == 1, u8,
    std::conditional_t<kBytes == 2, u16, std::conditional_t<kBytes == 4, u32, u64>>>;

[[gnu::always_inline]] inline u32 element_slot(const Warp& warp, const Insn& insn, u32 element) {
  return insn.vector == 1 ? insn.d : warp.lists[insn.list + element];
}

// Moves two neighbouring words per lane between registers and memory. Other host threads see both
// or neither, as on hardware.
template <u32 kVector, bool kStore, class Address>
[[gnu::always_inline]] inline void move_pairs(u32* low, u32* high, u32 mask, u64 memory,
                                              const Address* addresses, Pattern pattern) {
  const auto move = [&](u32 i, u64* at) VGPU_INLINE {
    if constexpr (kStore) {
      *at = low[i] | u64{high[i]} << 32;
    } else {
      const u64 value = *at;
      low[i] = static_cast<u32>(value);
      high[i] = static_cast<u32>(value >> 32);
    }
  };
  if (pattern == Pattern::kContiguous) {
    u64* const first = reinterpret_cast<u64*>(memory + addresses[0]);
    for (u32 i = 0; i < kLanes; ++i) move(i, first + i * (kVector / 2));
  } else {
    for (const u32 i : SetBits(mask)) move(i, reinterpret_cast<u64*>(memory + addresses[i]));
  }
}

// Moves kVector elements of kBytes between memory at base + addresses and registers as wide as the
// elements.
template <u32 kBytes, u32 kVector, bool kStore, class Address>
[[gnu::always_inline]] inline void move_lanes(const Warp& warp, std::byte* window, const Insn& insn,
                                              u32 mask, u64 base, const Address* addresses,
                                              Pattern pattern) {
  using T = Word<kBytes>;
  // In shared memory single words have been faster lane by lane.
  if constexpr (kBytes == 4 && !kStore && (kVector > 1 || sizeof(Address) == 8)) {
    if (pattern == Pattern::kScattered && mask == kAllLanes) {
      const Address* const at = in_memory(addresses);
      gather_words<kVector>([&](u32 i)
                                VGPU_INLINE { return reinterpret_cast<const u32*>(base + at[i]); },
                            [&](u32 e) VGPU_INLINE -> u32* {
                              const u32 offset = kVector == 1 ? insn.d : warp.lists[insn.list + e];
                              return offset == kNone ? nullptr : slot<u32>(window, offset);
                            });
      return;
    }
  }
  for (u32 e = 0; e < kVector; ++e) {
    const u32 offset = kVector == 1 ? insn.d : warp.lists[insn.list + e];
    if constexpr (kBytes == 4 && kVector > 1) {
      const u32 next = e % 2 == 0 ? warp.lists[insn.list + e + 1] : kNone;
      if (offset != kNone && next != kNone && (kStore || pattern != Pattern::kUniform)) {
        move_pairs<kVector, kStore>(slot<u32>(window, offset), slot<u32>(window, next), mask,
                                    base + e * kBytes, addresses, pattern);
        ++e;
        continue;
      }
    }
    if (offset == kNone) continue;
    T* const reg = slot<T>(window, offset);
    const u64 memory = base + e * kBytes;
    if constexpr (kStore) {
      if (pattern == Pattern::kContiguous) {
        T* const to = reinterpret_cast<T*>(memory + addresses[0]);
        if constexpr (kVector == 1) {
          __builtin_memcpy(to, reg, kLanes * sizeof(T));
        } else {
          for (u32 i = 0; i < kLanes; ++i) to[i * kVector] = reg[i];
        }
      } else {
        for (const u32 i : SetBits(mask)) *reinterpret_cast<T*>(memory + addresses[i]) = reg[i];
      }
    } else {
      if (pattern == Pattern::kContiguous) {
        const T* const from = reinterpret_cast<const T*>(memory + addresses[0]);
        if constexpr (kVector == 1) {
          __builtin_memcpy(reg, from, kLanes * sizeof(T));
        } else {
          for (u32 i = 0; i < kLanes; ++i) reg[i] = from[i * kVector];
        }
      } else if (pattern == Pattern::kUniform) {
        const T value = *reinterpret_cast<const T*>(memory + addresses[__builtin_ctz(mask)]);
        write_lanes<T>(window, offset, mask, [&](u32) VGPU_INLINE { return value; });
      } else if (mask == kAllLanes) {
#pragma GCC ivdep
        for (u32 i = 0; i < kLanes; ++i)
          reg[i] = *reinterpret_cast<const T*>(memory + addresses[i]);
      } else {
        for (const u32 i : SetBits(mask))
          reg[i] = *reinterpret_cast<const T*>(memory + addresses[i]);
      }
    }
  }
}

// One element, narrower than the register of 4 bytes.
template <class T, bool kStore, class At>
[[gnu::always_inline]] inline void move_narrow(u32* reg, u32 mask, At at) {
  for (const u32 i : SetBits(mask)) {
    T value;
    if constexpr (kStore) {
      value = static_cast<T>(reg[i]);
      __builtin_memcpy(at(i, 0), &value, sizeof(T));
    } else {
      __builtin_memcpy(&value, at(i, 0), sizeof(T));
      reg[i] = static_cast<u32>(value);  // extends the sign of a signed T
    }
  }
}

// The same for all lanes. Their elements are adjacent or, for a load, one element.
template <class T, bool kStore>
[[gnu::always_inline]] inline void move_narrow_row(u32* reg, std::byte* memory, bool uniform) {
  alignas(64) T values[kLanes];
  if constexpr (kStore) {
    for (u32 i = 0; i < kLanes; ++i) values[i] = static_cast<T>(reg[i]);
    __builtin_memcpy(memory, values, sizeof(values));
  } else {
    if (uniform) {
      T value;
      __builtin_memcpy(&value, memory, sizeof(T));
      for (u32 i = 0; i < kLanes; ++i) values[i] = value;
    } else {
      __builtin_memcpy(values, memory, sizeof(values));
    }
    for (u32 i = 0; i < kLanes; ++i) reg[i] = static_cast<u32>(values[i]);
  }
}

template <bool kStore>
[[gnu::always_inline]] inline bool moves_narrow_row(std::byte* window, const Insn& insn,
                                                    std::byte* memory, Pattern pattern) {
  const bool uniform = pattern == Pattern::kUniform;
  if (insn.vector != 1 || insn.d == kNone || insn.width != 4 || insn.bytes >= 4 ||
      pattern == Pattern::kScattered || (kStore && uniform))
    return false;
  u32* const reg = slot<u32>(window, insn.d);
  const bool is_signed = !kStore && (insn.flags & kFlagSigned) != 0;
  if (insn.bytes == 1)
    is_signed ? move_narrow_row<i8, kStore>(reg, memory, uniform)
              : move_narrow_row<u8, kStore>(reg, memory, uniform);
  else
    is_signed ? move_narrow_row<i16, kStore>(reg, memory, uniform)
              : move_narrow_row<u16, kStore>(reg, memory, uniform);
  return true;
}

// The same for any sizes, at addresses given by a function of the lane and the byte.
template <bool kStore, class At>
void move_any(const Warp& warp, std::byte* window, const Insn& insn, u32 mask, At at) {
  const u32 bytes = insn.bytes;
  if (insn.vector == 1 && insn.d != kNone && insn.width == 4 && bytes < 4) {
    u32* const reg = slot<u32>(window, insn.d);
    const bool is_signed = !kStore && (insn.flags & kFlagSigned) != 0;
    if (bytes == 1)
      is_signed ? move_narrow<i8, kStore>(reg, mask, at) : move_narrow<u8, kStore>(reg, mask, at);
    else
      is_signed ? move_narrow<i16, kStore>(reg, mask, at) : move_narrow<u16, kStore>(reg, mask, at);
    return;
  }
  for (const u32 i : SetBits(mask)) {
    for (u32 e = 0; e < insn.vector; ++e) {
      const u32 offset = element_slot(warp, insn, e);
      if (offset == kNone) continue;
      if constexpr (kStore) {
        const u64 value = read_register(window, offset, insn.width, i);
        __builtin_memcpy(at(i, e * bytes), &value, bytes);
      } else {
        u64 value = 0;
        __builtin_memcpy(&value, at(i, e * bytes), bytes);
        write_register(window, offset, insn.width, i,
                       extend(value, bytes, (insn.flags & kFlagSigned) != 0));
      }
    }
  }
}

template <class T>
[[gnu::always_inline]] inline bool holds(const std::byte* memory, u64 value) {
  T held;
  __builtin_memcpy(&held, memory, sizeof(T));
  return held == static_cast<T>(value);
}
[[gnu::always_inline]] inline bool holds(const std::byte* memory, u64 value, u32 bytes) {
  switch (bytes) {
    case 1: return holds<u8>(memory, value);
    case 2: return holds<u16>(memory, value);
    case 4: return holds<u32>(memory, value);
    default: return holds<u64>(memory, value);
  }
}

// The lanes whose store writes what memory, at(lane, byte), holds already.
template <class At>
u32 unchanged_lanes(const Warp& warp, const std::byte* window, const Insn& insn, u32 mask, At at) {
  u32 unchanged = 0;
  for (const u32 i : SetBits(mask)) {
    bool same = true;
    for (u32 e = 0; e < insn.vector && same; ++e) {
      const u64 value = read_register(window, element_slot(warp, insn, e), insn.width, i);
      same = holds(at(i, e * insn.bytes), value, insn.bytes);
    }
    unchanged |= static_cast<u32>(same) << i;
  }
  return unchanged;
}

}  // namespace vgpu::machine::VGPU_ISA
