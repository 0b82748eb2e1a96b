// SPDX-License-Identifier: Apache-2.0
// Instructions on several narrow values per register, and the rarer forms of least and greatest,
// compared with the PTX ISA's definitions.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "engine_fixture.hpp"
#include "float_formats.hpp"

namespace {

using namespace conformance;
using Function = std::function<u32(u32 a, u32 b, u32 c)>;
using OfNumbers = std::function<i64(i64 a, i64 b, i64 c)>;

// The function of each number of type T in the registers.
template <class T>
u32 of_each(u32 a, u32 b, u32 c, const OfNumbers& f) {
  u32 result = 0;
  for (int at = 0; at < 32; at += 8 * static_cast<int>(sizeof(T))) {
    const i64 x = f(static_cast<T>(a >> at), static_cast<T>(b >> at), static_cast<T>(c >> at));
    result |= static_cast<u32>(static_cast<std::make_unsigned_t<T>>(x)) << at;
  }
  return result;
}

class Packed : public EngineTest {
 protected:
  void SetUp() override {
    load("narrow", VGPU_TEST_PTX_90);
    constexpr u32 kEdges[] = {0,          1,          0x7fffffff, 0x80000000, 0xffffffff,
                              0x7f800000, 0xff800000, 0x7fc00123, 0x00000001, 0x80000001,
                              0x007fffff, 0x3f800000, 0xbf800000, 0x43e80000, 0xc3f00000,
                              0x477ff000, 0x80007fff, 0x7c00fc00, 0x7e0003ff, 0x83ff0400,
                              0x3c00bc00, 0x7fffff80, 0x0001ffff, 0x7f7fffff};
    std::mt19937 random(7);
    for (u32*& operand : operands) {
      operand = array<u32>(kCount);
      for (u32 i = 0; i < kCount; ++i) {
        switch (random() % 4) {
          case 0: operand[i] = kEdges[random() % std::size(kEdges)]; break;
          case 1:  // numbers of similar magnitude
            operand[i] = (static_cast<u32>(random()) & 0x83ff83ff) | 0x3c003c00;
            break;
          default: operand[i] = static_cast<u32>(random());
        }
      }
    }
  }

  u32* results_of(const std::string& name) {
    u32* const d = array<u32>(kCount);
    run(name, {kCount / 128}, {128}, d, operands[0], operands[1], operands[2]);
    return d;
  }

  void check(const std::string& name, const Function& expected) {
    SCOPED_TRACE(name);
    const u32* const d = results_of(name);
    for (u32 i = 0; i < kCount; ++i) {
      const u32 a = operands[0][i], b = operands[1][i], c = operands[2][i];
      ASSERT_EQ(d[i], expected(a, b, c)) << std::hex << a << ", " << b << ", " << c;
    }
  }

  // Of two numbers, of three, and of the sum of two and a third; `relu`: at least 0.
  template <class T>
  void check_extremes(const std::string& op, const std::string& type, bool most, bool relu) {
    const auto extreme = [=](i64 x, i64 y) { return most ? std::max(x, y) : std::min(x, y); };
    const auto check_form = [&](const std::string& form, const OfNumbers& f) {
      const OfNumbers clamped = [=](i64 x, i64 y, i64 z) {
        return relu ? std::max<i64>(f(x, y, z), 0) : f(x, y, z);
      };
      check(op + form + type, [=](u32 a, u32 b, u32 c) { return of_each<T>(a, b, c, clamped); });
    };
    check_form("_", [=](i64 x, i64 y, i64) { return extreme(x, y); });
    check_form("_of_three_", [=](i64 x, i64 y, i64 z) { return extreme(extreme(x, y), z); });
    check_form("_of_sum_", [=](i64 x, i64 y, i64 z) { return extreme(static_cast<T>(x + y), z); });
  }

