// SPDX-License-Identifier: Apache-2.0
// Machine code: integers, bits and predicates. Operands a, b, c are s[0] to s[2]; s[3] a predicate or carry; d, list and
// target results.
#include "engine/execute/isa/sass.hpp"

namespace vgpu::execute::VGPU_ISA {
namespace {

using namespace sass;

// d = a + b + c with their signs. With .X signs are complements and two carries come in. Carries go out to list
// (sum of at least 2^32) and target (at least 2^33).
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
    write_lanes<u32>(
        window, insn.d, lanes, [&](u32 i) __attribute__((always_inline)) {
          return (a[i] ^ fa) + (b[i] ^ fb) + (c[i] ^ fc) + signs;
        });
    return;
  }
  const u32 in = extended ? predicate(window, insn.s[3], m, kNegateP) : 0;
  const u32 in2 = extended ? predicate(window, static_cast<u32>(m >> kSlotAt), m, kNegateQ) : 0;
  alignas(64) u32 result[kLanes];
  u32 out = 0, out2 = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const u64 carry = extended ? (in >> i & 1) + (in2 >> i & 1) : signs;
    const u64 sum = u64{a[i] ^ fa} + (b[i] ^ fb) + (c[i] ^ fc) + carry;
    result[i] = static_cast<u32>(sum);
    out |= static_cast<u32>(sum >> 32 >= 1) << i;
    out2 |= static_cast<u32>(sum >> 32 >= 2) << i;
  }
  blend(slot<u32>(window, insn.d), result, lanes);
  if (insn.list != kNone) set_predicate(window, insn.list, out, lanes);
  if (insn.target != kNone) set_predicate(window, insn.target, out2, lanes);
}

// d = a * b + c, the lower word.
template <bool kUniform>
void multiply_add(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const u32 fb = mask_if(m, kNegateB), fc = mask_if(m, kNegateC);
  if (has(m, kExtended)) {
    const u32 in = predicate(window, insn.s[3], m, kNegateP);
    write_lanes<u32>(
        window, insn.d, lanes, [&](u32 i) __attribute__((always_inline)) {
          return a[i] * ((b[i] ^ fb) + (fb & 1)) + (c[i] ^ fc) + (in >> i & 1);
        });
    return;
  }
  write_lanes<u32>(
      window, insn.d, lanes, [&](u32 i) __attribute__((always_inline)) {
        return a[i] * ((b[i] ^ fb) + (fb & 1)) + (c[i] ^ fc) + (fc & 1);
      });
}

template <bool kSignedProduct>
[[gnu::always_inline]] inline u64 product(u32 a, u32 b) {
  return kSignedProduct ? static_cast<u64>(i64{static_cast<i32>(a)} * static_cast<i32>(b)) : u64{a} * b;
}

// d (two rows) = a * b + c (two rows).
template <bool kSignedProduct>
void multiply_add_wide(std::byte* window, const Insn& insn, u32 lanes) {
  const Modifiers m = modifiers(insn);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const Pair c(window, insn.s[2]);
  const u64 fb = has(m, kNegateB) ? ~u64{0} : 0, fc = has(m, kNegateC) ? ~u64{0} : 0;
  if (!has(m, kExtended) && insn.list == kNone) {
    write_pairs(
        window, insn.d, lanes, [&](u32 i) __attribute__((always_inline)) {
          return (product<kSignedProduct>(a[i], b[i]) ^ fb) + (fb & 1) + (c[i] ^ fc) + (fc & 1);
        });
    return;
  }
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
    write_lanes<u32>(
        window, insn.d, lanes, [&](u32 i) __attribute__((always_inline)) {
          return ((a[i] << shift) ^ static_cast<u32>(flip)) + static_cast<u32>(minus) + (b[i] ^ fb) +
                 (fb & 1);
        });
    return;
  }
  alignas(64) u32 result[kLanes];
  u32 out = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    u32 shifted;
    if (high) {
      const u32 upper = sign_extends ? static_cast<u32>(static_cast<i32>(a[i]) >> 31) : c[i];
      const u64 value = ((a[i] | u64{upper} << 32) ^ flip) + minus;
      shifted = static_cast<u32>(value << shift >> 32);
    } else {
      shifted = ((a[i] << shift) ^ static_cast<u32>(flip)) + static_cast<u32>(minus);
    }
    const u64 sum = u64{shifted} + (b[i] ^ fb) + (extended ? in >> i & 1 : fb & 1);
    result[i] = static_cast<u32>(sum);
    out |= static_cast<u32>(sum >> 32) << i;
  }
  blend(slot<u32>(window, insn.d), result, lanes);
  if (insn.list != kNone) set_predicate(window, insn.list, out, lanes);
}

