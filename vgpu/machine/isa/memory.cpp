// SPDX-License-Identifier: Apache-2.0
// ld and st in every state space. Local memory at different offsets and mixed generic addresses are
// accessed lane by lane.
#include "machine/cluster.hpp"
#include "machine/isa/race.hpp"
#include "machine/isa/transfer.hpp"
#include "machine/isa/watch.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

template <bool kStore>
[[gnu::always_inline]] inline void note(Warp& warp, const Insn& insn, u32 mask,
                                        const auto* addresses) {
  if constexpr (kStore) {
    ++warp.progress;
  } else if (__builtin_expect((insn.flags & kFlagStrong) != 0, 0)) {
    note_poll(warp, insn, addresses[__builtin_ctz(mask)]);
  }
}

// kBytes 0: any sizes.
template <u32 kBytes, u32 kVector, bool kStore, bool kCounted>
[[gnu::always_inline]] inline void access_global(Warp& warp, std::byte* window, const Insn& insn,
                                                 u32 mask, const u64* addresses) {
  const u32 total = kBytes == 0 ? u32{insn.bytes} * insn.vector : kBytes * kVector;
  const Pattern pattern = kStore || kBytes == 0 ? pattern_of(addresses, mask, total)
                                                : load_pattern_of(addresses, mask, total);
  check_global(warp, insn, mask, addresses, total, pattern);
  if constexpr (kCounted) {
    watch_global(warp, insn, mask, addresses, total, pattern, kStore ? Touch::kStore : Touch::kLoad,
                 (insn.flags & kFlagStrong) != 0, kStore ? window : nullptr);
    count_global(warp, insn, mask, addresses, total, pattern);
  }
  note<kStore>(warp, insn, mask, addresses);
  if (__builtin_expect((insn.flags & kFlagStrong) != 0, 0)) {
    race_strong(warp, mask, !kStore, kStore,
                [&](u32 i) { return observer::Races::location(addresses[i]); });
  }
  const auto at = [&](u32 i, u32 byte) {
    return reinterpret_cast<std::byte*>(addresses[i]) + byte;
  };
  if constexpr (kBytes == 0) {
    if (!moves_narrow_row<kStore>(window, insn, at(0, 0), pattern))
      move_any<kStore>(warp, window, insn, mask, at);
  } else {
    move_lanes<kBytes, kVector, kStore>(warp, window, insn, mask, 0, addresses, pattern);
  }
}

template <u32 kBytes, u32 kVector, bool kStore>
[[gnu::always_inline]] inline void access_shared(Warp& warp, std::byte* window, const Insn& insn,
                                                 u32 mask, const u32* offsets) {
  const u32 total = kBytes == 0 ? u32{insn.bytes} * insn.vector : kBytes * kVector;
  const Pattern pattern = pattern_of(offsets, mask, total);
  check_shared(warp, insn, mask, offsets, total, pattern);
  watch_shared(warp, insn, mask, offsets, total, pattern, kStore ? Touch::kStore : Touch::kLoad);
  count_shared<kStore>(warp, insn, mask, offsets, total, pattern);
  note<kStore>(warp, insn, mask, offsets);
  const auto at = [&](u32 i, u32 byte) { return warp.shared + offsets[i] + byte; };
  race_shared<kStore>(warp, insn, mask, offsets, total, pattern,
                      (insn.flags & (kFlagStrong | kFlagCompared)) != 0,
                      [&] { return unchanged_lanes(warp, window, insn, mask, at); });
  if constexpr (kBytes == 0) {
    if (!moves_narrow_row<kStore>(window, insn, at(0, 0), pattern))
      move_any<kStore>(warp, window, insn, mask, at);
  } else {
    move_lanes<kBytes, kVector, kStore>(warp, window, insn, mask,
                                        reinterpret_cast<u64>(warp.shared), offsets, pattern);
  }
}

template <bool kStore>
void access_stray_local(Warp& warp, std::byte* window, const Insn& insn, u32 mask,
                        const u64* offsets) {
  for (const u32 i : SetBits(mask)) {
    for (u32 e = 0; e < insn.vector; ++e) {
      const u32 offset = element_slot(warp, insn, e);
      if (offset == kNone) continue;
      u64 value = kStore ? read_register(window, offset, insn.width, i) : 0;
      for (u32 b = 0; b < insn.bytes; ++b) {
        u8& byte = stray_local_byte(warp, i, offsets[i] + e * insn.bytes + b);
        if constexpr (kStore)
          byte = static_cast<u8>(value >> 8 * b);
        else
          value |= u64{byte} << 8 * b;
      }
      if constexpr (!kStore) {
        write_register(window, offset, insn.width, i,
                       extend(value, insn.bytes, (insn.flags & kFlagSigned) != 0));
      }
    }
  }
}

