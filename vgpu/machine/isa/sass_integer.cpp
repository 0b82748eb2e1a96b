// SPDX-License-Identifier: Apache-2.0
// Machine code: integers. Operands a, b, c are s[0] to s[2]; s[3] a predicate or carry; d, list and
// target results.
#include "machine/isa/pair_order.hpp"
#include "machine/isa/sass.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// d = a + b + c with sign modifiers. With .X the signs are complements and there are two carry
// inputs. Carry outputs: list (sum of at least 2^32) and target (at least 2^33).
template <bool kUniform>
void add3(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const u32 fa = mask_if(m, kNegateA), fb = mask_if(m, kNegateB), fc = mask_if(m, kNegateC);
  const u32 signs = (fa & 1) + (fb & 1) + (fc & 1);
  const bool extended = has(m, kExtended);
  if (!extended && insn.list == kNone && insn.target == kNone) {
    write_row<kUniform>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
      return (a[i] ^ fa) + (b[i] ^ fb) + (c[i] ^ fc) + signs;
    });
    return;
  }
  const u32 in = extended ? predicate(window, insn.s[3], m, kNegateP) : 0;
  const u32 in2 = extended ? predicate(window, static_cast<u32>(m >> kSlotAt), m, kNegateQ) : 0;
  alignas(64) u32 result[kLanes], carries[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 x = a[i] ^ fa, y = b[i] ^ fb, z = c[i] ^ fc;
    const u32 carry = extended ? (in >> i & 1) + (in2 >> i & 1) : signs;
    const u32 sum = x + y, sum2 = sum + z, sum3 = sum2 + carry;
    result[i] = sum3;
    carries[i] = u32{sum < x} + u32{sum2 < z} + u32{sum3 < carry};
  }
  blend(slot<u32>(window, insn.d), result, lanes);
  const auto carry_of = [&](u32 least) VGPU_INLINE {
    return lanes_where([&](u32 i) { return carries[i] >= least; });
  };
  if (insn.list != kNone) set_predicate(window, insn.list, carry_of(1), lanes);
  if (insn.target != kNone) set_predicate(window, insn.target, carry_of(2), lanes);
}

// d = a + b; list: the carry.
void add_with_carry(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const u32 carries = lanes_where([&](u32 i) VGPU_INLINE { return a[i] + b[i] < a[i]; });
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) VGPU_INLINE { return a[i] + b[i]; });
  set_predicate(window, insn.list, carries, mask);
}

// d = a + b + c + the carry s[3].
void add_carry(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const u32 in = *slot<u32>(window, insn.s[3]);
  write_lanes<u32>(window, insn.d, mask,
                   [&](u32 i) VGPU_INLINE { return a[i] + b[i] + c[i] + (in >> i & 1); });
}

// d = a + b + c in 64 bits (two rows each), on the uniform datapath.
void add3_wide(Warp&, std::byte* window, const Insn& insn, u32) {
  const Modifiers m = modifiers(insn);
  const Pair a(window, insn.s[0]), b(window, insn.s[1]), c(window, insn.s[2]);
  const auto with_sign = [m](u64 x, Modifiers negate) { return has(m, negate) ? 0 - x : x; };
  write_pairs(window, insn.d, kAllLanes, [&](u32 i) {
    return with_sign(a[i], kNegateA) + with_sign(b[i], kNegateB) + with_sign(c[i], kNegateC);
  });
}

// d = a + b of each half.
void add_halves(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const u32 sa = has(m, kNegateA) ? kAllLanes : 1, sb = has(m, kNegateB) ? kAllLanes : 1;
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) {
    return ((a[i] * sa + b[i] * sb) & 0xffff) | ((a[i] >> 16) * sa + (b[i] >> 16) * sb) << 16;
  });
}

// d = a * b + c, the lower word.
template <bool kUniform>
void multiply_add(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const u32 fb = mask_if(m, kNegateB), fc = mask_if(m, kNegateC);
  if (has(m, kExtended)) {
    const u32 in = predicate(window, insn.s[3], m, kNegateP);
    write_row<kUniform>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
      return a[i] * ((b[i] ^ fb) + (fb & 1)) + (c[i] ^ fc) + (in >> i & 1);
    });
    return;
  }
  write_row<kUniform>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
    return a[i] * ((b[i] ^ fb) + (fb & 1)) + (c[i] ^ fc) + (fc & 1);
  });
}