  static constexpr u32 kCount = 4096;
  u32* operands[3] = {};
};

TEST_F(Packed, LeastAndGreatest) {
  for (const bool most : {false, true}) {
    const std::string op = most ? "max" : "min";
    check_extremes<u32>(op, "u32", most, false);
    check_extremes<i32>(op, "s32", most, false);
    check_extremes<u16>(op, "u16x2", most, false);
    check_extremes<i16>(op, "s16x2", most, false);
    check_extremes<i32>(op + "_relu", "s32", most, true);
    check_extremes<i16>(op + "_relu", "s16x2", most, true);
  }
  const auto which = [](u32 result, u32 a) {
    return (result & 0xfffefffe) | ((result & 0xffff) == (a & 0xffff) ? 1u : 0u) |
           (result >> 16 == a >> 16 ? 0x10000u : 0u);
  };
  check("which_max_s16x2", [=](u32 a, u32 b, u32 c) {
    return which(of_each<i16>(a, b, c, [](i64 x, i64 y, i64) { return std::max(x, y); }), a);
  });
  check("which_min_u16x2", [=](u32 a, u32 b, u32 c) {
    return which(of_each<u16>(a, b, c, [](i64 x, i64 y, i64) { return std::min(x, y); }), a);
  });
}

template <class A, class B>
u32 differences(u32 a, u32 b, i32 most) {
  u32 result = 0;
  constexpr int kBits = 8 * sizeof(A);
  for (int at = 0; at < 32; at += kBits) {
    const i32 d = std::abs(i32{static_cast<A>(a >> at)} - i32{static_cast<B>(b >> at)});
    result |= (static_cast<u32>(std::min(d, most)) & ((1u << kBits) - 1)) << at;
  }
  return result;
}
template <class A, class B>
u32 sum_of_differences(u32 a, u32 b, u32 c) {
  for (int at = 0; at < 32; at += static_cast<int>(8 * sizeof(A)))
    c += static_cast<u32>(std::abs(i32{static_cast<A>(a >> at)} - i32{static_cast<B>(b >> at)}));
  return c;
}

TEST_F(Packed, Differences) {
  check("differences", [](u32 a, u32 b, u32) { return differences<u8, u8>(a, b, 255); });
  check("differences_added", sum_of_differences<u8, u8>);
  check("differences_signed", [](u32 a, u32 b, u32) { return differences<i8, i8>(a, b, 255); });
  check("differences_signed_added", sum_of_differences<i8, i8>);
  check("differences_mixed", sum_of_differences<u8, i8>);
  check("differences_clamped", [](u32 a, u32 b, u32) { return differences<u8, u8>(a, b, 127); });
  check("differences_of_halves",
        [](u32 a, u32 b, u32) { return differences<std::uint16_t, std::uint16_t>(a, b, 65535); });
  check("differences_of_halves_added", sum_of_differences<std::int16_t, std::uint16_t>);
  check("differences_of_halves_clamped",
        [](u32 a, u32 b, u32) { return differences<std::int16_t, std::int16_t>(a, b, 32767); });
  check("sad_u32", [](u32 a, u32 b, u32 c) { return c + std::max(a, b) - std::min(a, b); });
  check("sad_s32", [](u32 a, u32 b, u32 c) {
    const i64 d = i64{static_cast<i32>(a)} - static_cast<i32>(b);
    return c + static_cast<u32>(d < 0 ? -d : d);
  });
}

template <class Byte, class Half, class B>
void check_dots(const std::string& types, const std::function<void(std::string, Function)>& check) {
  check("dp4a" + types, [](u32 a, u32 b, u32 c) {
    for (const int at : {0, 8, 16, 24})
      c += static_cast<u32>(i32{static_cast<Byte>(a >> at)} * i32{static_cast<B>(b >> at)});
    return c;
  });
  for (const bool high : {false, true}) {
    check((high ? "dp2a_hi" : "dp2a_lo") + types, [=](u32 a, u32 b, u32 c) {
      const u32 two = high ? b >> 16 : b;
      return c + static_cast<u32>(i32{static_cast<Half>(a)} * i32{static_cast<B>(two)}) +
             static_cast<u32>(i32{static_cast<Half>(a >> 16)} * i32{static_cast<B>(two >> 8)});
    });
  }
}

TEST_F(Packed, DotProducts) {
  const auto run = [this](const std::string& name, const Function& f) { check(name, f); };
  check_dots<u8, u16, u8>("_u32_u32", run);
  check_dots<u8, u16, i8>("_u32_s32", run);
  check_dots<i8, i16, u8>("_s32_u32", run);
  check_dots<i8, i16, i8>("_s32_s32", run);
}

// The least or greatest of two numbers of a format.
struct Extreme {
  bool most = false, keeps_nan = false, signs = false, flushes = false;