// Moves one element of at most 4 bytes of all lanes between a row of local memory and a register.
template <bool kStore>
[[gnu::always_inline]] inline void move_local_row(const Insn& insn, std::byte* memory, u32* reg,
                                                  u32 at) {
  if (insn.bytes == 4) {
    if constexpr (kStore)
      __builtin_memcpy(memory, reg, 4 * kLanes);
    else
      __builtin_memcpy(reg, memory, 4 * kLanes);
    return;
  }
  u32* const row = reinterpret_cast<u32*>(memory);
  const u32 shift = at % 4 * 8, unused = 32 - 8 * u32{insn.bytes}, ones = ~0u >> unused;
  if constexpr (kStore) {
    for (u32 i = 0; i < kLanes; ++i)
      row[i] = (row[i] & ~(ones << shift)) | (reg[i] & ones) << shift;
  } else if ((insn.flags & kFlagSigned) != 0) {
    for (u32 i = 0; i < kLanes; ++i)
      reg[i] = static_cast<u32>(static_cast<i32>(row[i] >> shift << unused) >> unused);
  } else {
    for (u32 i = 0; i < kLanes; ++i) reg[i] = row[i] >> shift & ones;
  }
}

template <bool kStore>
void access_local(Warp& warp, std::byte* window, const Insn& insn, u32 mask, const u64* offsets) {
  const u32 bytes = insn.bytes, total = bytes * insn.vector;
  const u64 first = offsets[__builtin_ctz(mask)];
  u64 apart = 0;
  for (u32 i = 0; i < kLanes; ++i) apart |= (mask >> i & 1) != 0 ? offsets[i] ^ first : 0;
  const bool in_row = apart == 0 && mask == kAllLanes;
  u32 stray = 0;
  const bool inside =
      total <= warp.local_bytes &&
      are_inside(offsets, mask, total, Pattern::kScattered, u64{0}, u64{warp.local_bytes} - total);
  for (const u32 i : SetBits(inside ? 0 : in_row ? 1 : mask)) {
    if (offsets[i] > warp.local_bytes || total > warp.local_bytes - offsets[i] ||
        (offsets[i] & (total - 1)) != 0) {
      if (!forgives_local(warp, offsets[i], total))
        fault_access({warp, insn, i}, AddressSpace::kLocal, offsets[i], total);
      stray |= in_row ? kAllLanes : 1u << i;
    }
  }
  watch_local(warp, insn, mask & ~stray, offsets, bytes, insn.vector,
              kStore ? Touch::kStore : Touch::kLoad, in_row);
  observer::SiteCount& count = warp.site_counts[insn.site];
  ++count.local_requests;
  if (in_row) {
    count.local_sectors += (total + 3) / 4 * 4;  // each word of all lanes fills four sectors
    count.local_bytes += total;
  } else if (warp.counted) {
    count.local_bytes += u64{total} * global_cost(offsets, mask, total).addresses;
    alignas(64) u64 words[kLanes];
    for (u32 word = 0; word < (total + 3) / 4; ++word) {
      for (u32 i = 0; i < kLanes; ++i) words[i] = ((offsets[i] / 4 + word) * kLanes + i) * 4;
      count.local_sectors += global_cost(words, mask, 4).units;
    }
  }
  note<kStore>(warp, insn, mask, offsets);
  if (__builtin_expect(stray != 0, 0)) {
    access_stray_local<kStore>(warp, window, insn, stray, offsets);
    mask &= ~stray;
  }
  if (in_row && mask != 0 && bytes <= 4 && insn.width == 4) {
    for (u32 e = 0; e < insn.vector; ++e) {
      const u32 offset = element_slot(warp, insn, e);
      if (offset == kNone) continue;
      const u32 at = static_cast<u32>(first) + bytes * e;
      move_local_row<kStore>(insn, local_byte(warp, 0, at / 4 * 4), slot<u32>(window, offset), at);
    }
    return;
  }
  if (bytes == 4 && insn.width == 4) {
    u32* const memory = reinterpret_cast<u32*>(warp.local);
    for (u32 e = 0; e < insn.vector; ++e) {
      const u32 offset = element_slot(warp, insn, e);
      if (offset == kNone) continue;
      u32* const reg = slot<u32>(window, offset);
      for (const u32 i : SetBits(mask)) {
        u32& word = memory[(offsets[i] / 4 + e) * kLanes + i];
        if constexpr (kStore)
          word = reg[i];
        else
          reg[i] = word;
      }
    }
    return;
  }
  for (const u32 i : SetBits(mask)) {
    for (u32 e = 0; e < insn.vector; ++e) {
      const u32 offset = element_slot(warp, insn, e);
      if (offset == kNone) continue;
      const u32 at = static_cast<u32>(offsets[i]) + e * bytes;
      if constexpr (kStore) {
        write_local(warp, i, at, bytes, read_register(window, offset, insn.width, i));
      } else {
        write_register(
            window, offset, insn.width, i,
            extend(read_local(warp, i, at, bytes), bytes, (insn.flags & kFlagSigned) != 0));
      }
    }
  }
}

