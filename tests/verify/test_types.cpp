// SPDX-License-Identifier: Apache-2.0
// 16-bit operands and results: conversions, and kernels in these types that verification must pass
// or reject.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "host/query.hpp"
#include "operands/encode.hpp"
#include "verify/verify.hpp"

namespace ladder {
namespace {

constexpr Type kNarrow[] = {Type::kBf16, Type::kF16};

TEST(Types, EveryNumberOf16BitsSurvives) {
  std::vector<std::uint16_t> all(1U << 16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  for (const Type type : kNarrow) {
    const auto memory = std::as_bytes(std::span(all));
    const std::vector<std::uint32_t> words = decode(type, memory);
    const std::vector<std::byte> again = encode(type, std::span(words));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float value = std::bit_cast<float>(words[i]);
      std::uint16_t bits = 0;
      std::memcpy(&bits, again.data() + 2 * i, sizeof bits);
      if (std::isnan(value) && words[i] != kPoisonBits) {
        EXPECT_TRUE(std::isnan(round_to(type, value)));
      } else {
        EXPECT_EQ(bits, all[i]) << to_string(type);
      }
    }
  }
}

TEST(Types, RoundsToNearestTiesToEven) {
  EXPECT_EQ(round_to(Type::kBf16, 257.0F), 256.0F);
  EXPECT_EQ(round_to(Type::kBf16, 259.0F), 260.0F);
  EXPECT_EQ(round_to(Type::kBf16, std::nextafter(257.0F, 300.0F)), 258.0F);
  EXPECT_EQ(round_to(Type::kF16, 2049.0F), 2048.0F);
  EXPECT_EQ(round_to(Type::kF16, 2051.0F), 2052.0F);
  EXPECT_EQ(round_to(Type::kF16, 65519.0F), 65504.0F);
  EXPECT_EQ(round_to(Type::kF16, 65520.0F), std::numeric_limits<float>::infinity());
  EXPECT_EQ(round_to(Type::kF16, 0x1.8p-24F), 0x1p-23F);
  EXPECT_EQ(round_to(Type::kF16, 0x1p-25F), 0.0F);
  EXPECT_EQ(round_to(Type::kF16, std::nextafter(0x1p-14F, 0.0F)), 0x1p-14F);
  EXPECT_EQ(round_to(Type::kF32, 0.1F), 0.1F);
}

TEST(Types, PoisonIsASignallingNanOfItsOwn) {
  const std::uint32_t words[] = {kPoisonBits, 0x7FC00000U};
  for (const Type type : kNarrow) {
    const auto memory = encode(type, std::span(words));
    EXPECT_EQ(decode(type, memory)[0], kPoisonBits);
    EXPECT_NE(decode(type, memory)[1], kPoisonBits);
  }
}

TEST(Types, InputsAreNumbersOfTheirType) {
  for (const Type type : kNarrow) {
    Problem problem = make_problem(33, 35, 64, 2, 1);
    problem.in = problem.out = type;
    for (const Values values : {Values::kIntegers, Values::kUniform, Values::kScaled}) {
      const Images images = make_images(problem, {values, 5}, Precision::kBf16).value();
      for (const auto* image : {&images.a, &images.b, &images.c}) {
        for (const float x : *image) ASSERT_EQ(x, round_to(type, x));
      }
    }
  }
}

Status accepts_all(const Problem& p, const Device&) {
  if (p.layout == Layout::kRowMajor && p.op_a == Op::kNone && p.op_b == Op::kNone)
    return Status::ok();
  return {Code::kUnsupportedProblem, "row-major operands only"};
}

float read(Type type, const float* base, std::int64_t at) {
  if (type == Type::kF32) return base[at];
  return std::bit_cast<float>(decode(
      type, std::as_bytes(std::span(reinterpret_cast<const std::uint16_t*>(base) + at, 1)))[0]);
}
void write(Type type, float* base, std::int64_t at, float value) {
  const auto memory = encode(type, std::span<const float>(&value, 1));
  std::memcpy(reinterpret_cast<std::byte*>(base) + at * bytes_of(type), memory.data(),
              memory.size());
}

// The correct kernel, with a replaceable conversion of a sum.
template <class Finish>
Status multiply(const Problem& p, const Operands& o, const Finish& finish) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; reads_ab(p) && k < p.k; ++k) {
        sum += read(p.in, o.a, i * p.lda + k) * read(p.in, o.b, k * p.ldb + j);
      }
      float result = p.alpha * sum;
      if (reads_c(p)) result += p.beta * read(p.out, o.c, i * p.ldc + j);
      write(p.out, o.c, i * p.ldc + j, finish(p, result));
    }
  }
  return Status::ok();
}
Status honest(const Problem& p, const Operands& o, Stream) {
  return multiply(p, o, [](const Problem&, float x) { return x; });
}
Status truncates(const Problem& p, const Operands& o,
                 Stream) {  // toward zero instead of to nearest
  return multiply(p, o, [](const Problem& q, float x) {
    const float nearest = round_to(q.out, x);
    return std::abs(nearest) > std::abs(x)
               ? round_to(q.out,
                          std::nextafter(nearest, 0.0F) * (1 - static_cast<float>(unit_of(q.out))))
               : nearest;
  });
}
Status sums_in_16_bits(const Problem& p, const Operands& o, Stream) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; reads_ab(p) && k < p.k; ++k) {
        sum = round_to(p.in, sum + read(p.in, o.a, i * p.lda + k) * read(p.in, o.b, k * p.ldb + j));
      }
      const float before = reads_c(p) ? p.beta * read(p.out, o.c, i * p.ldc + j) : 0.0F;
      write(p.out, o.c, i * p.ldc + j, p.alpha * sum + before);
    }
  }
  return Status::ok();
}
Status one_unwritten(const Problem& p, const Operands& o, Stream s) {
  const std::int64_t last = p.m > 0 && p.n > 0 ? (p.m - 1) * p.ldc + p.n - 1 : -1;
  const auto* memory = reinterpret_cast<const std::uint16_t*>(o.c);
  const std::uint16_t before = last >= 0 ? memory[last] : std::uint16_t{0};
  if (Status status = honest(p, o, s); !status) return status;
  if (last >= 0) reinterpret_cast<std::uint16_t*>(o.c)[last] = before;
  return Status::ok();
}