[[gnu::always_inline]] inline u32 look_up(u32 table, u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (u32 row = 0; row < 8; ++row) {
    const u32 on = 0u - (table >> row & 1);
    result |= on & ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  }
  return result;
}

template <bool kUniform>
void lop3(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const u32 table = bits_of(m, kTableAt, 8);
  alignas(64) u32 result[kLanes];
  switch (table) {
    case 0xc0:
      for (u32 i = 0; i < kLanes; ++i) result[i] = a[i] & b[i];
      break;
    case 0xfc:
      for (u32 i = 0; i < kLanes; ++i) result[i] = a[i] | b[i];
      break;
    case 0x3c:
      for (u32 i = 0; i < kLanes; ++i) result[i] = a[i] ^ b[i];
      break;
    case 0xf8:
      for (u32 i = 0; i < kLanes; ++i) result[i] = a[i] | (b[i] & c[i]);
      break;
    default:
      for (u32 i = 0; i < kLanes; ++i) result[i] = look_up(table, a[i], b[i], c[i]);
  }
  if (insn.list != kNone) {
    u32 some = 0;
    for (u32 i = 0; i < kLanes; ++i) some |= static_cast<u32>(result[i] != 0) << i;
    const u32 p = predicate(window, insn.s[3], m, kNegateP);
    set_predicate(window, insn.list, has(m, kHigh) ? some & p : some | p, lanes);
  }
  blend(slot<u32>(window, insn.d), result, lanes);
}

template <bool kUniform>
void plop3(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 a = predicate(window, insn.s[0], m, kNegateP), b = predicate(window, insn.s[1], m, kNegateQ),
            c = predicate(window, insn.s[2], m, kNegateR);
  const u32 first = look_up(bits_of(m, kTableAt, 8), a, b, c),
            second = look_up(bits_of(m, kTable2At, 8), a, b, c);
  if (insn.d != kNone) set_predicate(window, insn.d, first, lanes);
  if (insn.list != kNone) set_predicate(window, insn.list, second, lanes);
}

// Shifts of (c:a) by b, of which the lower or the upper word is the result; types with 32 bits shift one word only
// where the upper word is asked for to the right, or the lower to the left.
template <bool kUniform>
void shf(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const unsigned type = bits_of(m, kTypeAt, 3);  // S64, U64, S32, U32
  const bool wide64 = type < 2, is_signed = type == 0 || type == 2;
  const bool right = has(m, kRight), high = has(m, kHigh);
  const u32 limit = wide64 ? 64 : 32;
  const u32 wrap = has(m, kWrap) ? limit - 1 : kAllLanes;
  write_lanes<u32>(window, insn.d, lanes, [&](u32 i) {
    const u32 count = b[i] & wrap, n = count > limit ? limit : count;
    const u64 value = a[i] | u64{c[i]} << 32;
    if (!right) {
      if (!wide64 && !high) return n > 31 ? 0 : a[i] << n;
      const u64 shifted = n > 63 ? 0 : value << n;
      return static_cast<u32>(high ? shifted >> 32 : shifted);
    }
    if (!wide64 && high) {
      if (is_signed) return static_cast<u32>(static_cast<i32>(c[i]) >> (n > 31 ? 31 : n));
      return n > 31 ? 0 : c[i] >> n;
    }
    const u64 shifted = !wide64     ? value >> n
                        : is_signed ? static_cast<u64>(static_cast<i64>(value) >> (n > 63 ? 63 : n))
                        : n > 63    ? 0
                                    : value >> n;
    return static_cast<u32>(high ? shifted >> 32 : shifted);
  });
}

[[gnu::always_inline]] inline void combine(std::byte* window, const Insn& insn, Modifiers m, u32 result,
                                           u32 lanes) {
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  const auto with = [&](u32 r) {
    switch (bits_of(m, kCombineAt, 2)) {
      case 0:
        return r & p;
      case 1:
        return r | p;
      default:
        return r ^ p;
    }
  };
  if (insn.d != kNone) set_predicate(window, insn.d, with(result), lanes);
  if (insn.list != kNone) set_predicate(window, insn.list, with(~result), lanes);
}