template <bool kSignedProduct>
[[gnu::always_inline]] inline u64 product(u32 a, u32 b) {
  return kSignedProduct ? static_cast<u64>(i64{static_cast<i32>(a)} * static_cast<i32>(b))
                        : u64{a} * b;
}

// d (two rows) = a * b + c (two rows).
template <bool kSignedProduct>
void multiply_add_wide(std::byte* window, const Insn& insn, u32 lanes) {
  const Modifiers m = modifiers(insn);
  if (!has(m, kExtended | kNegateB | kNegateC) && insn.list == kNone) {
    alignas(64) u64 x[kLanes], y[kLanes], sums[kLanes];
    load_words(window, insn.s[0], x);
    load_words(window, insn.s[1], y);
    load_pairs(window, insn.s[2], sums);
    multiply_add_words<kSignedProduct>(x, y, sums);
    store_pairs(window, insn.d, lanes, sums);
    return;
  }
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const Pair c(window, insn.s[2]);
  const u64 fb = has(m, kNegateB) ? ~u64{0} : 0, fc = has(m, kNegateC) ? ~u64{0} : 0;
  const u32 in = has(m, kExtended) ? predicate(window, insn.s[3], m, kNegateP) : 0;
  u32 out = 0;
  write_pairs(window, insn.d, lanes, [&](u32 i) {
    const u64 p = (product<kSignedProduct>(a[i], b[i]) ^ fb) + (fb & 1);
    const u64 carry = has(m, kExtended) ? in >> i & 1 : fc & 1;
    const u64 sum = p + (c[i] ^ fc), total = sum + carry;
    out |= static_cast<u32>(sum < p || total < sum) << i;
    return total;
  });
  if (insn.list != kNone) set_predicate(window, insn.list, out, lanes);
}
template <bool kUniform>
void wide(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 lanes = lanes_of<kUniform>(mask);
  if (has(modifiers(insn), kSigned))
    multiply_add_wide<true>(window, insn, lanes);
  else
    multiply_add_wide<false>(window, insn, lanes);
}

// The upper word of a * b + c (two rows).
template <bool kUniform>
void multiply_add_high(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const Pair c(window, insn.s[2]);
  const bool is_signed = has(m, kSigned);
  alignas(64) u32 result[kLanes];
  u32 out = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const u64 p = is_signed ? product<true>(a[i], b[i]) : product<false>(a[i], b[i]);
    const u64 sum = p + c[i];
    result[i] = static_cast<u32>(sum >> 32);
    out |= static_cast<u32>(sum < p) << i;
  }
  blend(slot<u32>(window, insn.d), result, lanes);
  if (insn.list != kNone) set_predicate(window, insn.list, out, lanes);
}

// d = (a << shift) + b; with .HI the upper word of (c:a) << shift, c being a's sign with .SX32.
template <bool kUniform>
void lea(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const unsigned shift = bits_of(m, kShiftAt, 5);
  const bool extended = has(m, kExtended), high = has(m, kHigh), sign_extends = has(m, kSigned);
  const u64 flip = has(m, kNegateA) ? ~u64{0} : 0, minus = extended ? 0 : flip & 1;
  const u32 fb = mask_if(m, kNegateB);
  const u32 in = extended ? predicate(window, insn.s[3], m, kNegateP) : 0;
  if (!high && insn.list == kNone && !extended) {
    write_row<kUniform>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
      return ((a[i] << shift) ^ static_cast<u32>(flip)) + static_cast<u32>(minus) + (b[i] ^ fb) +
             (fb & 1);
    });
    return;
  }
  alignas(64) u32 result[kLanes], carries[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    u32 shifted;
    u64 carry = extended ? in >> i & 1 : fb & 1;
    if (high) {
      const u32 upper = sign_extends ? static_cast<u32>(static_cast<i32>(a[i]) >> 31) : c[i];
      const u64 value = ((a[i] | u64{upper} << 32) ^ flip) + minus;
      shifted = static_cast<u32>(value << shift >> 32);
    } else {
      shifted = (a[i] << shift) ^ static_cast<u32>(flip);
      carry += minus;  // added in the sum, because it may cause the carry out: b - 0 has no borrow
    }
    const u64 sum = u64{shifted} + (b[i] ^ fb) + carry;
    result[i] = static_cast<u32>(sum);
    carries[i] = static_cast<u32>(sum >> 32);
  }
  blend(slot<u32>(window, insn.d), result, lanes);
  if (insn.list != kNone) {
    const u32 out = lanes_where([&](u32 i) { return carries[i] != 0; });
    set_predicate(window, insn.list, out, lanes);
  }
}

