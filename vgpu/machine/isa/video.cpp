// SPDX-License-Identifier: Apache-2.0
// Video instructions, one lane after the other.
#include "ir/video.hpp"
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

using i128 = __int128;

struct Range {
  u32 bits;
  bool is_signed;

  i64 least() const { return is_signed ? -(i64{1} << (bits - 1)) : 0; }
  i64 most() const { return (i64{1} << (is_signed ? bits - 1 : bits)) - 1; }
  i64 clamp(i128 value) const {
    return value < least() ? least() : value > most() ? most() : static_cast<i64>(value);
  }
  // The bits of `word` from `at` on.
  i64 part(u32 word, u32 at) const {
    const u32 top = word << (32 - bits - at);
    return is_signed ? static_cast<i32>(top) >> (32 - bits) : i64{top >> (32 - bits)};
  }
};

// Where the part of a word is that a selector names.
struct Selected {
  u32 bits, at;
};
Selected selected(u8 selector) {
  if (selector == 0) return {32, 0};
  return selector <= 4 ? Selected{8, 8u * (selector - 1u)} : Selected{16, 16u * (selector - 5u)};
}

bool holds(VideoTest test, i64 a, i64 b) {
  switch (test) {
    case VideoTest::kEq: return a == b;
    case VideoTest::kNe: return a != b;
    case VideoTest::kLt: return a < b;
    case VideoTest::kLe: return a <= b;
    case VideoTest::kGt: return a > b;
    default: return a >= b;
  }
}

// Before saturation; exact.
i128 primary(const Video& v, i64 a, i64 b) {
  switch (v.kind) {
    case VideoKind::kAdd: return a + b;
    case VideoKind::kSub: return a - b;
    case VideoKind::kAbsDiff: return a > b ? a - b : b - a;
    case VideoKind::kMin: return a < b ? a : b;
    case VideoKind::kMax: return a > b ? a : b;
    case VideoKind::kAverage: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoKind::kSet: return holds(v.test, a, b) ? 1 : 0;
    default: break;
  }
  const i64 by = v.has(kVideoWraps) ? b & 31 : b > 32 ? 32 : b;
  if (v.has(kVideoSaturates)) {  // the result has 34 bits before it is clamped
    const i128 exact = v.kind == VideoKind::kShl ? i128{a} * (i128{1} << by) : i128{a >> by};
    return static_cast<i64>(static_cast<u64>(exact) << 30) >> 30;
  }
  const Range word{32, v.has(kVideoSignedA)};
  return v.kind == VideoKind::kShl ? word.part(static_cast<u32>(i128{a} << by), 0) : a >> by;
}

// Two forms of vmad in which the compiler takes unsigned words for signed ones: a negated product,
// and a sum with a scale and saturation, which it then takes for an unsigned number of 64 bits.
bool scales_unsigned(const Video& v) {
  return v.kind == VideoKind::kMad && v.scale != 0 && v.has(kVideoSaturates) &&
         !v.has(kVideoSignedA) && !v.has(kVideoSignedB) && !v.has(kVideoNegated);
}
bool takes_signed_words(const Video& v) {
  return (v.kind == VideoKind::kMad && v.has(kVideoNegated)) || scales_unsigned(v);
}

u32 multiply_add(const Video& v, i64 a, i64 b, u32 c) {
  if (scales_unsigned(v)) {
    const i64 addend = v.has(kVideoNegatedC) ? -i64{static_cast<i32>(c)} : i64{static_cast<i32>(c)};
    const u64 sum = static_cast<u64>(a * b + addend + (v.has(kVideoPlusOne) ? 1 : 0));
    return static_cast<u32>(Range{32, false}.clamp(sum >> v.scale));
  }
  const bool is_signed =
      (v.flags & (kVideoSignedA | kVideoSignedB | kVideoNegated | kVideoNegatedC)) != 0;
  const i128 addend = is_signed ? i128{static_cast<i32>(c)} : i128{c};
  const i128 product = i128{a} * b;
  const i128 sum = (v.has(kVideoNegated) ? -product : product) +
                   (v.has(kVideoNegatedC) ? -addend : addend) + (v.has(kVideoPlusOne) ? 1 : 0);
  const i128 scaled = sum >> v.scale;
  return static_cast<u32>(v.has(kVideoSaturates) ? Range{32, is_signed}.clamp(scaled)
                                                 : static_cast<i64>(scaled));
}