// Shared memory of any block of the cluster, by addresses of shared::cluster.
template <bool kStore>
void access_cluster(Warp& warp, std::byte* window, const Insn& insn, u32 mask,
                    const u64* addresses) {
  const u32 total = u32{insn.bytes} * insn.vector;
  const observer::Access access =
      (insn.flags & kFlagStrong) != 0 ? observer::Access::kStrong : observer::Access::kPlain;
  const AccessCost cost = warp.memos[insn.site].global(global_cost, addresses, mask, total);
  observer::SiteCount& count = warp.site_counts[insn.site];
  count.shared_bytes += u64{total} * cost.addresses;
  std::byte* hosts[kLanes] = {};
  u32 remote = 0;
  for (const u32 i : SetBits(mask)) {
    const SharedPlace place = shared_place({warp, insn, i}, addresses[i], total, total);
    touch_shared_place({warp, insn, i}, place, total, kStore, access);
    remote += place.block != warp.block ? 1 : 0;
    if (access == observer::Access::kStrong) {
      race_strong(warp, 1u << i, !kStore, kStore,
                  [&](u32) { return observer::Races::location(place.block->rank, place.offset); });
    }
    hosts[i] = place.host();
  }
  if (remote != 0) {
    const bool measured =
        total == (kStore ? 4 : 16) && pattern_of(addresses, mask, total) == Pattern::kContiguous;
    count.add_remote(remote, total, measured);
  }
  note<kStore>(warp, insn, mask, addresses);
  move_any<kStore>(warp, window, insn, mask, [&](u32 i, u32 byte) { return hosts[i] + byte; });
}

template <bool kStore>
void cluster(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 addresses[kLanes];
  lane_addresses(window, insn, addresses);
  access_cluster<kStore>(warp, window, insn, mask, addresses);
}

// Kernel parameters, by offset into their block.
void load_params(Warp& warp, std::byte* window, const Insn& insn, u32 mask, const u64* offsets) {
  const u32 total = u32{insn.bytes} * insn.vector;
  for (const u32 i : SetBits(mask)) {
    if (offsets[i] > warp.param_bytes || total > warp.param_bytes - offsets[i] ||
        (offsets[i] & (total - 1)) != 0) {
      fault_access({warp, insn, i}, AddressSpace::kParam, offsets[i], total);
    }
  }
  move_any<false>(warp, window, insn, mask,
                  [&](u32 i, u32 byte) { return warp.params + offsets[i] + byte; });
}

template <u32 kBytes, u32 kVector, bool kStore>
void global(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 addresses[kLanes];
  lane_addresses(window, insn, addresses);
  access_global<kBytes, kVector, kStore, true>(warp, window, insn, mask, addresses);
}

// Constant memory is in device memory too, but has its own cache on hardware, so it is not counted.
template <u32 kBytes, u32 kVector>
void constant(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 addresses[kLanes];
  lane_addresses(window, insn, addresses);
  access_global<kBytes, kVector, false, false>(warp, window, insn, mask, addresses);
}

template <u32 kBytes, u32 kVector, bool kStore>
void shared(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u32 offsets[kLanes];
  lane_offsets(warp, window, insn, offsets);
  access_shared<kBytes, kVector, kStore>(warp, window, insn, mask, offsets);
}