Status rounds_twice(const Problem& p, const Operands& o, Stream) {
  Problem products = p;
  products.beta = 0;
  std::vector<float> before;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j)
      before.push_back(reads_c(p) ? p.beta * read(p.out, o.c, i * p.ldc + j) : 0.0F);
  }
  if (Status status = honest(products, o, nullptr); !status) return status;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const std::int64_t at = i * p.ldc + j;
      write(p.out, o.c, at, read(p.out, o.c, at) + before[static_cast<std::size_t>(i * p.n + j)]);
    }
  }
  return Status::ok();
}

using Launch = Status (*)(const Problem&, const Operands&, Stream);
KernelInfo kernel_of(Launch launch, Type in, Type out, Role role) {
  return KernelInfo{.id = "test",
                    .rung = "test",
                    .idea = "test",
                    .place = Place::kHost,
                    .role = role,
                    .precision = in == Type::kBf16 ? Precision::kBf16 : Precision::kFp16,
                    .in = in,
                    .out = out,
                    .accepts = accepts_all,
                    .launch = launch};
}
Verdict quick(Launch launch, Type in, Type out, Role role = Role::kRung) {
  const KernelInfo info = kernel_of(launch, in, out, role);
  ReferenceStore store;
  return verify(info, make_battery(Battery::kQuick, 7), host_device(), {}, store);
}

TEST(Types, AnHonestKernelPasses) {
  for (const Type in : kNarrow) {
    for (const Type out : {in, Type::kF32}) {
      const Verdict verdict = quick(honest, in, out);
      EXPECT_TRUE(verdict.ok()) << to_string(in) << " to " << to_string(out) << ": "
                                << verdict.reason;
    }
  }
}

TEST(Types, BrokenKernelsAreRejected) {
  for (const Type type : kNarrow) {
    EXPECT_EQ(quick(truncates, type, type).outcome, Outcome::kWrongValue) << to_string(type);
    EXPECT_EQ(quick(sums_in_16_bits, type, Type::kF32).outcome, Outcome::kWrongValue)
        << to_string(type);
    EXPECT_EQ(quick(one_unwritten, type, type).outcome, Outcome::kUnwritten) << to_string(type);
  }
}

TEST(Types, OnlyABaselineMayRoundTheProductsAlone) {
  for (const Type type : kNarrow) {
    Problem problem = make_problem(63, 251, 8, 1, 1);
    problem.in = problem.out = type;
    const Input integers{Values::kIntegers, 3};
    const auto outcome = [&](Launch launch, Role role) {
      return verify(kernel_of(launch, type, type, role), problem, integers, host_device()).outcome;
    };
    EXPECT_EQ(outcome(rounds_twice, Role::kRung), Outcome::kWrongValue) << to_string(type);
    EXPECT_EQ(outcome(rounds_twice, Role::kBaseline), Outcome::kPassed) << to_string(type);
    EXPECT_EQ(outcome(truncates, Role::kBaseline), Outcome::kWrongValue) << to_string(type);
    const Verdict battery = quick(rounds_twice, type, type, Role::kBaseline);
    EXPECT_TRUE(battery.ok()) << to_string(type) << ": " << battery.reason;
    EXPECT_EQ(quick(sums_in_16_bits, type, type, Role::kBaseline).outcome, Outcome::kWrongValue)
        << to_string(type);
  }
}

TEST(Types, AKernelTakesItsOwnTypesOnly) {
  const KernelInfo info{.id = "test",
                        .rung = "test",
                        .idea = "test",
                        .in = Type::kBf16,
                        .out = Type::kF32,
                        .accepts = accepts_all};
  const Problem plain = make_problem(4, 4, 4);
  const Status status = accepts(info, plain, host_device());
  EXPECT_EQ(status.code(), Code::kUnsupportedProblem);
  EXPECT_NE(status.message().find("bf16"), std::string::npos);
  EXPECT_TRUE(accepts(info, in_types_of(info, plain), host_device()));
  EXPECT_EQ(to_string(in_types_of(info, plain)), "4x4x4 (bf16 to f32)");
  EXPECT_EQ(least_bytes(in_types_of(info, plain)), 2 * 32 + 4 * 16);
}

}  // namespace
}  // namespace ladder
