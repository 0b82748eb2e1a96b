// SPDX-License-Identifier: Apache-2.0
// wgmma, compared with products in double: every type, shape, layout and source of operands.
#include "wgmma_fixture.hpp"

namespace {

using namespace wgmma_test;

TEST_F(Wgmma, EveryWidth) {
  for (int n = 8; n <= 256; n += 8) {
    Case c{kBfloat, kBfloat};
    c.n = n;
    c.of_a = along_k(128, 0);
    c.of_b = along_k(128, kSecond);
    c.options = ", 1, 1, 0, 0";
    ASSERT_NO_FATAL_FAILURE(check(c, n % 16 == 0)) << n;
  }
}

TEST_F(Wgmma, EverySwizzleAndDirection) {
  for (const Type& type : {kBfloat, kHalf}) {
    for (const int span : {16, 32, 64, 128}) {
      for (int directions = 0; directions < 4; ++directions) {
        Case c{type, type};
        c.n = 72;
        c.of_a = (directions & 1) != 0 ? along_mn(span, 0, kM) : along_k(span, 0);
        c.of_b = (directions & 2) != 0 ? along_mn(span, kSecond, c.n) : along_k(span, kSecond);
        c.options = std::string(", 1, 1, ") + ((directions & 1) != 0 ? "1" : "0") +
                    ((directions & 2) != 0 ? ", 1" : ", 0");
        ASSERT_NO_FATAL_FAILURE(check(c, true)) << type.name << " " << span << " " << directions;
      }
    }
  }
}

TEST_F(Wgmma, StepsOfKInsideALine) {
  for (int step = 0; step < 4; ++step) {
    Case c{kHalf, kHalf};
    c.of_a = along_k(128, step * 32);
    c.of_b = along_k(128, kSecond + step * 32);
    c.options = ", 1, 1, 0, 0";
    ASSERT_NO_FATAL_FAILURE(check(c, false)) << step;
  }
}

// With base offset 0, too, the swizzle is that of each piece's address.
TEST_F(Wgmma, StartsInsideThePattern) {
  for (const int span : {32, 64, 128}) {
    for (const int start : {128, 384, 1152}) {
      Case c{kHalf, kHalf};
      c.of_a = along_k(span, start);
      c.of_b = along_mn(span, kSecond + start, c.n);
      c.options = ", 1, 1, 0, 1";
      ASSERT_NO_FATAL_FAILURE(check(c, false)) << span << " " << start;
    }
  }
}

TEST_F(Wgmma, EveryType) {
  const auto run = [&](const Type& a, const Type& b, const char* d, const std::string& options,
                       const char* kind = "") {
    for (const bool registers : {false, true}) {
      Case c{a, b};
      c.d = d;
      c.n = 32;
      c.kind = kind;
      c.registers = registers;
      c.of_a = along_k(128, 0);
      c.of_b = along_k(64, kSecond);
      c.options = options;
      if (a.bytes == 2) c.options += registers ? ", 0" : ", 0, 0";
      ASSERT_NO_FATAL_FAILURE(check(c, true))
          << a.name << " " << b.name << " " << d << " " << registers;
    }
  };
  run(kBfloat, kBfloat, "f32", ", 1, 1");
  run(kHalf, kHalf, "f32", ", 1, 1");
  run(kHalf, kHalf, "f16", ", 1, 1");
  run(kTf32, kTf32, "f32", ", 1, 1");
  run(kE4m3, kE4m3, "f32", ", 1, 1");
  run(kE4m3, kE5m2, "f32", ", 1, 1");
  run(kE5m2, kE4m3, "f16", ", 1, 1");
  run(kE5m2, kE5m2, "f32", ", 1, 1");
  run(kS8, kS8, "s32", "");
  run(kU8, kS8, "s32", "");
  run(kS8, kU8, "s32", "", ".satfinite");
  run(kU8, kU8, "s32", "");
}

TEST_F(Wgmma, SparseOfEveryType) {
  const auto run = [&](const Type& a, const Type& b, const char* d, const char* kind = "") {
    for (const bool registers : {false, true}) {
      for (int selector = 0; selector < (a.bytes == 1 ? 1 : 2); ++selector) {
        Case c{a, b};
        c.d = d;
        c.n = selector == 0 ? 32 : 8;
        c.kind = kind;
        c.registers = registers;
        c.selector = selector;
        c.of_a = along_k(registers ? 128 : 32, 0);
        c.of_b = along_k(selector == 0 ? 64 : 128, kSecond);
        if (c.d != "s32") c.options = ", 1, 1";
        if (a.bytes == 2) c.options += registers ? ", 0" : ", 0, 0";
        config.numerics = registers ? vgpu::Numerics::kHopper : vgpu::Numerics::kSingle;
        ASSERT_NO_FATAL_FAILURE(check(c, selector == 0))
            << a.name << " " << b.name << " " << d << " " << registers;
      }
    }
  };
  run(kBfloat, kBfloat, "f32");
  run(kHalf, kHalf, "f32");
  run(kHalf, kHalf, "f16");
  run(kTf32, kTf32, "f32");
  for (const Type& a : {kE4m3, kE5m2}) {
    for (const Type& b : {kE4m3, kE5m2}) {
      run(a, b, "f32");
      run(a, b, "f16");
    }
  }
  for (const Type& a : {kS8, kU8}) {
    for (const Type& b : {kS8, kU8}) {
      run(a, b, "s32");
      run(a, b, "s32", ".satfinite");
    }
  }
}

TEST_F(Wgmma, SparseWidthsAndDirections) {
  for (int n = 8; n <= 256; n += 8) {
    for (int directions = 0; directions < 4; ++directions) {
      if (n % 64 != 0 && directions != 0) continue;
      Case c{kHalf, kHalf};
      c.n = n;
      c.selector = directions % 2;
      c.of_a = (directions & 1) != 0 ? along_mn(128, 0, kM) : along_k(16, 0);
      c.of_b = (directions & 2) != 0 ? along_mn(128, kSecond, n, 32)
                                     : along_k(n % 16 == 0 ? 16 : 128, kSecond);
      c.options = std::string(", -1, 1, ") + ((directions & 1) != 0 ? "1" : "0") +
                  ((directions & 2) != 0 ? ", 1" : ", 0");
      config.schedule = {
          directions == 3 ? vgpu::CopySchedule::Kind::kLazy : vgpu::CopySchedule::Kind::kEager, 0};
      ASSERT_NO_FATAL_FAILURE(check(c, true, -1)) << n << " " << directions;
    }
  }
}

// From machine code, too.
class WgmmaSparse : public Wgmma {};
TEST_F(WgmmaSparse, CompiledKernels) {
  const struct {
    const char* kernel;
    Type a, b;
    const char* d;
    bool registers;
    int selector;
    double sign;
  } cases[] = {
      {"f16_shared_1", kHalf, kHalf, "f32", false, 1, 1},
      {"f16_registers_0", kHalf, kHalf, "f16", true, 0, 1},
      {"bf16_registers_1", kBfloat, kBfloat, "f32", true, 1, -1},
      {"tf32_shared_0", kTf32, kTf32, "f32", false, 0, 1},
      {"bytes_registers_0", kE4m3, kE5m2, "f32", true, 0, 1},
      {"integers_shared_0", kS8, kU8, "s32", false, 0, 1},
  };
  for (const auto& one : cases) {
    for (const bool adds : {false, true}) {
      Case c{one.a, one.b};
      c.d = one.d;
      c.n = 16;
      c.registers = one.registers;
      c.selector = one.selector;
      c.of_a = along_k(128, 0);
      c.of_b = along_k(64, kSecond);
      ASSERT_NO_FATAL_FAILURE(check(c, adds, one.sign, one.kernel)) << one.kernel << " " << adds;
    }
  }
}

TEST_F(Wgmma, ScalesOfAAndB) {
  for (const auto& [options, sign] :
       {std::pair(", -1, 1, 0, 0", -1.0), std::pair(", 1, -1, 0, 0", -1.0),
        std::pair(", -1, -1, 0, 0", 1.0)}) {
    Case c{kHalf, kHalf};
    c.of_a = along_k(128, 0);
    c.of_b = along_k(128, kSecond);
    c.options = options;
    check(c, true, sign);
  }
}

TEST_F(Wgmma, EveryScheduleComputesTheSame) {
  for (const auto kind : {vgpu::CopySchedule::Kind::kEager, vgpu::CopySchedule::Kind::kLazy,
                          vgpu::CopySchedule::Kind::kRandom}) {
    config.schedule = {kind, 3};
    Case c{kBfloat, kBfloat};
    c.of_a = along_k(128, 0);
    c.of_b = along_mn(128, kSecond, c.n);
    c.options = ", 1, 1, 0, 1";
    check(c, true);
  }
}

}  // namespace