// A vector load of which nothing reads some elements, because a compiler joined loads of neighbours
// (sass/lower/passes.cpp). Counted as what it is; the others are no accesses of the program.
void shared_part(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u32 bytes = insn.bytes, total = bytes * insn.vector;
  alignas(64) u32 offsets[kLanes], elements[kLanes];
  lane_offsets(warp, window, insn, offsets);
  const Pattern pattern = pattern_of(offsets, mask, total);
  if (!are_inside(offsets, mask, total, pattern, 0u, kAllLanes))
    verify_shared(warp, insn, mask, offsets, total);
  for (u32 e = 0; e < insn.vector; ++e) {
    if (element_slot(warp, insn, e) == kNone) continue;
    for (u32 i = 0; i < kLanes; ++i) elements[i] = offsets[i] + e * bytes;
    const Pattern one = pattern_of(elements, mask, bytes);
    check_shared(warp, insn, mask, elements, bytes, one);
    watch_shared(warp, insn, mask, elements, bytes, one, Touch::kLoad);
    if (warp.race != nullptr) {
      warp.race->access(warp, insn, mask, elements, bytes, false, observer::Access::kPlain, 0);
    }
  }
  count_shared<false>(warp, insn, mask, offsets, total, pattern);
  note<false>(warp, insn, mask, offsets);
  move_any<false>(warp, window, insn, mask,
                  [&](u32 i, u32 byte) { return warp.shared + offsets[i] + byte; });
}

template <bool kStore>
void local(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 offsets[kLanes];
  lane_addresses(window, insn, offsets);
  access_local<kStore>(warp, window, insn, mask, offsets);
}

// Each lane is served by the state space of its address.
template <u32 kBytes, u32 kVector, bool kStore>
void generic(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 addresses[kLanes];
  lane_addresses(window, insn, addresses);
  alignas(64) u64 is_other[kLanes];
  const u64 first_window = windows().shared;
  for (u32 i = 0; i < kLanes; ++i) {
    const u64 distance = (mask >> i & 1) != 0 ? addresses[i] - first_window : kWindowsSpan;
    is_other[i] = static_cast<u64>(distance < kWindowsSpan);
  }
  if (__builtin_expect(!any_set(is_other), 1)) {
    access_global<kBytes, kVector, kStore, true>(warp, window, insn, mask, addresses);
    return;
  }
  alignas(64) u32 offsets[kLanes];
  const u64 own_window = warp.shared_window;
  for (u32 i = 0; i < kLanes; ++i) {
    const u64 distance = addresses[i] - own_window;
    offsets[i] = static_cast<u32>(distance);
    const u64 reach = (mask >> i & 1) != 0 ? distance : 0;
    is_other[i] = static_cast<u64>(reach >= kWindowBytes - kMostLocalBytes);
  }
  if (!any_set(is_other)) {
    access_shared<kBytes, kVector, kStore>(warp, window, insn, mask, offsets);
    return;
  }
  u32 lanes_of[6] = {};
  for (const u32 i : SetBits(mask))
    lanes_of[static_cast<int>(space_of(addresses[i], warp.shared_window))] |= 1u << i;
  const auto lanes = [&](AddressSpace space) { return lanes_of[static_cast<int>(space)]; };
  if (const u32 m = lanes(AddressSpace::kGlobal); m != 0) {
    access_global<kBytes, kVector, kStore, true>(warp, window, insn, m, addresses);
  }
  alignas(64) u64 long_offsets[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    long_offsets[i] = (addresses[i] - warp.shared_window) % kWindowBytes;
    offsets[i] = static_cast<u32>(long_offsets[i]);
  }
  // Addresses below local memory fall into the shared window, which precedes the local one.
  for (const u32 i : SetBits(lanes(AddressSpace::kShared))) {
    const u64 below = long_offsets[i] - kWindowBytes;
    if (offsets[i] < kWindowBytes - kMostLocalBytes ||
        !forgives_local(warp, below, u32{insn.bytes} * insn.vector))
      continue;
    long_offsets[i] = below;
    lanes_of[static_cast<int>(AddressSpace::kShared)] &= ~(1u << i);
    lanes_of[static_cast<int>(AddressSpace::kLocal)] |= 1u << i;
  }
  if (const u32 m = lanes(AddressSpace::kShared); m != 0) {
    access_shared<kBytes, kVector, kStore>(warp, window, insn, m, offsets);
  }
  if (const u32 m = lanes(AddressSpace::kLocal); m != 0) {
    access_local<kStore>(warp, window, insn, m, long_offsets);
  }
  if (const u32 m = lanes(AddressSpace::kCluster); m != 0) {
    for (u32 i = 0; i < kLanes; ++i) long_offsets[i] = addresses[i] - warp.cluster_window;
    access_cluster<kStore>(warp, window, insn, m, long_offsets);
  }
  if (const u32 m = lanes(AddressSpace::kParam) | lanes(AddressSpace::kFunction); m != 0) {
    if (kStore || lanes(AddressSpace::kFunction) != 0) {
      const u32 i = static_cast<u32>(__builtin_ctz(kStore ? m : lanes(AddressSpace::kFunction)));
      fault_access({warp, insn, i}, AddressSpace::kGlobal, addresses[i],
                   u32{insn.bytes} * insn.vector);
    }
    load_params(warp, window, insn, m, long_offsets);
  }
}

