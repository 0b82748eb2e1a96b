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

#include "operands/buffer.hpp"
#include "operands/encode.hpp"

namespace ladder {
namespace {

Buffer on_device(const std::vector<float>& x) {
  Buffer buffer = Buffer::allocate(Place::kCuda, 4 * x.size()).value();
  EXPECT_TRUE(buffer.upload(x.data(), buffer.bytes()));
  return buffer;
}

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

struct OnDevice {
  Buffer x, scales;
  std::int64_t ld = 0;
};

OnDevice quantized(const Plain& from, Type type, Grain grain, std::int64_t scales) {
  OnDevice to{Buffer::allocate(Place::kCuda, from.rows * (from.cols + 16)).value(),
              Buffer::allocate(Place::kCuda, 4 * scales).value(), from.cols / 16 * 16 + 16};
  const Status status =
      quantize(from, type, grain, {to.x.as<void>(), to.ld, to.scales.as<float>()}, nullptr);
  EXPECT_TRUE(status) << status.message();
  EXPECT_TRUE(synchronize());
  return to;
}

TEST(Quantize, ScalesAndElementsAreThoseOfTheDefinition) {
  constexpr std::int64_t kRows = 261, kCols = 390, kLd = 397;
  const std::vector<float> x = numbers(kRows, kLd, 1);
  const Buffer device = on_device(x);
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
      const OnDevice to = quantized({device.as<float>(), kRows, kCols, kLd}, type, grain, count);
      std::vector<float> scales(count);
      ASSERT_TRUE(to.scales.download(scales.data(), to.scales.bytes()));
      std::vector<std::byte> memory(kRows * to.ld);
      ASSERT_TRUE(to.x.download(memory.data(), memory.size()));
      const std::vector<std::uint32_t> words = decode(type, memory);
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
  const Buffer device = on_device(x);
  const OnDevice to =
      quantized({device.as<float>(), 1, 128, 128}, Type::kE4m3, Grain::kRowBlock, 1);
  std::vector<std::byte> memory(128);
  ASSERT_TRUE(to.x.download(memory.data(), memory.size()));
  const std::vector<std::uint32_t> words = decode(Type::kE4m3, memory);
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
  const Buffer device_a = on_device(a), device_b = on_device(b);
  const KernelInfo& kernel = *find_kernels(id).value().front();
  Problem p = in_types_of(kernel, make_problem(kM, kN, kK));
  EXPECT_EQ(p.scaling, scaling);
  const bool blocks = scaling == Scaling::kBlock;
  const auto count = [](const Extent& extent) { return extent.lines * extent.used; };
  const OnDevice qa =
      quantized({device_a.as<float>(), kM, kK, kK}, p.in,
                blocks ? Grain::kRowBlock : Grain::kTensor, count(extent_scales_a(p)));
  const OnDevice qb =
      quantized({device_b.as<float>(), kN, kK, kK}, p.in, blocks ? Grain::kSquare : Grain::kTensor,
                count(extent_scales_b(p)));
  p.lda = qa.ld;
  p.ldb = qb.ld;
  const Buffer c = Buffer::allocate(Place::kCuda, bytes_of(p.out) * kM * kN).value();
  const Status status = kernel.launch(p,
                                      {qa.x.as<float>(), qb.x.as<float>(), c.as<float>(),
                                       qa.scales.as<float>(), qb.scales.as<float>()},
                                      nullptr);
  EXPECT_TRUE(status) << status.message();
  EXPECT_TRUE(synchronize());
  std::vector<std::byte> memory(c.bytes());
  EXPECT_TRUE(c.download(memory.data(), memory.size()));
  const std::vector<std::uint32_t> words = decode(p.out, memory);
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
