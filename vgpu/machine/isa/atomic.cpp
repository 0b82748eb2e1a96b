// SPDX-License-Identifier: Apache-2.0
// atom and red. Lanes of a warp are served in order. Updates of global memory are also atomic with
// respect to other host threads.
#include "machine/cluster.hpp"
#include "machine/isa/floats.hpp"
#include "machine/isa/race.hpp"
#include "machine/isa/watch.hpp"
#include "machine/sums.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;

// F{}(old, b, c, global) is the new value.
template <class T, class F>
[[gnu::always_inline]] inline T update_shared(T* at, T b, T c) {
  const T old = *at;
  *at = F{}(old, b, c, false);
  return old;
}
template <class T, class F>
[[gnu::always_inline]] inline T update_global(T* at, T b, T c, bool& changed) {
  Bits<T>* const word = reinterpret_cast<Bits<T>*>(at);
  Bits<T> old = __atomic_load_n(word, __ATOMIC_RELAXED);
  Bits<T> next;
  do {
    next = bits_as<Bits<T>>(F{}(bits_as<T>(old), b, c, true));
  } while (
      !__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  changed |= next != old;
  return bits_as<T>(old);
}

// Notes the words that a compare-and-swap loop exchanges. Returns whether another warp of the block
// has exchanged one of them in shared memory.
bool note_exchanges(Warp& warp, u32 mask, u32 in_shared, u32 in_cluster, const u64* addresses,
                    const u32* offsets) {
  Block& block = *warp.block;
  const u64 in_launch = block.linear * kLanes + warp.id;
  for (const u32 i : SetBits(mask)) {
    if ((in_shared >> i & 1) != 0)
      block.exchanges.note(offsets[i], warp.id);
    else if ((in_cluster >> i & 1) == 0)
      block.counters.exchanges.note(addresses[i], in_launch);
  }
  return block.exchanges.contended() || in_cluster != 0;
}

// Adds to memory what ClusterSums::note() kept.
template <class T, class F>
void add_kept(u64 address, u64 value) {
  T* const at = reinterpret_cast<T*>(address);
  *at = F{}(*at, bits_as<T>(static_cast<Bits<T>>(value)), T{}, true);
}

// For an exchange that changes only the upper half of its word, only that half must be allocated.
template <class T>
void verify_halves(Warp& warp, const Insn& insn, u32 mask, u32 in_shared, const u64* addresses,
                   const u32* offsets, const T* compared, const T* next) {
  if constexpr (sizeof(T) == sizeof(u32)) {
    for (const u32 i : SetBits(mask)) {
      if ((bits_as<u32>(compared[i]) ^ bits_as<u32>(next[i])) >> 16 == 0) continue;
      u64 upper[kLanes] = {};
      u32 upper_offset[kLanes] = {};
      upper[i] = addresses[i] + sizeof(u16);
      upper_offset[i] = offsets[i] + sizeof(u16);
      if ((in_shared >> i & 1) != 0)
        verify_shared(warp, insn, 1u << i, upper_offset, sizeof(u16));
      else
        verify_global(warp, insn, 1u << i, upper, sizeof(u16));
    }
  }
}

// s[0]: address, s[1]: b, s[2]: c. For generic addresses, list is a predicate of the lanes that are
// served: those of global memory (kFlagGeneric), or of global and shared memory. Without list, no
// lane can have an address in another space.
template <class T, class F>
void atomic(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 addresses[kLanes];
  alignas(64) u32 offsets[kLanes];
  lane_addresses(window, insn, addresses);
  u32 in_shared = 0, in_cluster = 0;
  switch (static_cast<AtomicSpace>(insn.sub)) {
    case AtomicSpace::kGlobal: break;
    case AtomicSpace::kShared:
      in_shared = mask;
      lane_offsets(warp, window, insn, offsets);
      break;
    case AtomicSpace::kGeneric: {
      u32 in_global = 0;
      for (u32 i = 0; i < kLanes; ++i) {
        const AddressSpace space = space_of(addresses[i], warp.shared_window);
        in_shared |= static_cast<u32>(space == AddressSpace::kShared) << i;
        in_cluster |= static_cast<u32>(space == AddressSpace::kCluster) << i;
        in_global |= static_cast<u32>(space == AddressSpace::kGlobal) << i;
        const bool far = space == AddressSpace::kCluster;
        offsets[i] =
            static_cast<u32>(addresses[i] - (far ? warp.cluster_window : warp.shared_window));
      }
      if (insn.list != kNone) {
        const u32 served = in_global | ((insn.flags & kFlagGeneric) != 0 ? 0 : in_shared);
        set_predicate(window, insn.list, served, mask);
        mask &= served;
        if (mask == 0) return;
      }
      in_shared &= mask;
      in_cluster &= mask;
      break;
    }
    case AtomicSpace::kCluster:
      in_cluster = mask;
      for (u32 i = 0; i < kLanes; ++i) offsets[i] = static_cast<u32>(addresses[i]);
  }
  std::byte* hosts[kLanes] = {};
  u32 remote = 0;
  for (const u32 index : SetBits(in_cluster)) {
    const Lane lane{warp, insn, index};
    const SharedPlace place = shared_place(lane, offsets[lane.lane], sizeof(T), sizeof(T));
    touch_shared_place(lane, place, sizeof(T), true, observer::Access::kStrong);
    remote += place.block != warp.block ? 1 : 0;
    race_strong(warp, 1u << lane.lane, true, true,
                [&](u32) { return observer::Races::location(place.block->rank, place.offset); });
    hosts[lane.lane] = place.host();
  }
  if (remote != 0) {
    const bool measured =
        sizeof(T) == 4 && pattern_of(offsets, in_cluster, sizeof(T)) == Pattern::kContiguous;
    warp.site_counts[insn.site].add_remote(remote, sizeof(T), measured);
  }
  for (const u32 i : SetBits(in_shared)) hosts[i] = warp.shared + offsets[i];
  if (const u32 in_global = mask & ~in_shared & ~in_cluster; in_global != 0) {
    const Pattern pattern = pattern_of(addresses, in_global, sizeof(T));
    check_global(warp, insn, in_global, addresses, sizeof(T), pattern);
    watch_global(warp, insn, in_global, addresses, sizeof(T), pattern, Touch::kUpdate, true);
    count_atomic(warp, insn, in_global, addresses, sizeof(T));
  }
  if (in_shared != 0) {
    const Pattern pattern = pattern_of(offsets, in_shared, sizeof(T));
    check_shared(warp, insn, in_shared, offsets, sizeof(T), pattern);
    watch_shared(warp, insn, in_shared, offsets, sizeof(T), pattern, Touch::kUpdate);
    count_shared<true>(warp, insn, in_shared, offsets, sizeof(T), pattern);
    if (warp.race != nullptr &&
        !race_at_a_glance<true>(warp, insn, in_shared, offsets, sizeof(T), pattern, true)) {
      warp.race->access(warp, insn, in_shared, offsets, sizeof(T), true, observer::Access::kStrong,
                        0);
    }
  }
  race_strong(warp, mask & ~in_cluster, true, true, [&](u32 i) {
    return (in_shared >> i & 1) != 0 ? observer::Races::location(warp.block->rank, offsets[i])
                                     : observer::Races::location(addresses[i]);
  });
  const T* const b = slot<T>(window, insn.s[1]);
  const T* const c = slot<T>(window, insn.s[2]);
  if ((insn.flags & kFlagHalf) != 0)
    verify_halves(warp, insn, mask, in_shared, addresses, offsets, b, c);
  T* const d = slot<T>(window, insn.d);
  bool changed = false, lost = false;
  if (ClusterSums* const sums = warp.block->sums; sums != nullptr && (insn.flags & kFlagSum) != 0) {
    alignas(64) u64 values[kLanes];
    for (u32 i = 0; i < kLanes; ++i) values[i] = bits_as<Bits<T>>(b[i]);
    const u32 kept = mask & ~in_shared & ~in_cluster;
    sums->note(&add_kept<T, F>, kept, addresses, values);
    mask &= ~kept;
    changed = kept != 0;
  }
  for (const u32 i : SetBits(mask)) {
    T old;
    if (((in_shared | in_cluster) >> i & 1) != 0) {
      T* const at = reinterpret_cast<T*>(hosts[i]);
      old = update_shared<T, F>(at, b[i], c[i]);
      changed |= __builtin_memcmp(at, &old, sizeof(T)) != 0;
    } else {
      old = update_global<T, F>(reinterpret_cast<T*>(addresses[i]), b[i], c[i], changed);
    }
    if ((insn.flags & kFlagHasResult) != 0) d[i] = old;
    lost |= (insn.flags & kFlagCompared) != 0 && __builtin_memcmp(&old, &b[i], sizeof(T)) != 0;
  }
  if ((insn.flags & kFlagCompared) != 0)
    lost |= note_exchanges(warp, mask, in_shared, in_cluster, addresses, offsets);
  warp.block->counters.retried |= lost;
  if (changed)
    ++warp.progress;
  else
    note_poll(warp, insn, addresses[__builtin_ctz(mask)]);
}

// Checks the alignment of a vector of Insn::bytes bytes and writes its address to d. The atomics of
// its elements check only their own size.
void check_aligned(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 addresses[kLanes];
  lane_addresses(window, insn, addresses);
  for (const u32 i : SetBits(mask)) {
    if (addresses[i] % insn.bytes != 0) {
      fault_access({warp, insn, i}, AddressSpace::kGlobal, addresses[i], insn.bytes);
    }
  }
  blend(slot<u64>(window, insn.d), addresses, mask);
}

template <class T, class F>
void define(OperationSink& sink, const char* name, F) {
  sink.add(name, "", Shape{arg_of<T>(), {Arg::kAbsent, arg_of<T>(), arg_of<T>()}}, &atomic<T, F>);
}

template <class T>
void define_integer_atomics(OperationSink& sink, const char* add, const char* min,
                            const char* max) {
  using U = std::make_unsigned_t<T>;
  define<T>(sink, add, [](T a, T b, T, bool) {
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  });
  define<T>(sink, min, [](T a, T b, T, bool) { return a < b ? a : b; });
  define<T>(sink, max, [](T a, T b, T, bool) { return a > b ? a : b; });
}

template <class T>
void define_bit_atomics(OperationSink& sink, const char* conjunction, const char* disjunction,
                        const char* exclusive, const char* exchange, const char* compare) {
  define<T>(sink, conjunction, [](T a, T b, T, bool) { return static_cast<T>(a & b); });
  define<T>(sink, disjunction, [](T a, T b, T, bool) { return static_cast<T>(a | b); });
  define<T>(sink, exclusive, [](T a, T b, T, bool) { return static_cast<T>(a ^ b); });
  define<T>(sink, exchange, [](T, T b, T, bool) { return b; });
  define<T>(sink, compare, [](T a, T b, T c, bool) { return a == b ? c : a; });
}

// Updates a pair of halves in one word, each half independently.
template <class H, class F>
[[gnu::always_inline]] inline u32 both(u32 a, u32 b, F f) {
  const H low = f(H{static_cast<u16>(a)}, H{static_cast<u16>(b)});
  const H high = f(H{static_cast<u16>(a >> 16)}, H{static_cast<u16>(b >> 16)});
  return low.bits | static_cast<u32>(high.bits) << 16;
}
[[gnu::always_inline]] inline f16 add(f16 a, f16 b) { return to_half(to_float(a) + to_float(b)); }
[[gnu::always_inline]] inline bf16 add(bf16 a, bf16 b) {
  return to_bfloat(to_float(a) + to_float(b));
}

// F{}(a, b) of 16 bits each, and of both halves of a word.
template <class H, class F>
void define_half_atomic(OperationSink& sink, const char* one, const char* two, F) {
  define<u16>(sink, one, [](u16 a, u16 b, u16, bool) { return F{}(H{a}, H{b}).bits; });
  define<u32>(sink, two, [](u32 a, u32 b, u32, bool) { return both<H>(a, b, F{}); });
}
template <class H>
void define_half_atomics(OperationSink& sink, const char* add_one, const char* min_one,
                         const char* max_one, const char* add_two, const char* min_two,
                         const char* max_two) {
  define_half_atomic<H>(sink, add_one, add_two, [](H a, H b) { return add(a, b); });
  define_half_atomic<H>(sink, min_one, min_two,
                        [](H a, H b) { return extreme_half<H, false>(a, b); });
  define_half_atomic<H>(sink, max_one, max_two,
                        [](H a, H b) { return extreme_half<H, true>(a, b); });
}

}  // namespace

