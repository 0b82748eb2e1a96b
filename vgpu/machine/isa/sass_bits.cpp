// SPDX-License-Identifier: Apache-2.0
// Machine code: bits, predicates and moves. Operands a, b, c are s[0] to s[2]; s[3] a predicate; d
// and list results.
#include "machine/isa/bit_functions.hpp"
#include "machine/isa/sass.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

template <bool kUniform>
void lop3(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const u32 table = bits_of(m, kTableAt, 8);
  const auto write = [&](auto f) VGPU_INLINE {
    if (insn.list != kNone) {
      const u32 some = where<kUniform>([&](u32 i) { return f(i) != 0; });
      const u32 p = predicate(window, insn.s[3], m, kNegateP);
      set_predicate(window, insn.list, has(m, kHigh) ? some & p : some | p, lanes);
    }
    write_row<kUniform>(window, insn.d, mask, f);
  };
  if (table == 0xc0) return write([&](u32 i) VGPU_INLINE { return a[i] & b[i]; });
  write([&](u32 i) VGPU_INLINE { return look_up(table, a[i], b[i], c[i]); });
}

// Frequent tables.
template <u32... kTables>
void define_tables(OperationSink& sink) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto define = [&]<u32 kTable>(std::integral_constant<u32, kTable>) {
    const char suffix[] = {kDigits[kTable >> 4], kDigits[kTable & 15], 0};
    op(sink, "sass.lop3.", suffix, [](u32 a, u32 b, u32 c) { return look_up(kTable, a, b, c); });
  };
  (define(std::integral_constant<u32, kTables>{}), ...);
}

template <bool kUniform>
void plop3(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 lanes = lanes_of<kUniform>(mask);
  const u32 a = predicate(window, insn.s[0], m, kNegateP),
            b = predicate(window, insn.s[1], m, kNegateQ),
            c = predicate(window, insn.s[2], m, kNegateR);
  const u32 first = look_up(bits_of(m, kTableAt, 8), a, b, c),
            second = look_up(bits_of(m, kTable2At, 8), a, b, c);
  if (insn.d != kNone) set_predicate(window, insn.d, first, lanes);
  if (insn.list != kNone) set_predicate(window, insn.list, second, lanes);
}

// Shifts (c:a) by b; the result is the lower or the upper word. The 32-bit types shift a single
// word for the upper word to the right or the lower word to the left.
template <bool kUniform>
void shf(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const unsigned type = bits_of(m, kTypeAt, 3);  // S64, U64, S32, U32
  const bool wide64 = type < 2, is_signed = type == 0 || type == 2;
  const bool right = has(m, kRight), high = has(m, kHigh);
  const u32 limit = wide64 ? 64 : 32;
  const u32 wrap = has(m, kWrap) ? limit - 1 : kAllLanes;
  const auto write = [&](auto f) VGPU_INLINE {
    write_row<kUniform>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
      const u32 count = b[i] & wrap;
      return f(i, count > limit ? limit : count);
    });
  };
  const auto value = [&](u32 i) VGPU_INLINE { return a[i] | u64{c[i]} << 32; };
  if (wide64) {
    write([&](u32 i, u32 n) VGPU_INLINE {
      const u64 shifted = !right ? n > 63 ? 0 : value(i) << n
                          : is_signed
                              ? static_cast<u64>(static_cast<i64>(value(i)) >> (n > 63 ? 63 : n))
                          : n > 63 ? 0
                                   : value(i) >> n;
      return static_cast<u32>(high ? shifted >> 32 : shifted);
    });
  } else if (right && high && is_signed) {
    write([&](u32 i, u32 n) VGPU_INLINE {
      return static_cast<u32>(static_cast<i32>(c[i]) >> (n > 31 ? 31 : n));
    });
  } else if (right && high) {
    write([&](u32 i, u32 n) VGPU_INLINE { return n > 31 ? 0 : c[i] >> n; });
  } else if (!right && !high) {
    write([&](u32 i, u32 n) VGPU_INLINE { return n > 31 ? 0 : a[i] << n; });
  } else if (right) {
    write([&](u32 i, u32 n)
              VGPU_INLINE { return n > 31 ? c[i] : a[i] >> n | c[i] << 1 << (31 - n); });
  } else {
    write([&](u32 i, u32 n)
              VGPU_INLINE { return n > 31 ? a[i] : c[i] << n | a[i] >> 1 >> (31 - n); });
  }
}