// LEA without signs: the lower word, and its carry, the upper word, and the sum with a carry.
template <bool kCarries>
void lea_low(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const unsigned shift = bits_of(modifiers(insn), kShiftAt, 5);
  const auto sum = [&](u32 i) VGPU_INLINE { return (a[i] << shift) + b[i]; };
  const u32 carries = kCarries ? lanes_where([&](u32 i) VGPU_INLINE { return sum(i) < b[i]; }) : 0;
  write_lanes<u32>(window, insn.d, mask, sum);
  if (kCarries) set_predicate(window, insn.list, carries, mask);
}
template <bool kCarries>
void lea_high(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const unsigned shift = bits_of(m, kShiftAt, 5), rest = 32 - shift;
  const u32 in = kCarries ? predicate(window, insn.s[3], m, kNegateP) : 0;
  const auto write = [&](auto upper) VGPU_INLINE {
    write_lanes<u32>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
      return (upper(i) << shift | a[i] >> rest) + b[i] + (in >> i & 1);
    });
  };
  if (has(m, kSigned))
    write([&](u32 i) VGPU_INLINE { return static_cast<u32>(static_cast<i32>(a[i]) >> 31); });
  else
    write([&](u32 i) VGPU_INLINE { return c[i]; });
}

// With .EX, target holds the comparison of the lower words (equal: true).
template <bool kUniform>
void isetp(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const u32 top = has(m, kSigned) ? 0x80000000 : 0;
  const auto less = [&]() VGPU_INLINE {
    return where<kUniform>([&](u32 i) { return (a[i] ^ top) < (b[i] ^ top); });
  };
  const auto greater = [&]() VGPU_INLINE {
    return where<kUniform>([&](u32 i) { return (a[i] ^ top) > (b[i] ^ top); });
  };
  const auto equal = [&]() VGPU_INLINE {
    return where<kUniform>([&](u32 i) { return a[i] == b[i]; });
  };
  const bool extended = has(m, kExtended);
  const u32 lower = extended ? predicate(window, insn.target, m, kNegateQ) : 0;
  u32 result;
  switch (bits_of(m, kCompareAt, 4)) {
    case 0: result = 0; break;
    case 1: result = extended ? less() | (equal() & lower) : less(); break;
    case 2: result = extended ? equal() & lower : equal(); break;
    case 3: result = extended ? less() | (equal() & lower) : ~greater(); break;
    case 4: result = extended ? greater() | (equal() & lower) : greater(); break;
    case 5: result = ~equal() | lower; break;
    case 6: result = extended ? greater() | (equal() & lower) : ~less(); break;
    default: result = kAllLanes;
  }
  combine(window, insn, m, result, lanes);
}

// d = s[3] ? a : b.
template <bool kUniform>
void select(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 p = predicate(window, insn.s[3], modifiers(insn), kNegateP);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  write_row<kUniform>(window, insn.d, mask,
                      [&](u32 i) VGPU_INLINE { return (p >> i & 1) != 0 ? a[i] : b[i]; });
}

// The lesser (greater) of two numbers or, with kHigh, of each half.
struct Extreme {
  explicit Extreme(Modifiers m)
      : halves(has(m, kHigh)),
        top(!has(m, kSigned) ? 0
            : halves         ? 0x8000
                             : 0x80000000),
        relu(has(m, kRelu)) {}
  [[gnu::always_inline]] u32 number(u32 x, u32 y, bool least) const {
    return ((x ^ top) < (y ^ top)) == least ? x : y;
  }
  [[gnu::always_inline]] u32 operator()(u32 x, u32 y, bool least) const {
    if (!halves) return number(x, y, least);
    return number(x & 0xffff, y & 0xffff, least) | number(x >> 16, y >> 16, least) << 16;
  }
  // The sum of x and y; the carry between halves is dropped.
  [[gnu::always_inline]] u32 sum(u32 x, u32 y) const {
    return halves ? ((x + y) & 0xffff) | ((x & 0xffff0000) + (y & 0xffff0000)) : x + y;
  }
  [[gnu::always_inline]] u32 result(u32 x) const {
    if (!relu) return x;
    if (!halves) return (x & top) != 0 ? 0 : x;
    return ((x & 0x8000) != 0 ? 0 : x & 0xffff) | ((x >> 31) != 0 ? 0 : x & 0xffff0000);
  }
  bool halves;
  u32 top;
  bool relu;
};