// With .EX, target says how the lower words compare (equal ones: true).
template <bool kUniform>
void isetp(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const u32 top = has(m, kSigned) ? 0x80000000 : 0;
  u32 less = 0, equal = 0;
  for (u32 i = 0; i < kLanes; ++i) less |= static_cast<u32>((a[i] ^ top) < (b[i] ^ top)) << i;
  for (u32 i = 0; i < kLanes; ++i) equal |= static_cast<u32>(a[i] == b[i]) << i;
  const u32 greater = ~(less | equal);
  const bool extended = has(m, kExtended);
  const u32 lower = extended ? predicate(window, insn.target, m, kNegateQ) : 0;
  u32 result;
  switch (bits_of(m, kCompareAt, 4)) {
    case 0:
      result = 0;
      break;
    case 1:
      result = less | (equal & lower);
      break;
    case 2:
      result = extended ? equal & lower : equal;
      break;
    case 3:
      result = less | (extended ? equal & lower : equal);
      break;
    case 4:
      result = greater | (equal & lower);
      break;
    case 5:
      result = ~equal | lower;
      break;
    case 6:
      result = greater | (extended ? equal & lower : equal);
      break;
    default:
      result = kAllLanes;
  }
  combine(window, insn, m, result, lanes);
}

// d = s[3] ? a : b.
template <bool kUniform>
void select(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 p = predicate(window, insn.s[3], modifiers(insn), kNegateP);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  write_lanes<u32>(
      window, insn.d, lanes_of<kUniform>(mask), [&](u32 i) __attribute__((always_inline)) {
        return (p >> i & 1) != 0 ? a[i] : b[i];
      });
}

// The lesser of a + c and b where s[3], the greater elsewhere. (VIMNMX has no c: a row of zeros.)
void minmax(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 p = predicate(window, insn.s[3], m, kNegateP), top = has(m, kSigned) ? 0x80000000 : 0;
  const u32 fc = mask_if(m, kNegateC);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  write_lanes<u32>(
      window, insn.d, mask, [&](u32 i) __attribute__((always_inline)) {
        const u32 x = a[i] + (c[i] ^ fc) + (fc & 1);
        const bool less = (x ^ top) < (b[i] ^ top);
        return less == ((p >> i & 1) != 0) ? x : b[i];
      });
}

template <bool kUniform>
void population(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 flip = mask_if(modifiers(insn), kNegateA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  write_lanes<u32>(window, insn.d, lanes_of<kUniform>(mask),
                   [&](u32 i) { return static_cast<u32>(__builtin_popcount(a[i] ^ flip)); });
}

template <bool kUniform>
void reverse(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 flip = mask_if(modifiers(insn), kNegateA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  write_lanes<u32>(window, insn.d, lanes_of<kUniform>(mask), [&](u32 i) {
    u32 v = a[i] ^ flip;
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
  });
}

// The highest bit that differs from the sign (signed) or is set; with .SH its distance from the top.
template <bool kUniform>
void find_leading(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask), flip = mask_if(m, kNegateA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  u32 found = 0;
  alignas(64) u32 result[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    u32 v = a[i] ^ flip;
    if (has(m, kSigned) && static_cast<i32>(v) < 0) v = ~v;
    const u32 distance = v == 0 ? 0 : static_cast<u32>(__builtin_clz(v));
    result[i] = v == 0 ? kAllLanes : has(m, kHigh) ? distance : 31 - distance;
    found |= static_cast<u32>(v != 0) << i;
  }
  blend(slot<u32>(window, insn.d), result, lanes);
  if (insn.list != kNone) set_predicate(window, insn.list, found, lanes);
}

template <bool kUniform>
void permute(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  write_lanes<u32>(window, insn.d, lanes_of<kUniform>(mask), [&](u32 i) {
    const u64 bytes = a[i] | u64{c[i]} << 32;
    u32 result = 0;
    for (u32 k = 0; k < 4; ++k) {
      const u32 selector = b[i] >> 4 * k & 15;
      u32 byte = static_cast<u32>(bytes >> 8 * (selector & 7)) & 0xff;
      if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      result |= byte << 8 * k;
    }
    return result;
  });
}

// The lower b bits of a, with zeros or the sign above.
template <bool kUniform>
void extend_sign(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  write_lanes<u32>(window, insn.d, lanes_of<kUniform>(mask), [&](u32 i) {
    const u32 bits = has(m, kWrap) ? b[i] & 31 : b[i];
    if (bits >= 32) return a[i];
    if (bits == 0) return 0u;
    const u32 left = a[i] << (32 - bits);
    return has(m, kSigned) ? static_cast<u32>(static_cast<i32>(left) >> (32 - bits)) : left >> (32 - bits);
  });
}

// c + the sum of products of the bytes of a (signed where kSigned) and b (signed where kHigh).
void dot_bytes(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) {
    u32 sum = c[i];
    for (u32 k = 0; k < 4; ++k) {
      const u8 x = static_cast<u8>(a[i] >> 8 * k), y = static_cast<u8>(b[i] >> 8 * k);
      const i32 p = has(m, kSigned) ? static_cast<i8>(x) : x, q = has(m, kHigh) ? static_cast<i8>(y) : y;
      sum += static_cast<u32>(p * q);
    }
    return sum;
  });
}

