// SPDX-License-Identifier: Apache-2.0
// quantize(): scales and elements as the definition has them, for every grain, at edges; and a
// product of quantised matrices, against FP64.
#include <gtest/gtest.h>
#include <ladder/quantize.hpp>
#include <ladder/registry.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "operands/encode.hpp"
#include "support/device_memory.hpp"

namespace ladder {
namespace {

using namespace test;

// Numbers of very different magnitudes, whole blocks of zeros among them.
std::vector<float> numbers(std::int64_t rows, std::int64_t ld, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(rows * ld);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < ld; ++j) {
      const int block = static_cast<int>(i / 100 + j / 128);
      x[i * ld + j] = block % 5 == 4 ? 0.0F : std::ldexp(normal(engine), 3 * block - 6);
    }
  }
  return x;
}

struct Result {
  OnDevice<std::byte> x;
  OnDevice<float> scales;
  std::int64_t ld = 0;
};

Result quantized(const Plain& from, Type type, Grain grain, std::int64_t scales) {
  Result to{device_array<std::byte>(from.rows * (from.cols + 16)), device_array<float>(scales),
            from.cols / 16 * 16 + 16};
  const Status status = quantize(from, type, grain, {to.x.get(), to.ld, to.scales.get()}, nullptr);
  EXPECT_TRUE(status) << status.message();
  return to;
}

TEST(Quantize, ScalesAndElementsAreThoseOfTheDefinition) {
  constexpr std::int64_t kRows = 261, kCols = 390, kLd = 397;
  const std::vector<float> x = numbers(kRows, kLd, 1);
  const auto device = upload(x);
  for (const Type type : {Type::kE4m3, Type::kE5m2}) {
    const float largest = type == Type::kE4m3 ? 448.0F : 57344.0F;
    for (const Grain grain : {Grain::kTensor, Grain::kRowBlock, Grain::kSquare}) {
      const std::int64_t tall = grain == Grain::kTensor   ? kRows
                                : grain == Grain::kSquare ? kScaleBlock
                                                          : 1;
      const std::int64_t wide = grain == Grain::kTensor ? kCols : kScaleBlock;
      const std::int64_t blocks_m = (kRows + tall - 1) / tall, blocks_n = (kCols + wide - 1) / wide;
      const std::int64_t square_ld = (blocks_n + 3) / 4 * 4;
      const std::int64_t count = blocks_m * (grain == Grain::kSquare ? square_ld : blocks_n);
      const Result to = quantized({device.get(), kRows, kCols, kLd}, type, grain, count);
      const std::vector<float> scales = download(to.scales, count);
      const std::vector<std::uint32_t> words = decode(type, download(to.x, kRows * to.ld));
      for (std::int64_t bn = 0; bn < blocks_n; ++bn) {
        for (std::int64_t bm = 0; bm < blocks_m; ++bm) {
          float most = 0;
          for (std::int64_t i = bm * tall; i < std::min(kRows, (bm + 1) * tall); ++i) {
            for (std::int64_t j = bn * wide; j < std::min(kCols, (bn + 1) * wide); ++j)
              most = std::max(most, std::abs(x[i * kLd + j]));
          }
          const float scale =
              scales[grain == Grain::kSquare ? bm * square_ld + bn : bn * blocks_m + bm];
          ASSERT_EQ(scale, most == 0 ? 1.0F : most / largest);
          for (std::int64_t i = bm * tall; i < std::min(kRows, (bm + 1) * tall); ++i) {
            for (std::int64_t j = bn * wide; j < std::min(kCols, (bn + 1) * wide); ++j) {
              ASSERT_EQ(std::bit_cast<float>(words[i * to.ld + j]),
                        round_to(type, x[i * kLd + j] / scale))
                  << i << " " << j;
            }
          }
        }
      }
    }
  }
}

