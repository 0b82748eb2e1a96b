// SPDX-License-Identifier: Apache-2.0
// Video instructions, compared with the PTX ISA's definitions.
#include <algorithm>

#include "conformance.hpp"

namespace {

using namespace conformance;

i64 clamped(i64 value, i64 least, i64 most) { return std::clamp(value, least, most); }
u64 word(i64 value) { return static_cast<u32>(value); }
constexpr i64 kLeast = -0x80000000LL, kMost = 0x7fffffff, kMostUnsigned = 0xffffffff;

std::vector<Case> words() {
  std::vector<Case> cases;
  add(cases, "vadd.u32.u32.u32", "rrr", [](i64 a, i64 b) { return word(a + b); });
  add(cases, "vadd.s32.u32.s32.sat", "rrr",
      [](u32 a, i32 b) { return word(clamped(i64(a) + b, kLeast, kMost)); });
  add(cases, "vadd.u32.s32.s32.sat %d, %a.b1, %b.h1;", "rrr",
      [](u64 a, u64 b) { return word(clamped(i8(a >> 8) + i16(b >> 16), 0, kMostUnsigned)); });
  add(cases, "vabsdiff.u32.s32.u32.add", "rrrr",
      [](i32 a, u32 b, i64 c) { return word(std::abs(i64(a) - i64(b)) + c); });
  add(cases, "vmin.u32.s32.s32.sat %d.b1, %a, %b, %c;", "rrrr", [](i32 a, i32 b, u32 c) {
    const i64 least = clamped(std::min(a, b), 0, 255);
    return (c & 0xffff00ffu) | static_cast<u64>(least) << 8;
  });
  add(cases, "vmax.s32.u32.s32.max", "rrrr",
      [](u32 a, i32 b, i32 c) { return word(std::max(std::max(i64(a), i64(b)), i64(c))); });
  add(cases, "vshl.u32.u32.u32.clamp", "rrr",
      [](u32 a, u32 b) { return b >= 32 ? 0 : word(i64(u64(a) << b)); });
  add(cases, "vshr.s32.s32.u32.wrap %d.h1, %a, %b, %c;", "rrrr",
      [](i32 a, u64 b, u32 c) { return (c & 0xffff) | (u32(a >> (b & 31)) & 0xffff0000u); });
  add(cases, "vmad.s32.s32.u32.sat.shr7 %d, %a.h0, %b.h1, %c;", "rrrr", [](i16 a, u64 b, i32 c) {
    const i64 sum = i64(a) * u16(b >> 16) + c;
    return word(clamped(sum >> 7, kLeast, kMost));
  });
  add(cases, "vmad.s32.s32.s32.shr15 %d, %a.b0, -%b.b3, %c;", "rrrr",
      [](i8 a, u64 b, i32 c) { return word((c - i64(a) * i8(b >> 24)) >> 15); });
  // Where the compiler takes unsigned words for signed ones; as an H100 has it.
  add(cases, "vmad.u32.u32.u32.shr15 %d, %a, -%b, %c;", "rrrr",
      [](i32 a, i32 b, i32 c) { return word((c - i64(a) * b) >> 15); });
  add(cases, "vmad.u32.u32.u32.sat.shr7 %d, %a.b0, %b, %c;", "rrrr",
      [](u8 a, i32 b, i32 c) { return std::min<u64>(u64(i64(a) * b + c) >> 7, kMostUnsigned); });
  // The shifted number has 34 bits.
  add(cases, "vshl.s32.s32.u32.sat.clamp.add %d, %a, %b.b0, %c;", "rrrr", [](i32 a, u8 b, i64 c) {
    const unsigned by = std::min<unsigned>(b, 32);
    const u64 wide = (u64(i64(a)) << by) & 0x3ffffffff;
    const i64 number = i64(wide) - ((wide >> 33) != 0 ? i64{1} << 34 : 0);
    return word(clamped(number, kLeast, kMost) + c);
  });
  add(cases, "vshr.s32.s32.u32.sat.wrap.add %d, %a, %b.b0, %c;", "rrrr",
      [](i32 a, u64 b, i64 c) { return word((a >> (b & 31)) + c); });
  // The sum has 32 bits, which are extended by their sign.
  add(cases, "vadd.u32.u32.u32.max", "rrrr", [](u64 a, u64 b, u32 c) {
    const i32 sum = i32(u32(a + b));
    return word(sum < 0 ? sum : std::max<i64>(sum, i64(c)));
  });
  add(cases, "vsub.s32.u32.s32.max", "rrrr",
      [](u64 a, u64 b, i32 c) { return word(std::max(i32(u32(a - b)), c)); });
  add(cases, "vmad.u32.u32.u32.po %d, %a.h0, %b.h0, %c;", "rrrr",
      [](u16 a, u16 b, u32 c) { return word(i64(u64{a} * b + c + 1)); });
  add(cases, "vset.u32.s32.lt", "rrr", [](u32 a, i32 b) { return i64(a) < b; });
  add(cases, "vset.s32.s32.ge.add", "rrrr",
      [](i32 a, i32 b, i64 c) { return word(c + (a >= b ? 1 : 0)); });
  return cases;
}

// f of each half or byte; T: its type.
template <class T, class F>
u64 parts(u64 a, u64 b, F f) {
  u64 d = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) {
    const u64 part = static_cast<u64>(f(T(a >> at), T(b >> at)));
    d |= (part & ((u64{1} << 8 * sizeof(T)) - 1)) << at;
  }
  return d;
}

std::vector<Case> halves_and_bytes() {
  std::vector<Case> cases;
  add(cases, "vadd2.s32.s32.s32.sat", "rrrr", [](u64 a, u64 b) {
    return parts<i16>(a, b, [](int x, int y) { return std::clamp(x + y, -32768, 32767); });
  });
  add(cases, "vsub4.u32.u32.u32", "rrrr",
      [](u64 a, u64 b) { return parts<u8>(a, b, [](int x, int y) { return x - y; }); });
  add(cases, "vavrg4.s32.s32.s32", "rrrr", [](u64 a, u64 b) {
    return parts<i8>(a, b, [](int x, int y) { return (x + y + (x + y >= 0)) >> 1; });
  });
  add(cases, "vmin2.u32.u32.u32", "rrrr",
      [](u64 a, u64 b) { return parts<u16>(a, b, [](int x, int y) { return std::min(x, y); }); });
  add(cases, "vmax4.s32.s32.s32.add", "rrrr", [](u64 a, u64 b, u64 c) {
    for (int at = 0; at < 32; at += 8) c += static_cast<u64>(std::max(i8(a >> at), i8(b >> at)));
    return c & 0xffffffff;
  });
  add(cases, "vset2.u32.u32.ne", "rrrr",
      [](u64 a, u64 b) { return parts<u16>(a, b, [](int x, int y) { return x != y; }); });
  return cases;
}

class VideoInstruction : public testing::TestWithParam<Case> {};
TEST_P(VideoInstruction, DoesWhatItIsDefinedToDo) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Words, VideoInstruction, testing::ValuesIn(words()), with_index);
INSTANTIATE_TEST_SUITE_P(HalvesAndBytes, VideoInstruction, testing::ValuesIn(halves_and_bytes()),
                         with_index);

}  // namespace