void define_atomic(OperationSink& sink) {
  op_special(sink, "check.aligned", &check_aligned);
  define_integer_atomics<u32>(sink, "atom.add.u32", "atom.min.u32", "atom.max.u32");
  define_integer_atomics<i32>(sink, "atom.add.s32", "atom.min.s32", "atom.max.s32");
  define_integer_atomics<u64>(sink, "atom.add.u64", "atom.min.u64", "atom.max.u64");
  define_integer_atomics<i64>(sink, "atom.add.s64", "atom.min.s64", "atom.max.s64");
  define_bit_atomics<u32>(sink, "atom.and.b32", "atom.or.b32", "atom.xor.b32", "atom.exch.b32",
                          "atom.cas.b32");
  define_bit_atomics<u64>(sink, "atom.and.b64", "atom.or.b64", "atom.xor.b64", "atom.exch.b64",
                          "atom.cas.b64");
  define<u16>(sink, "atom.cas.b16", [](u16 a, u16 b, u16 c, bool) { return a == b ? c : a; });
  define<u32>(sink, "atom.inc.u32", [](u32 a, u32 b, u32, bool) { return a >= b ? 0u : a + 1; });
  define<u32>(sink, "atom.dec.u32",
              [](u32 a, u32 b, u32, bool) { return a == 0 || a > b ? b : a - 1; });
  // On global memory, FP32 addition flushes subnormals; on shared memory it does not.
  define<float>(sink, "atom.add.f32", [](float a, float b, float, bool global) {
    return global ? canonical(flush(flush(a) + flush(b))) : canonical(a + b);
  });
  define<double>(sink, "atom.add.f64",
                 [](double a, double b, double, bool) { return canonical(a + b); });
  define_half_atomics<f16>(sink, "atom.add.noftz.f16", "atom.min.noftz.f16", "atom.max.noftz.f16",
                           "atom.add.noftz.f16x2", "atom.min.noftz.f16x2", "atom.max.noftz.f16x2");
  define_half_atomics<bf16>(sink, "atom.add.noftz.bf16", "atom.min.noftz.bf16",
                            "atom.max.noftz.bf16", "atom.add.noftz.bf16x2", "atom.min.noftz.bf16x2",
                            "atom.max.noftz.bf16x2");
}

}  // namespace vgpu::machine::VGPU_ISA
