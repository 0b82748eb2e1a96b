// SPDX-License-Identifier: Apache-2.0
// Video instructions. PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/video.hpp"
#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {
namespace {

template <class E, std::size_t N>
std::optional<E> named_in(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<E>(found - names.begin()));
}

constexpr std::array<std::string_view, 10> kKinds = {"vadd",  "vsub", "vabsdiff", "vmin", "vmax",
                                                     "vavrg", "vshl", "vshr",     "vmad", "vset"};
constexpr std::array<std::string_view, 6> kTests = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr std::array<std::string_view, 4> kSeconds = {"", "add", "min", "max"};
constexpr std::array<std::string_view, 7> kSelectors = {"", "b0", "b1", "b2", "b3", "h0", "h1"};

}  // namespace

// vadd.D.A.B{.sat}{.second} d{.part}, a{.part}, b{.part}{, c}; vadd2 and vadd4: of halves, bytes.
void FunctionLowering::video() {
  Video v;
  std::string_view name = opcode().base();
  if (name.back() == '2' || name.back() == '4') {
    v.parts = static_cast<u8>(name.back() - '0');
    name.remove_suffix(1);
  }
  const auto kind = named_in<VideoKind>(kKinds, name);
  if (!kind) refuse();
  v.kind = *kind;
  u32 types = v.kind == VideoKind::kSet ? 1 : 0;  // it has no type of d
  for (const std::string_view part : opcode().parts.subspan(1)) {
    const auto second = named_in<VideoSecond>(kSeconds, part);
    const auto test = named_in<VideoTest>(kTests, part);
    if (is_any_of(part, {"u32", "s32"}) && types < 3) {
      if (part == "s32") v.flags |= static_cast<u16>(kVideoSignedD << types);
      ++types;
    } else if (second) {
      v.second = *second;
    } else if (test && v.kind == VideoKind::kSet) {
      v.test = *test;
    } else if (part == "sat") {
      v.flags |= kVideoSaturates;
    } else if (part == "wrap") {
      v.flags |= kVideoWraps;
    } else if (part == "po") {
      v.flags |= kVideoPlusOne;
    } else if (is_any_of(part, {"shr7", "shr15"})) {
      v.scale = part == "shr7" ? 7 : 15;
    } else if (part != "clamp") {
      refuse(fmt::format("modifier .{}", part));
    }
  }
  if (types != 3) refuse();
  u8* const selectors[] = {&v.select_d, &v.select_a, &v.select_b};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto selector = named_in<u8>(kSelectors, operand(i).selector);
    if (!selector || (v.parts > 1 && *selector != 0)) refuse("a selector that is not known");
    *selectors[i] = *selector;
  }
  if (v.select_d != 0) v.second = VideoSecond::kMerge;
  if (operand(1).negated != operand(2).negated) v.flags |= kVideoNegated;
  const bool third = operand_count() > 3;
  // Where the compiler does not follow the manual.
  const bool shifts = v.kind == VideoKind::kShl || v.kind == VideoKind::kShr;
  const bool all_signed = v.has(kVideoSignedA) && v.has(kVideoSignedB);
  const bool sums = v.kind == VideoKind::kAdd || v.kind == VideoKind::kSub;
  if (shifts && v.has(kVideoSaturates) && !(v.has(kVideoSignedD) && v.has(kVideoSignedA)))
    refuse("a shift of unsigned numbers with .sat");
  if (sums &&
      (v.second == VideoSecond::kMin || (v.second == VideoSecond::kMax && v.has(kVideoSaturates))))
    refuse("the least of a sum, or the greatest with .sat");
  if (v.has(kVideoNegated) && !all_signed && v.has(kVideoSaturates))
    refuse("a negated product of unsigned numbers with .sat");
  if (third && operand(3).negated) v.flags |= kVideoNegatedC;
  Value sources[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (i == 2 && !third) {
      sources[i] = constant(0, RegisterClass::k32);
      continue;
    }
    Operand of = operand(i + 1);
    of.negated = false;
    of.selector = {};
    sources[i] = source(of, RegisterClass::k32);
  }
  Operand to = operand(0);
  to.selector = {};
  const u32 pc = emit("video", std::span(sources).first(3));
  at(pc).imm = v.packed();
  destination(pc, to, RegisterClass::k32);
}

}  // namespace vgpu::ptx