// The minimum of a + c and b if s[3], else the maximum. (VIMNMX has no c: a row of zeros.) list,
// target: predicates, true where the lower (upper) half is a's.
void minmax(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Extreme extreme(m);
  const u32 p = predicate(window, insn.s[3], m, kNegateP), fc = mask_if(m, kNegateC);
  const u32 one = (extreme.halves ? 0x10001u : 1u) & fc;
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  if (!extreme.halves) {
    const u32 top = extreme.top;
    by_predicate(p, mask, [&](auto least) VGPU_INLINE {
      write_lanes<u32>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
        const u32 x = (a[i] + (c[i] ^ fc) + one) ^ top, y = b[i] ^ top;
        return extreme.result((least(i) ? x < y ? x : y : x > y ? x : y) ^ top);
      });
    });
    return;
  }
  alignas(64) u32 d[kLanes];
  u32 low = 0, high = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 x = extreme.sum(a[i], extreme.sum(c[i] ^ fc, one));
    d[i] = extreme.result(extreme(x, b[i], (p >> i & 1) != 0));
    low |= static_cast<u32>((d[i] & 0xffff) == (a[i] & 0xffff)) << i;
    high |= static_cast<u32>(d[i] >> 16 == a[i] >> 16) << i;
  }
  blend(slot<u32>(window, insn.d), d, mask);
  if (insn.target != kNone) set_predicate(window, insn.target, high, mask);
  if (insn.list != kNone) set_predicate(window, insn.list, low, mask);
}

// The minimum of three if s[3], else the maximum.
void minmax_of_three(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Extreme extreme(m);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  if (!extreme.halves) {
    by_predicate(p, mask, [&](auto least) VGPU_INLINE {
      write_lanes<u32>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
        const auto chosen = [&](u32 x, u32 y) VGPU_INLINE { return (x < y) == least(i) ? x : y; };
        const u32 x = a[i] ^ extreme.top, y = b[i] ^ extreme.top, z = c[i] ^ extreme.top;
        return extreme.result(chosen(chosen(x, y), z) ^ extreme.top);
      });
    });
    return;
  }
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) {
    const bool least = (p >> i & 1) != 0;
    return extreme.result(extreme(extreme(a[i], b[i], least), c[i], least));
  });
}

}  // namespace

void define_sass_integer(OperationSink& sink) {
  define_twins(sink, "sass.iadd3", &add3<false>, &add3<true>);
  op_special(sink, "u.sass.iadd3.wide", &add3_wide);
  op_special(sink, "sass.iadd3.halves", &add_halves);
  op(sink, "sass.iadd3.plain", [](u32 a, u32 b, u32 c) { return a + b + c; });
  op(sink, "sass.iadd3.less", [](u32 a, u32 b, u32 c) { return a + b - c; });
  op_special(sink, "sass.iadd3.carry", &add_with_carry);
  op_special(sink, "sass.iadd3.extended", &add_carry);
  op_special(sink, "sass.lea.low", &lea_low<false>);
  op_special(sink, "sass.lea.carry", &lea_low<true>);
  op_special(sink, "sass.lea.high", &lea_high<false>);
  op_special(sink, "sass.lea.extended", &lea_high<true>);
  define_twins(sink, "sass.imad", &multiply_add<false>, &multiply_add<true>);
  define_twins(sink, "sass.imad.wide", &wide<false>, &wide<true>);
  define_twins(sink, "sass.imad.hi", &multiply_add_high<false>, &multiply_add_high<true>);
  define_twins(sink, "sass.lea", &lea<false>, &lea<true>);
  define_twins(sink, "sass.isetp", &isetp<false>, &isetp<true>);
  define_twins(sink, "sass.sel", &select<false>, &select<true>);
  op_special(sink, "sass.vimnmx", &minmax);
  op_special(sink, "sass.vimnmx3", &minmax_of_three);
}

}  // namespace vgpu::machine::VGPU_ISA
