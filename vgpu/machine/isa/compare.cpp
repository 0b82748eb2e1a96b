// SPDX-License-Identifier: Apache-2.0
// setp, set, selp, slct, testp.
#include "machine/isa/compare.hpp"

#include "machine/isa/floats.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// d = s[2] ? s[0] : s[1].
template <class T>
void choose(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const T *a = slot<T>(window, insn.s[0]), *b = slot<T>(window, insn.s[1]);
  const u32 p = *slot<u32>(window, insn.s[2]);
  write_lanes<T>(window, insn.d, mask,
                 [&](u32 i) VGPU_INLINE { return (p >> i & 1) != 0 ? a[i] : b[i]; });
}
template <class T>
void define_choice(OperationSink& sink, const char* names) {
  sink.add(names, "", Shape{arg_of<T>(), {arg_of<T>(), arg_of<T>(), Arg::kPred}}, &choose<T>);
}

template <class T>
void define_integer_tests(OperationSink& sink, const char* type) {
  define_test<T>(sink, "setp.eq.", type, [](T a, T b) { return a == b; });
  define_test<T>(sink, "setp.ne.", type, [](T a, T b) { return a != b; });
  define_test<T>(sink, "setp.lt.", type, [](T a, T b) { return a < b; });
  define_test<T>(sink, "setp.le.", type, [](T a, T b) { return a <= b; });
  define_test<T>(sink, "setp.gt.", type, [](T a, T b) { return a > b; });
  define_test<T>(sink, "setp.ge.", type, [](T a, T b) { return a >= b; });
}

// lo, ls, hi, hs compare as unsigned whatever the type's name.
template <class T>
void define_unsigned_tests(OperationSink& sink, const char* type) {
  define_test<T>(sink, "setp.lo.", type, [](T a, T b) { return a < b; });
  define_test<T>(sink, "setp.ls.", type, [](T a, T b) { return a <= b; });
  define_test<T>(sink, "setp.hi.", type, [](T a, T b) { return a > b; });
  define_test<T>(sink, "setp.hs.", type, [](T a, T b) { return a >= b; });
}

template <class T>
void define_bit_tests(OperationSink& sink, const char* type) {
  define_test<T>(sink, "setp.eq.", type, [](T a, T b) { return a == b; });
  define_test<T>(sink, "setp.ne.", type, [](T a, T b) { return a != b; });
}

// The kinds of testp. Classes are determined from the bits, so the floating-point environment does
// not matter.
template <class T, class Bits, Bits kExponent, Bits kFraction>
void define_classes(OperationSink& sink, const char* type) {
  op(sink, "testp.finite.", type, [](T a) { return (bits_as<Bits>(a) & kExponent) != kExponent; });
  op(sink, "testp.infinite.", type,
     [](T a) { return (bits_as<Bits>(a) & (kExponent | kFraction)) == kExponent; });
  op(sink, "testp.number.", type,
     [](T a) { return (bits_as<Bits>(a) & (kExponent | kFraction)) <= kExponent; });
  op(sink, "testp.notanumber.", type,
     [](T a) { return (bits_as<Bits>(a) & (kExponent | kFraction)) > kExponent; });
  op(sink, "testp.normal.", type, [](T a) {
    const Bits e = bits_as<Bits>(a) & kExponent;
    return e != 0 && e != kExponent;
  });
  op(sink, "testp.subnormal.", type, [](T a) {
    return (bits_as<Bits>(a) & kExponent) == 0 && (bits_as<Bits>(a) & kFraction) != 0;
  });
}

}  // namespace

void define_compare(OperationSink& sink) {
  define_integer_tests<u16>(sink, "u16");
  define_integer_tests<i16>(sink, "s16");
  define_integer_tests<u32>(sink, "u32");
  define_integer_tests<i32>(sink, "s32");
  define_integer_tests<u64>(sink, "u64");
  define_integer_tests<i64>(sink, "s64");
  define_bit_tests<u16>(sink, "b16");
  define_bit_tests<u32>(sink, "b32");
  define_bit_tests<u64>(sink, "b64");
  define_unsigned_tests<u16>(sink, "u16");
  define_unsigned_tests<u32>(sink, "u32");
  define_unsigned_tests<u64>(sink, "u64");
  define_float_tests<float>(sink, "f32", [](float a) { return a; });
  define_float_tests<float>(sink, "ftz.f32", [](float a) { return flush(a); });
  define_float_tests<double>(sink, "f64", [](double a) { return a; });

  // What set writes for a true predicate.
  op(sink, "expand.u32 expand.s32", [](bool p) { return p ? kAllLanes : 0u; });
  op(sink, "expand.f32", [](bool p) { return p ? 1.0F : 0.0F; });
  op(sink, "expand.u16 expand.s16", [](bool p) { return static_cast<u16>(p ? 0xffff : 0); });
  op(sink, "expand.f16", [](bool p) { return static_cast<u16>(p ? 0x3c00 : 0); });
  op(sink, "expand.bf16", [](bool p) { return static_cast<u16>(p ? 0x3f80 : 0); });

  define_choice<u16>(sink, "selp.b16 selp.u16 selp.s16");
  define_choice<u32>(sink, "selp.b32 selp.u32 selp.s32 selp.f32");
  define_choice<u64>(sink, "selp.b64 selp.u64 selp.s64 selp.f64");
  op(sink, "slct.b16.s32 slct.u16.s32 slct.s16.s32",
     [](u16 a, u16 b, i32 c) { return c >= 0 ? a : b; });
  op(sink, "slct.b32.s32 slct.u32.s32 slct.s32.s32 slct.f32.s32",
     [](u32 a, u32 b, i32 c) { return c >= 0 ? a : b; });
  op(sink, "slct.b64.s32 slct.u64.s32 slct.s64.s32 slct.f64.s32",
     [](u64 a, u64 b, i32 c) { return c >= 0 ? a : b; });
  // -0 counts as 0, and NaN chooses b.
  op(sink, "slct.b16.f32 slct.u16.f32 slct.s16.f32",
     [](u16 a, u16 b, float c) { return c >= 0 ? a : b; });
  op(sink, "slct.ftz.b16.f32 slct.ftz.u16.f32 slct.ftz.s16.f32",
     [](u16 a, u16 b, float c) { return flush(c) >= 0 ? a : b; });
  op(sink, "slct.b32.f32 slct.u32.f32 slct.s32.f32 slct.f32.f32",
     [](u32 a, u32 b, float c) { return c >= 0 ? a : b; });
  op(sink, "slct.ftz.b32.f32 slct.ftz.u32.f32 slct.ftz.s32.f32 slct.ftz.f32.f32",
     [](u32 a, u32 b, float c) { return flush(c) >= 0 ? a : b; });
  op(sink, "slct.b64.f32 slct.u64.f32 slct.s64.f32 slct.f64.f32",
     [](u64 a, u64 b, float c) { return c >= 0 ? a : b; });
  op(sink, "slct.ftz.b64.f32 slct.ftz.u64.f32 slct.ftz.s64.f32 slct.ftz.f64.f32",
     [](u64 a, u64 b, float c) { return flush(c) >= 0 ? a : b; });

  define_classes<float, u32, 0x7f800000, 0x007fffff>(sink, "f32");
  define_classes<double, u64, 0x7ff0000000000000, 0x000fffffffffffff>(sink, "f64");
}

}  // namespace vgpu::machine::VGPU_ISA