// ld.param of a kernel at a fixed offset: one value for all lanes. Lowering has checked the offset.
void param_fixed(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  for (u32 e = 0; e < insn.vector; ++e) {
    const u32 offset = element_slot(warp, insn, e);
    if (offset == kNone) continue;
    u64 value = 0;
    __builtin_memcpy(&value, warp.params + insn.imm + e * insn.bytes, insn.bytes);
    value = extend(value, insn.bytes, (insn.flags & kFlagSigned) != 0);
    if (insn.width == 8) {
      write_lanes<u64>(window, offset, mask, [&](u32) VGPU_INLINE { return value; });
    } else if (insn.width == 4) {
      const u32 low = static_cast<u32>(value);
      write_lanes<u32>(window, offset, mask, [&](u32) VGPU_INLINE { return low; });
    } else {
      const u16 low = static_cast<u16>(value);
      write_lanes<u16>(window, offset, mask, [&](u32) VGPU_INLINE { return low; });
    }
  }
}

// ld.param of a kernel through a register.
void param_register(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 offsets[kLanes];
  lane_addresses(window, insn, offsets);
  for (u32 i = 0; i < kLanes; ++i) offsets[i] -= windows().param;
  load_params(warp, window, insn, mask, offsets);
}

// Parameters and results of calls: in the window from slot s[0], Insn::target bytes per lane.
template <bool kStore>
void frame(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  move_any<kStore>(warp, window, insn, mask, [&](u32 i, u32 byte) {
    return window + insn.s[0] + u64{i} * insn.target + static_cast<u64>(insn.imm) + byte;
  });
}

template <u32 kBytes, u32 kVector>
void define_size(OperationSink& sink, const char* size) {
  sink.add("ld.global.", size, {}, &global<kBytes, kVector, false>);
  sink.add("st.global.", size, {}, &global<kBytes, kVector, true>);
  sink.add("ld.shared.", size, {}, &shared<kBytes, kVector, false>);
  sink.add("st.shared.", size, {}, &shared<kBytes, kVector, true>);
  sink.add("ld.generic.", size, {}, &generic<kBytes, kVector, false>);
  sink.add("st.generic.", size, {}, &generic<kBytes, kVector, true>);
  sink.add("ld.const.", size, {}, &constant<kBytes, kVector>);
}

}  // namespace

void define_memory(OperationSink& sink) {
  define_size<2, 1>(sink, "2x1");
  define_size<4, 1>(sink, "4x1");
  define_size<8, 1>(sink, "8x1");
  define_size<2, 2>(sink, "2x2");
  define_size<4, 2>(sink, "4x2");
  define_size<8, 2>(sink, "8x2");
  define_size<2, 4>(sink, "2x4");
  define_size<4, 4>(sink, "4x4");
  define_size<0, 0>(sink, "any");
  op_special(sink, "ld.shared.part", &shared_part);
  op_special(sink, "ld.local", &local<false>);
  op_special(sink, "st.local", &local<true>);
  op_special(sink, "ld.cluster", &cluster<false>);
  op_special(sink, "st.cluster", &cluster<true>);
  op_special(sink, "ld.param.fixed", &param_fixed);
  op_special(sink, "ld.param.register", &param_register);
  op_special(sink, "ld.frame", &frame<false>);
  op_special(sink, "st.frame", &frame<true>);
}

}  // namespace vgpu::machine::VGPU_ISA