// What the second operation makes of a scalar result, which is not cut to 32 bits for it. For the
// maximum it is, of sums, whose 32 bits the compiler extends by their sign.
u32 combine(const Video& v, i64 result, u32 c) {
  const i64 other = Range{32, v.has(kVideoSignedD)}.part(c, 0);
  const bool sums = v.kind == VideoKind::kAdd || v.kind == VideoKind::kSub;
  if (sums && v.second == VideoSecond::kMax) {
    result = static_cast<i32>(static_cast<u32>(result));
    if (!v.has(kVideoSignedD) && result < 0) return static_cast<u32>(result);
  }
  switch (v.second) {
    case VideoSecond::kAdd: return static_cast<u32>(result + other);
    case VideoSecond::kMin: return static_cast<u32>(result < other ? result : other);
    case VideoSecond::kMax: return static_cast<u32>(result > other ? result : other);
    case VideoSecond::kMerge: {
      const Selected place = selected(v.select_d);
      const u32 mask = place.bits == 32 ? ~0u : ((1u << place.bits) - 1) << place.at;
      // The compiler's shifts keep the part of the result that stands in the same place.
      const bool shifts = v.kind == VideoKind::kShl || v.kind == VideoKind::kShr;
      return (static_cast<u32>(result) << (shifts ? 0 : place.at) & mask) | (c & ~mask);
    }
    default: return static_cast<u32>(result);
  }
}

u32 scalar(const Video& v, u32 a, u32 b, u32 c) {
  const Selected of_a = selected(v.select_a), of_b = selected(v.select_b);
  const bool words = takes_signed_words(v);
  const i64 x = Range{of_a.bits, v.has(kVideoSignedA) || (words && of_a.bits == 32)}.part(a,
                                                                                          of_a.at),
            y = Range{of_b.bits, v.has(kVideoSignedB) || (words && of_b.bits == 32)}.part(b,
                                                                                          of_b.at);
  if (v.kind == VideoKind::kMad) return multiply_add(v, x, y, c);
  const i128 exact = primary(v, x, y);
  const Range d{selected(v.select_d).bits, v.has(kVideoSignedD)};
  return combine(v, v.has(kVideoSaturates) ? d.clamp(exact) : static_cast<i64>(exact), c);
}

u32 by_parts(const Video& v, u32 a, u32 b, u32 c) {
  const u32 bits = 32u / v.parts;
  const Range d{bits, v.has(kVideoSignedD)};
  u32 joined = 0, sum = c;
  for (u32 at = 0; at < 32; at += bits) {
    const i128 exact = primary(v, Range{bits, v.has(kVideoSignedA)}.part(a, at),
                               Range{bits, v.has(kVideoSignedB)}.part(b, at));
    const i64 part = v.has(kVideoSaturates) ? d.clamp(exact) : static_cast<i64>(exact);
    joined |= (static_cast<u32>(part) & ((1u << bits) - 1)) << at;
    sum += static_cast<u32>(part);
  }
  return v.second == VideoSecond::kAdd ? sum : joined;
}

void video(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Video v = Video::from(insn.imm);
  const u32* const a = slot<u32>(window, insn.s[0]);
  const u32* const b = slot<u32>(window, insn.s[1]);
  const u32* const c = slot<u32>(window, insn.s[2]);
  write_lanes<u32>(window, insn.d, mask, [&](u32 lane) {
    return v.parts == 1 ? scalar(v, a[lane], b[lane], c[lane])
                        : by_parts(v, a[lane], b[lane], c[lane]);
  });
}

}  // namespace

void define_video(OperationSink& sink) { op_special(sink, "video", &video); }

}  // namespace vgpu::machine::VGPU_ISA