TEST(Quantize, ZerosNansAndBadArguments) {
  std::vector<float> x(128, 0.0F);
  x[3] = std::nanf("");
  x[5] = 2.0F;
  const auto device = upload(x);
  const Result to = quantized({device.get(), 1, 128, 128}, Type::kE4m3, Grain::kRowBlock, 1);
  const std::vector<std::uint32_t> words = decode(Type::kE4m3, download(to.x, 128));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(words[3])));
  EXPECT_EQ(std::bit_cast<float>(words[5]), 448.0F);
  EXPECT_EQ(words[0], 0U);
  const Quantized none;
  EXPECT_TRUE(
      quantize({nullptr, 0, 5, 5}, Type::kE4m3, Grain::kSquare, {nullptr, 5, nullptr}, nullptr));
  for (const Status& status :
       {quantize({nullptr, 2, 5, 5}, Type::kBf16, Grain::kSquare, {nullptr, 5, nullptr}, nullptr),
        quantize({nullptr, -1, 5, 5}, Type::kE4m3, Grain::kSquare, {nullptr, 5, nullptr}, nullptr),
        quantize({nullptr, 2, 5, 4}, Type::kE4m3, Grain::kSquare, {nullptr, 5, nullptr}, nullptr),
        quantize({nullptr, 2, 5, 5}, Type::kE4m3, Grain::kSquare, none, nullptr)})
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
}

// The relative error of A B^T by r20 on quantised operands, in the Frobenius norm.
double error_of(const char* id, Scaling scaling) {
  constexpr std::int64_t kM = 140, kN = 200, kK = 300;
  const std::vector<float> a = numbers(kM, kK, 2), b = numbers(kN, kK, 3);
  const auto device_a = upload(a), device_b = upload(b);
  const KernelInfo& kernel = *find_kernels(id).value().front();
  Problem p = in_types_of(kernel, make_problem(kM, kN, kK));
  EXPECT_EQ(p.scaling, scaling);
  const bool blocks = scaling == Scaling::kBlock;
  const auto count = [](const Extent& extent) { return extent.lines * extent.used; };
  const Result qa =
      quantized({device_a.get(), kM, kK, kK}, p.in, blocks ? Grain::kRowBlock : Grain::kTensor,
                count(extent_scales_a(p)));
  const Result qb = quantized({device_b.get(), kN, kK, kK}, p.in,
                              blocks ? Grain::kSquare : Grain::kTensor, count(extent_scales_b(p)));
  p.lda = qa.ld;
  p.ldb = qb.ld;
  const auto bytes = static_cast<std::size_t>(bytes_of(p.out) * kM * kN);
  const auto c = device_array<std::byte>(bytes);
  const auto as_floats = [](const auto& x) { return reinterpret_cast<float*>(x.get()); };
  const Status status = kernel.launch(
      p, {as_floats(qa.x), as_floats(qb.x), as_floats(c), qa.scales.get(), qb.scales.get()},
      nullptr);
  EXPECT_TRUE(status) << status.message();
  const std::vector<std::uint32_t> words = decode(p.out, download(c, bytes));
  double errors = 0, squares = 0;
  for (std::int64_t i = 0; i < kM; ++i) {
    for (std::int64_t j = 0; j < kN; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < kK; ++k)
        sum += static_cast<double>(a[i * kK + k]) * b[j * kK + k];
      const double error = std::bit_cast<float>(words[i * kN + j]) - sum;
      errors += error * error;
      squares += sum * sum;
    }
  }
  return std::sqrt(errors / squares);
}

TEST(Quantize, ProductsHaveTheErrorOfTheirTypes) {
  // Elements are off by up to 2^-4 (e4m3) or 2^-3 (e5m2) of themselves, at random.
  EXPECT_LT(error_of("r20_fp8_f32", Scaling::kBlock), 0.06);
  EXPECT_LT(error_of("r20_fp8", Scaling::kBlock), 0.06);
  EXPECT_LT(error_of("r20_fp8_tensor", Scaling::kTensor), 0.06);
  EXPECT_LT(error_of("r20_fp8_e5m2", Scaling::kBlock), 0.12);
  EXPECT_GT(error_of("r20_fp8_f32", Scaling::kBlock), 0.005);
}

}  // namespace
}  // namespace ladder