  u64 operator()(u64 a, u64 b, const Format& f) const {
    const u64 top = u64{1} << (f.exponent + f.fraction);
    const u64 sign = (a ^ b) & top;
    for (u64* const x : {&a, &b}) {
      if (flushes && (*x & f.top()) == 0) *x &= top;
      if (signs) *x &= ~top;
    }
    const long double x = value_of(a, f), y = value_of(b, f);
    if ((std::isnan(x) && std::isnan(y)) || (keeps_nan && (std::isnan(x) || std::isnan(y))))
      return f.nan;
    u64 r = 0;
    if (std::isnan(x) || std::isnan(y))
      r = std::isnan(x) ? b : a;
    else if (x == y)
      r = std::signbit(x) != most ? a : b;
    else
      r = (x < y) != most ? a : b;
    return signs ? (r & ~top) | sign : r;
  }
};

Function pairs_of(const std::function<u64(u64, u64, u64)>& one) {
  return [one](u32 a, u32 b, u32 c) {
    return static_cast<u32>(one(a & 0xffff, b & 0xffff, c & 0xffff) | one(a >> 16, b >> 16, c >> 16)
                                                                          << 16);
  };
}

TEST_F(Packed, FloatingPoint) {
  const auto single = [](const Extreme& e) -> Function {
    return [e](u32 a, u32 b, u32) { return static_cast<u32>(e(a, b, kSingle)); };
  };
  check("fmin_plain", single({}));
  check("fmin_nan", single({.keeps_nan = true}));
  check("fmax_nan", single({.most = true, .keeps_nan = true}));
  check("fmin_sign", single({.signs = true}));
  check("fmax_nan_sign", single({.most = true, .keeps_nan = true, .signs = true}));
  check("fmax_ftz", single({.most = true, .flushes = true}));
  check("fmin_ftz_nan", single({.keeps_nan = true, .flushes = true}));
  check("fmin_ftz_sign", single({.signs = true, .flushes = true}));
  const auto pair = [](const Extreme& e, const Format& f) {
    return pairs_of([e, &f](u64 a, u64 b, u64) { return e(a, b, f); });
  };
  check("hmin_nan", pair({.keeps_nan = true}, kHalf));
  check("hmax_sign", pair({.most = true, .signs = true}, kHalf));
  check("hmin_nan_sign", pair({.keeps_nan = true, .signs = true}, kHalf));
  check("hmax_ftz", pair({.most = true, .flushes = true}, kHalf));
  check("hmin_ftz_nan", pair({.keeps_nan = true, .flushes = true}, kHalf));
  check("bmax_nan", pair({.most = true, .keeps_nan = true}, kBfloat));
  check("bmin_nan_sign", pair({.keeps_nan = true, .signs = true}, kBfloat));
}

TEST_F(Packed, SumsOfHalves) {
  const auto flush = [](u64 x) { return (x & 0x7c00) == 0 ? x & 0x8000 : x; };
  const auto half = [=](const std::function<long double(u64, u64, u64)>& exact) {
    return pairs_of([=](u64 a, u64 b, u64 c) {
      return flush(kHalf.encode(exact(flush(a), flush(b), flush(c)), Round::kNearest));
    });
  };
  const auto h = [](u64 x) { return value_of(x, kHalf); };
  check("hadd_ftz", half([=](u64 a, u64 b, u64) { return h(a) + h(b); }));
  check("hmul_ftz", half([=](u64 a, u64 b, u64) { return h(a) * h(b); }));
  check("hfma_ftz", half([=](u64 a, u64 b, u64 c) { return h(a) * h(b) + h(c); }));
  const auto rounded = [](const std::function<long double(u64, u64, u64)>& f) {
    return pairs_of([=](u64 a, u64 b, u64 c) { return kHalf.encode(f(a, b, c), Round::kNearest); });
  };
  check("hadd", rounded([=](u64 a, u64 b, u64) { return h(a) + h(b); }));
  check("hmul", rounded([=](u64 a, u64 b, u64) { return h(a) * h(b); }));
  check("hfma", rounded([=](u64 a, u64 b, u64 c) { return h(a) * h(b) + h(c); }));
  const auto relu = [](u64 x) { return x >> 15 != 0 ? 0 : x; };
  check("hfma_relu", pairs_of([=](u64 a, u64 b, u64 c) {
          return relu(kHalf.encode(h(a) * h(b) + h(c), Round::kNearest));
        }));
  // Quadruple precision: bfloat16 has 8 bits of exponent.
  check("bfma_relu", pairs_of([=](u64 a, u64 b, u64 c) -> u64 {
          const auto x = static_cast<__float128>(value_of(a, kBfloat)),
                     y = static_cast<__float128>(value_of(b, kBfloat)),
                     z = static_cast<__float128>(value_of(c, kBfloat));
          const __float128 product = x * y;
          __float128 exact = product + z;
          // What the sum does not hold moves it off a tie.
          const bool lost_z = exact == product && z != 0, lost_product = exact == z && product != 0;
          const __float128 lost = lost_z ? z : lost_product ? product : 0;
          if (lost != 0)
            exact *= __float128{1} + ((lost > 0) == (exact > 0) ? 0x1p-100L : -0x1p-100L);
          // Rounded to odd in 64 bits, then once more.
          auto r = static_cast<long double>(exact);
          if (std::isfinite(r) && static_cast<__float128>(r) != exact) {
            u64 bits[2] = {};
            if ((static_cast<__float128>(r) > exact) == (r > 0)) r = std::nextafter(r, 0.0L);
            std::memcpy(bits, &r, 10);
            bits[0] |= 1;
            std::memcpy(&r, bits, 10);
          }
          return relu(kBfloat.encode(r, Round::kNearest));
        }));
}

TEST_F(Packed, Conversions) {
  const auto code = [](long double value, const Format& f, bool relu,
                       Round round = Round::kNearest) {
    if (relu && !std::isnan(value) && std::signbit(value)) return u64{0};
    return f.encode(value, round, true);
  };
  const auto singles = [=](const Format& f, bool relu, Round round = Round::kNearest) -> Function {
    const int width = f.exponent + f.fraction + 1;
    return [=, &f](u32 a, u32 b, u32) {
      return static_cast<u32>(code(as_float(a), f, relu, round) << width |
                              code(as_float(b), f, relu, round));
    };
  };
  check("to_f16x2", singles(kHalf, true));
  check("to_bf16x2", singles(kBfloat, false, Round::kZero));
  check("to_e4m3", singles(kE4m3, false));
  check("to_e4m3_relu", singles(kE4m3, true));
  check("to_e5m2", singles(kE5m2, false));
  check("to_e5m2_relu", singles(kE5m2, true));
  const auto bytes = [=](u32 halves, const Format& f, bool relu) {
    return code(value_of(halves >> 16, kHalf), f, relu) << 8 |
           code(value_of(halves & 0xffff, kHalf), f, relu);
  };
  for (const bool relu : {false, true}) {
    check(relu ? "halves_to_bytes_relu" : "halves_to_bytes", [=](u32 a, u32 b, u32) {
      return static_cast<u32>(bytes(a, kE4m3, relu) | bytes(b, kE5m2, !relu) << 16);
    });
  }
  const auto halves = [=](const Format& f, bool relu, int at) -> Function {
    return [=, &f](u32 a, u32, u32) {
      const auto one = [&](u32 byte) {
        const long double value = value_of(byte & 0xff, f);
        if (relu && !std::isnan(value) && std::signbit(value)) return u64{0};
        return kHalf.encode(value, Round::kNearest);
      };
      return static_cast<u32>(one(a >> at) | one(a >> at >> 8) << 16);
    };
  };
  check("from_e4m3", halves(kE4m3, false, 0));
  check("from_e4m3_relu", halves(kE4m3, true, 16));
  check("from_e5m2", halves(kE5m2, false, 16));
  check("from_e5m2_relu", halves(kE5m2, true, 0));
  check("to_tf32", [](u32 a, u32, u32) -> u32 {
    if (std::isnan(as_float(a))) return 0x7fffe000;
    return std::isinf(as_float(a)) ? a : (a + 0xfff + (a >> 13 & 1)) & 0xffffe000;
  });
  check("to_tf32_relu", [](u32 a, u32, u32) -> u32 {
    if (std::isnan(as_float(a))) return 0x7fffe000;
    return std::signbit(as_float(a)) ? 0 : a & 0xffffe000;
  });
}

TEST_F(Packed, VotesAndSigns) {
  const auto of_warp = [this](u32 warp, int operand, u32 lane) {
    return operands[operand][32 * warp + lane];
  };
  const u32* d = results_of("votes");
  for (u32 warp = 0; warp < kCount / 32; ++warp) {
    u32 p = 0, q = 0;
    for (u32 lane = 0; lane < 32; ++lane) {
      p |= static_cast<u32>(of_warp(warp, 0, lane) != 0) << lane;
      q |= static_cast<u32>(of_warp(warp, 1, lane) != 0) << lane;
    }
    for (u32 lane = 0; lane < 32; ++lane) {
      const u32 other = lane ^ 1;
      const u32 t = ((q >> other & 1) != 0 ? ~p : p) ^ ~q;
      ASSERT_EQ(d[32 * warp + lane], t + (q != 0 ? 1 : 0)) << warp << ", " << lane;
    }
  }
  const auto of_all = [&](u32 first, u32 step, const std::function<u32(u32)>& f) {
    u32 sum = 0;
    for (u32 lane = 0; lane < 32; lane += step) sum += f(operands[0][first + lane]) << lane;
    return sum;
  };
  d = results_of("vote_of_some");
  for (u32 i = 0; i < kCount; ++i) {
    const u32 ballot = of_all(i / 32 * 32, 2, [](u32 a) { return a != 0 ? 1u : 0u; });
    ASSERT_EQ(d[i], i % 2 == 0 ? ballot : 7) << i;
  }
  d = results_of("matches");
  for (u32 i = 0; i < kCount; ++i) {
    const u32 mine = operands[0][i] & 3;
    u32 sum = of_all(i / 32 * 32, 1, [=](u32 a) { return (a & 3) == mine ? 1u : 0u; });
    for (u32 lane = 0; lane < 32; ++lane) sum += operands[0][i / 32 * 32 + lane] & 3;
    ASSERT_EQ(d[i], sum) << i;
  }
  check("signs", [](u32 a, u32 b, u32 c) { return (a >> 31 ^ b >> 31) & c >> 31; });
}

// Byte k of the result is byte f(k) of the pair b:a; s: the two lower bits of c.
TEST_F(Packed, PermutationsByMode) {
  const auto bytes = [](const std::function<u32(u32 k, u32 s)>& f) -> Function {
    return [f](u32 a, u32 b, u32 c) {
      const u64 pair = u64{b} << 32 | a;
      u32 result = 0;
      for (u32 k = 0; k < 4; ++k)
        result |= static_cast<u32>(pair >> 8 * f(k, c & 3) & 0xff) << 8 * k;
      return result;
    };
  };
  check("prmt_f4e", bytes([](u32 k, u32 s) { return s + k; }));
  check("prmt_b4e", bytes([](u32 k, u32 s) { return (s - k) & 7; }));
  check("prmt_rc8", bytes([](u32, u32 s) { return s; }));
  check("prmt_ecl", bytes([](u32 k, u32 s) { return std::max(k, s); }));
  check("prmt_ecr", bytes([](u32 k, u32 s) { return std::min(k, s); }));
  check("prmt_rc16", bytes([](u32 k, u32 s) { return s % 2 * 2 + k % 2; }));
}

TEST_F(Packed, SumsOfIntegerHalves) {
  check("add_halves", [](u32 a, u32 b, u32 c) {
    return of_each<u16>(a, b, c, [](i64 x, i64 y, i64) { return x + y; });
  });
  check("subtract_halves", [](u32 a, u32 b, u32 c) {
    return of_each<u16>(a, b, c, [](i64 x, i64 y, i64) { return x - y; });
  });
}

TEST_F(Packed, ExtremesOfThreeHalves) {
  const auto three = [](const Extreme& e, const Format& f) {
    return pairs_of([e, &f](u64 a, u64 b, u64 c) { return e(e(a, b, f), c, f); });
  };
  check("hmax_of_three", three({.most = true}, kHalf));
  check("hmin_nan_of_three", three({.keeps_nan = true}, kHalf));
  check("hmin_ftz_of_three", three({.flushes = true}, kHalf));
  check("bmax_nan_of_three", three({.most = true, .keeps_nan = true}, kBfloat));
  check("bmin_of_three", three({}, kBfloat));
}

TEST_F(Packed, ComplexProducts) {
  const auto fma = [](u64 x, u64 y, u64 z) {
    return kHalf.encode(half(x) * half(y) + half(z), Round::kNearest);
  };
  check("complex_fma", [=](u32 a, u32 b, u32 c) {
    const u32 ar = a & 0xffff, ai = a >> 16, br = b & 0xffff, bi = b >> 16;
    const u64 real = fma(ar, br, c & 0xffff), imaginary = fma(ar, bi, c >> 16);
    return static_cast<u32>(fma(ai ^ 0x8000, bi, real) | fma(ai, br, imaginary) << 16);
  });
}

TEST_F(Packed, ComparisonsOfHalves) {
  const auto flushed = [](u64 x) { return half((x & 0x7c00) == 0 ? x & 0x8000 : x); };
  const auto each = [](u32 yes, const std::function<bool(u64, u64)>& f) {
    return pairs_of([=](u64 a, u64 b, u64) -> u64 { return f(a, b) ? yes : 0; });
  };
  check("hset_ftz", each(0xffff, [=](u64 a, u64 b) { return flushed(a) < flushed(b); }));
  check("hset_ftz_number", each(0x3c00, [=](u64 a, u64 b) { return !(flushed(a) < flushed(b)); }));
  check("hsetp_ftz", [=](u32 a, u32 b, u32) {
    return (flushed(a & 0xffff) > flushed(b & 0xffff) ? 1u : 0u) |
           (flushed(a >> 16) > flushed(b >> 16) ? 2u : 0u);
  });
}

TEST_F(Packed, ToSmallIntegers) {
  const auto clamped = [](long double value, long double least, long double most) {
    return static_cast<u32>(
        static_cast<i32>(std::isnan(value) ? 0 : std::clamp(value, least, most)));
  };
  check("half_to_s8", [=](u32 a, u32, u32) { return clamped(std::trunc(half(a)), -128, 127); });
  check("half_to_u8", [=](u32 a, u32, u32) { return clamped(std::rint(half(a)), 0, 255); });
  check("half_to_u16", [=](u32 a, u32, u32) { return clamped(std::ceil(half(a)), 0, 65535); });
  check("bfloat_to_s16",
        [=](u32 a, u32, u32) { return clamped(std::floor(bfloat(a)), -32768, 32767); });
  check("single_to_s8", [=](u32 a, u32, u32) {
    return clamped(std::rint(static_cast<long double>(as_float(a))), -128, 127);
  });
}

TEST_F(Packed, FieldsOfBits) {
  u32* const d = array<u32>(kCount);
  for (const u32 count : {0u, 1u, 7u, 31u}) {
    run("fields", {kCount / 128}, {128}, d, operands[0], 3u, count);
    for (u32 i = 0; i < kCount; ++i)
      ASSERT_EQ(d[i], operands[0][i] & ((1u << count) - 1) << 3) << count;
  }
}

}  // namespace