template <bool kUniform>
void population(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 flip = mask_if(modifiers(insn), kNegateA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  write_row<kUniform>(window, insn.d, mask,
                      [&](u32 i) { return static_cast<u32>(__builtin_popcount(a[i] ^ flip)); });
}

template <bool kUniform>
void reverse(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 flip = mask_if(modifiers(insn), kNegateA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  write_row<kUniform>(window, insn.d, mask, [&](u32 i) { return reverse32(a[i] ^ flip); });
}

// The highest bit that differs from the sign (signed) or is set; with .SH its distance from the
// top.
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
  const unsigned mode = bits_of(modifiers(insn), kTypeAt, 3);
  u32 apart = 0;
  for (u32 i = 0; i < kLanes; ++i) apart |= b[i] ^ b[0];
  constexpr u32 kSigns = 0x8888;
  if (!kUniform && mode == 0 && apart == 0 && (b[0] & kSigns) == 0) {
    // All lanes take the same bytes, of 32 bits.
    const u32* from[4];
    u32 right[4];
    for (u32 k = 0; k < 4; ++k) {
      const u32 selector = b[0] >> 4 * k & 7;
      from[k] = selector < 4 ? a : c;
      right[k] = 8 * (selector & 3);
    }
    write_lanes<u32>(window, insn.d, mask, [=](u32 i) VGPU_INLINE {
      return (from[0][i] >> right[0] & 0xff) | (from[1][i] >> right[1] & 0xff) << 8 |
             (from[2][i] >> right[2] & 0xff) << 16 | from[3][i] >> right[3] << 24;
    });
    return;
  }
  if (mode == 0) {
    write_row<kUniform>(window, insn.d, mask,
                        [&](u32 i) VGPU_INLINE { return permuted(a[i], c[i], b[i]); });
    return;
  }
  write_row<kUniform>(window, insn.d, mask, [&](u32 i) {
    return permuted(a[i], c[i], kPermuteModes[mode - 1][b[i] & 3]);
  });
}

// The lower b bits of a, with zeros or the sign above.
template <bool kUniform>
void extend_sign(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  write_row<kUniform>(window, insn.d, mask, [&](u32 i) {
    const u32 bits = has(m, kWrap) ? b[i] & 31 : b[i];
    if (bits >= 32) return a[i];
    if (bits == 0) return 0u;
    const u32 left = a[i] << (32 - bits);
    return has(m, kSigned) ? static_cast<u32>(static_cast<i32>(left) >> (32 - bits))
                           : left >> (32 - bits);
  });
}

// A mask of b bits that begins at bit a.
template <bool kUniform>
void make_mask(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const bool wraps = has(modifiers(insn), kWrap);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  write_row<kUniform>(window, insn.d, mask, [&](u32 i) {
    const u32 first = wraps ? a[i] & 31 : a[i], count = wraps ? b[i] & 31 : b[i];
    const u32 ones = count >= 32 ? kAllLanes : (1u << count) - 1;
    return first >= 32 ? 0 : ones << first;
  });
}

template <bool kUniform>
void move(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  write_row<kUniform>(window, insn.d, mask, [&](u32 i) VGPU_INLINE { return a[i]; });
}
template <bool kUniform>
void move_pair(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 lanes = lanes_of<kUniform>(mask);
  blend(slot<u32>(window, insn.d), slot<u32>(window, insn.s[0]), lanes);
  blend(slot<u32>(window, insn.d + kRow), slot<u32>(window, insn.s[0] + kRow), lanes);
}

// d = a with predicates P0 to P6 (at s[1], a word each) in byte `sub`, where the mask `target` is
// set.
template <bool kUniform>
void predicates_to_register(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  const u32* const p = slot<u32>(window, insn.s[1]);
  write_row<kUniform>(window, insn.d, mask, [&](u32 i) {
    u32 bits = 0;
    for (u32 k = 0; k < 7; ++k) bits |= (p[k] >> i & 1) << k;
    const u32 shift = 8 * insn.sub;
    return (a[i] & ~(insn.target << shift)) | (bits & insn.target) << shift;
  });
}
// Predicates of the mask `target` = bits of byte `sub` of a.
template <bool kUniform>
void register_to_predicates(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  for (u32 k = 0; k < 7; ++k) {
    if ((insn.target >> k & 1) == 0) continue;
    u32 value = 0;
    for (u32 i = 0; i < kLanes; ++i) value |= (a[i] >> (8 * insn.sub + k) & 1) << i;
    set_predicate(window, insn.s[1] + 4 * k, value, lanes_of<kUniform>(mask));
  }
}

// d = a == b, as a number.
void equal_words(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) { return static_cast<u32>(a[i] == b[i]); });
}

// The same for 64-bit values (u64 rows); the result is the lower word of a number.
void equal_pairs(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u64 *a = slot<u64>(window, insn.s[0]), *b = slot<u64>(window, insn.s[1]);
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) { return static_cast<u32>(a[i] == b[i]); });
}

}  // namespace

void define_sass_bits(OperationSink& sink) {
  define_twins(sink, "sass.lop3", &lop3<false>, &lop3<true>);
  define_tables<0x1e, 0x2d, 0x39, 0x4b, 0x56, 0x6a, 0x78, 0x80, 0x96, 0x9c, 0xa8, 0xac, 0xb8, 0xca,
                0xd8, 0xe2, 0xe4, 0xe8, 0xea, 0xf6, 0xf8, 0xfe>(sink);
  define_twins(sink, "sass.plop3", &plop3<false>, &plop3<true>);
  define_twins(sink, "sass.shf", &shf<false>, &shf<true>);
  define_twins(sink, "sass.popc", &population<false>, &population<true>);
  define_twins(sink, "sass.brev", &reverse<false>, &reverse<true>);
  define_twins(sink, "sass.flo", &find_leading<false>, &find_leading<true>);
  define_twins(sink, "sass.prmt", &permute<false>, &permute<true>);
  define_twins(sink, "sass.sgxt", &extend_sign<false>, &extend_sign<true>);
  define_twins(sink, "sass.bmsk", &make_mask<false>, &make_mask<true>);
  define_twins(sink, "sass.mov", &move<false>, &move<true>);
  define_twins(sink, "sass.mov64", &move_pair<false>, &move_pair<true>);
  define_twins(sink, "sass.p2r", &predicates_to_register<false>, &predicates_to_register<true>);
  define_twins(sink, "sass.r2p", &register_to_predicates<false>, &register_to_predicates<true>);
  op_special(sink, "sass.equal", &equal_words);
  op_special(sink, "sass.equal64", &equal_pairs);
}

}  // namespace vgpu::machine::VGPU_ISA