template <bool kUniform>
void move(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  write_lanes<u32>(
      window, insn.d, lanes_of<kUniform>(mask), [&](u32 i) __attribute__((always_inline)) { return a[i]; });
}
template <bool kUniform>
void move_pair(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 lanes = lanes_of<kUniform>(mask);
  blend(slot<u32>(window, insn.d), slot<u32>(window, insn.s[0]), lanes);
  blend(slot<u32>(window, insn.d + kRow), slot<u32>(window, insn.s[0] + kRow), lanes);
}

// d = predicates P0 to P6 (at s[1], a word each) where the mask `target` is set, else a.
void predicates_to_register(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  const u32* const p = slot<u32>(window, insn.s[1]);
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) {
    u32 bits = 0;
    for (u32 k = 0; k < 7; ++k) bits |= (p[k] >> i & 1) << k;
    return (a[i] & ~insn.target) | (bits & insn.target);
  });
}
void register_to_predicates(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  for (u32 k = 0; k < 7; ++k) {
    if ((insn.target >> k & 1) == 0) continue;
    u32 value = 0;
    for (u32 i = 0; i < kLanes; ++i) value |= (a[i] >> k & 1) << i;
    set_predicate(window, insn.s[1] + 4 * k, value, mask);
  }
}

// d = a == b, as a number.
void equal_words(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) { return static_cast<u32>(a[i] == b[i]); });
}

}  // namespace

void define_sass_integer(OperationSink& sink) {
  define_twins(sink, "sass.iadd3", &add3<false>, &add3<true>);
  define_twins(sink, "sass.imad", &multiply_add<false>, &multiply_add<true>);
  define_twins(sink, "sass.imad.wide", &wide<false>, &wide<true>);
  define_twins(sink, "sass.imad.hi", &multiply_add_high<false>, &multiply_add_high<true>);
  define_twins(sink, "sass.lea", &lea<false>, &lea<true>);
  define_twins(sink, "sass.lop3", &lop3<false>, &lop3<true>);
  define_twins(sink, "sass.plop3", &plop3<false>, &plop3<true>);
  define_twins(sink, "sass.shf", &shf<false>, &shf<true>);
  define_twins(sink, "sass.isetp", &isetp<false>, &isetp<true>);
  define_twins(sink, "sass.sel", &select<false>, &select<true>);
  define_twins(sink, "sass.popc", &population<false>, &population<true>);
  define_twins(sink, "sass.brev", &reverse<false>, &reverse<true>);
  define_twins(sink, "sass.flo", &find_leading<false>, &find_leading<true>);
  define_twins(sink, "sass.prmt", &permute<false>, &permute<true>);
  define_twins(sink, "sass.sgxt", &extend_sign<false>, &extend_sign<true>);
  define_twins(sink, "sass.mov", &move<false>, &move<true>);
  define_twins(sink, "sass.mov64", &move_pair<false>, &move_pair<true>);
  op_special(sink, "sass.vimnmx", &minmax);
  op_special(sink, "sass.idp", &dot_bytes);
  op_special(sink, "sass.p2r", &predicates_to_register);
  op_special(sink, "sass.r2p", &register_to_predicates);
  op_special(sink, "sass.equal", &equal_words);
}

}  // namespace vgpu::execute::VGPU_ISA
