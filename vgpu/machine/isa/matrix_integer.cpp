// SPDX-License-Identifier: Apache-2.0
// mma and mma.sp of integers of 8, 4 and 1 bits. Sums are exact, then clamped (Insn::sub) or
// truncated to 32 bits.
#include "machine/fragments.hpp"
#include "machine/isa/synchronise.hpp"
#include "machine/isa/words.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// A register's part of a product.
using Dot = i32 (*)(u32 a, u32 b);

template <u32 kBits, bool kSigned>
[[gnu::always_inline]] inline i32 element(u32 word, u32 i) {
  const u32 top = word << (32 - kBits * (i + 1));
  if constexpr (kSigned) return static_cast<i32>(top) >> (32 - kBits);
  return static_cast<i32>(top >> (32 - kBits));
}
template <u32 kBits, bool kSignedA, bool kSignedB>
inline i32 dot(u32 a, u32 b) {
  i32 sum = 0;
  for (u32 i = 0; i < 32 / kBits; ++i)
    sum += element<kBits, kSignedA>(a, i) * element<kBits, kSignedB>(b, i);
  return sum;
}
inline i32 common_ones(u32 a, u32 b) { return __builtin_popcount(a & b); }
inline i32 different(u32 a, u32 b) { return __builtin_popcount(a ^ b); }

// Insn::list: the registers of d, a, b, c in this order. kWords: registers of 32 bits of a row of
// A.
template <Dot kDot, u32 M, u32 kWords, bool kSparse = false>
void product(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.roles |= observer::kMultiplies;
  using Factors = WordFactors<M, kWords, kSparse>;
  constexpr u32 kC = M * Factors::kColumns / kLanes;
  const u32* const d_slots = warp.lists + insn.list;
  const u32* const c_slots = d_slots + kC + Factors::kRegisters;
  const Factors factors(warp, window, insn, d_slots + kC);
  i32 d[kC][kLanes];
  for (u32 i = 0; i < kC; ++i) {
    const i32* const c = slot<i32>(window, c_slots[i]);
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const Place at = place_in_c(lane, i);
      i64 sum = c[lane];
      for (u32 w = 0; w < kWords; ++w)
        sum += kDot(factors.of_a(at.row, w), factors.of_b(at.row, at.column, w));
      constexpr i64 kMost = 0x7fffffff;
      if ((insn.sub & kSparseSaturate) != 0)
        sum = sum > kMost ? kMost : sum < -kMost - 1 ? -kMost - 1 : sum;
      d[i][lane] = static_cast<i32>(sum);
    }
  }
  for (u32 i = 0; i < kC; ++i) {
    if (d_slots[i] != kNone) __builtin_memcpy(slot<i32>(window, d_slots[i]), d[i], sizeof(d[i]));
  }
  ++warp.pc;
}

// The three shapes that all types have: the small one, and those of 16 rows.
template <Dot kDot>
void define_shapes(OperationSink& sink, const char* small, const char* flat, const char* deep,
                   const char* types) {
  sink.add(small, types, {}, &product<kDot, 8, 4>, true);
  sink.add(flat, types, {}, &product<kDot, 16, 4>, true);
  sink.add(deep, types, {}, &product<kDot, 16, 8>, true);
}

template <Dot kDot>
void define_sparse(OperationSink& sink, const char* flat, const char* deep, const char* types) {
  sink.add(flat, types, {}, &product<kDot, 16, 4, true>, true);
  sink.add(deep, types, {}, &product<kDot, 16, 8, true>, true);
}

template <u32 kBits>
void define_sparse_types(OperationSink& sink, const char* flat, const char* deep, const char* ss,
                         const char* su, const char* us, const char* uu) {
  define_sparse<&dot<kBits, true, true>>(sink, flat, deep, ss);
  define_sparse<&dot<kBits, true, false>>(sink, flat, deep, su);
  define_sparse<&dot<kBits, false, true>>(sink, flat, deep, us);
  define_sparse<&dot<kBits, false, false>>(sink, flat, deep, uu);
}

template <u32 kBits>
void define_types(OperationSink& sink, const char* small, const char* flat, const char* deep,
                  const char* ss, const char* su, const char* us, const char* uu) {
  define_shapes<&dot<kBits, true, true>>(sink, small, flat, deep, ss);
  define_shapes<&dot<kBits, true, false>>(sink, small, flat, deep, su);
  define_shapes<&dot<kBits, false, true>>(sink, small, flat, deep, us);
  define_shapes<&dot<kBits, false, false>>(sink, small, flat, deep, uu);
}

}  // namespace

void define_matrix_integer(OperationSink& sink) {
  define_types<8>(sink, "mma.m8n8k16.", "mma.m16n8k16.", "mma.m16n8k32.", "s8.s8.s32", "s8.u8.s32",
                  "u8.s8.s32", "u8.u8.s32");
  define_types<4>(sink, "mma.m8n8k32.", "mma.m16n8k32.", "mma.m16n8k64.", "s4.s4.s32", "s4.u4.s32",
                  "u4.s4.s32", "u4.u4.s32");
  define_sparse_types<8>(sink, "mma.sp.m16n8k32.", "mma.sp.m16n8k64.", "s8.s8.s32", "s8.u8.s32",
                         "u8.s8.s32", "u8.u8.s32");
  define_sparse_types<4>(sink, "mma.sp.m16n8k64.", "mma.sp.m16n8k128.", "s4.s4.s32", "s4.u4.s32",
                         "u4.s4.s32", "u4.u4.s32");
  define_shapes<&common_ones>(sink, "mma.m8n8k128.", "mma.m16n8k128.", "mma.m16n8k256.",
                              "b1.and.s32");
  define_shapes<&different>(sink, "mma.m8n8k128.", "mma.m16n8k128.", "mma.m16n8k256.",
                            "b1.xor.s32");
}

}  // namespace vgpu::machine::VGPU_ISA
