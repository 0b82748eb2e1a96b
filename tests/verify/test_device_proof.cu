// SPDX-License-Identifier: Apache-2.0
// Verification that stays on the device: operands generated there equal the host's, a correct
// kernel is proved with the host's errors, and a kernel with one wrong element anywhere is
// rejected.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

#include "operands/device_element.cuh"
#include "operands/encode.hpp"
#include "verify/proof_device.hpp"

namespace ladder {
namespace {

enum class Bug {
  kNone,
  kOneElement,    // off by a hundredth
  kUnwritten,     // one element
  kNan,           // one element
  kBeforeC,       // the word before C
  kAfterC,        // and the one after
  kPadding,       // one word between two lines
  kSecondRun,     // the last bit of one element, in every other launch
  kReadsC,        // although beta = 0
  kReadsPadding,  // of A
  kNothing,       // is launched and writes nothing
};

template <Bug kBug, class In, class Out>
__global__ void multiply(Problem p, const typename In::Bits* a, const typename In::Bits* b,
                         typename Out::Bits* c, int run) {
  const long long column = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long row = blockIdx.y;
  if (column >= p.n || kBug == Bug::kNothing) return;
  const bool here = row == p.m / 2 && column == p.n / 2;
  if (kBug == Bug::kUnwritten && here) return;
  float sum = 0;
  for (long long k = 0; k < p.k; ++k) {
    const float left = In::value(p.op_a == Op::kNone ? a[row * p.lda + k] : a[k * p.lda + row]);
    const float right =
        In::value(p.op_b == Op::kNone ? b[k * p.ldb + column] : b[column * p.ldb + k]);
    sum += left * right;
  }
  if (kBug == Bug::kReadsPadding && row == 0) sum += 0.0F * In::value(a[p.k]);
  float value = p.alpha * sum;
  if (p.beta != 0.0F || kBug == Bug::kReadsC) value += p.beta * Out::value(c[row * p.ldc + column]);
  if (kBug == Bug::kOneElement && here) value += 0.01F;
  if (kBug == Bug::kNan && here) value = __int_as_float(0x7FFFFFFF);
  if (kBug == Bug::kSecondRun && here && run % 2 == 1)
    value = __uint_as_float(__float_as_uint(value) ^ 1U);
  if (kBug == Bug::kBeforeC && here) c[-1] = 0;
  if (kBug == Bug::kAfterC && here) c[(p.m - 1) * p.ldc + p.n] = 0;
  if (kBug == Bug::kPadding && here) c[row * p.ldc + p.n] = 0;
  c[row * p.ldc + column] = Out::bits(value);
}

int launches = 0;

template <Bug kBug, class In, class Out>
Status launch(const Problem& problem, const Operands& o, Stream stream) {
  const RowMajor view = as_row_major(problem);
  const Problem& p = view.problem;
  const auto* a = reinterpret_cast<const typename In::Bits*>(view.swapped ? o.b : o.a);
  const auto* b = reinterpret_cast<const typename In::Bits*>(view.swapped ? o.a : o.b);
  multiply<kBug, In, Out>
      <<<dim3(static_cast<unsigned>((p.n + 31) / 32), static_cast<unsigned>(p.m)), 32, 0, stream>>>(
          p, a, b, reinterpret_cast<typename Out::Bits*>(o.c), launches++);
  return cuda_status(cudaGetLastError(), "multiply");
}

using F32 = Element<float>;
using Bf16 = Element<__nv_bfloat16>;
using F16 = Element<__half>;

KernelInfo kernel_of(Status (*launch)(const Problem&, const Operands&, Stream)) {
  return {.id = "test", .rung = "test", .idea = "test", .accepts = nullptr, .launch = launch};
}

Problem padded(Type in = Type::kF32, Type out = Type::kF32) {
  Problem p = make_problem(37, 45, 29, 1.5F, 0.5F);
  p.lda = 33;
  p.ldb = 50;
  p.ldc = 48;
  p.in = in;
  p.out = out;
  return p;
}

constexpr std::size_t kGuard = 512;

std::optional<Errors> judged(const KernelInfo& kernel, const Problem& problem, Values values,
                             Precision precision) {
  const Input input{values, 3};
  const auto proof = DeviceProof::make(problem, input, precision, ReferenceKind::kHost);
  EXPECT_TRUE(proof) << proof.status().message();
  if (!proof) return std::nullopt;
  const auto result = proof.value().judge(kernel, error_bound(problem, precision).value(),
                                          Rounding::kOnce, kGuard, kGuard);
  EXPECT_TRUE(result) << result.status().message();
  return result ? result.value() : std::nullopt;
}

TEST(DrawOnDevice, IsBitForBitTheHosts) {
  for (const Type type : {Type::kF32, Type::kBf16, Type::kF16, Type::kE4m3, Type::kE5m2}) {
    for (const Values values : {Values::kIntegers, Values::kUniform, Values::kScaled}) {
      for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
        for (const float beta : {0.0F, -2.0F}) {
          Problem p = make_problem(19, 23, 31, 1.0F, beta, Op::kTranspose, Op::kNone, layout);
          p.lda += 3;
          p.ldb += 5;
          p.ldc += 7;
          p.in = p.out = type;
          if (bytes_of(type) == 1) p.scaling = Scaling::kBlock;
          for (const bool nan : {false, true}) {
            const Input input{values, 11, nan};
            const Images images = make_images(p, input, Precision::kIeee).value();
            const Drawing drawing = drawing_of(p, input, Precision::kIeee).value();
            for (const auto& [which, image] :
                 {std::pair{Matrix::kA, &images.stored_a()},
                  std::pair{Matrix::kB, &images.stored_b()}, std::pair{Matrix::kC, &images.c}}) {
              const std::vector<std::byte> expected = encode(type, std::span(*image));
              const auto drawn = draw_on_device(drawing, which, p);
              ASSERT_TRUE(drawn) << drawn.status().message();
              ASSERT_EQ(drawn.value().bytes(), expected.size());
              std::vector<std::byte> got(expected.size());
              ASSERT_TRUE(drawn.value().download(got.data(), got.size()));
              EXPECT_EQ(got, expected) << to_string(p) << " " << to_string(values) << " matrix "
                                       << static_cast<int>(which);
            }
          }
        }
      }
    }
  }
}

TEST(DrawOnDevice, GuardsAreNanAroundOperandsAndPoisonAroundC) {
  const Problem p = padded();
  const Drawing drawing = drawing_of(p, {}, Precision::kIeee).value();
  for (const Matrix which : {Matrix::kA, Matrix::kC}) {
    const auto drawn = draw_on_device(drawing, which, p, 64);
    ASSERT_TRUE(drawn);
    std::vector<std::uint32_t> words(drawn.value().bytes() / 4);
    ASSERT_TRUE(drawn.value().download(words.data(), 4 * words.size()));
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t gap = which == Matrix::kC ? kPoisonBits : 0x7FC00000U;
      EXPECT_EQ(words[i], gap);
      EXPECT_EQ(words[words.size() - 1 - i], gap);
    }
  }
}

template <class In, class Out>
void expect_the_hosts_errors(const Problem& problem, Values values, Precision precision) {
  const KernelInfo kernel = kernel_of(launch<Bug::kNone, In, Out>);
  const auto errors = judged(kernel, problem, values, precision);
  ASSERT_TRUE(errors) << to_string(problem) << " " << to_string(values);
  ReferenceStore store;
  const Input input{values, 3};
  const auto prepared = store.get(problem, input, precision, ReferenceKind::kHost);
  ASSERT_TRUE(prepared);
  const auto drawing = drawing_of(problem, input, precision);
  const auto a = draw_on_device(drawing.value(), Matrix::kA, problem);
  const auto b = draw_on_device(drawing.value(), Matrix::kB, problem);
  const auto c = draw_on_device(drawing.value(), Matrix::kC, problem, kGuard);
  ASSERT_TRUE(
      kernel.launch(problem,
                    {a.value().as<float>(), b.value().as<float>(),
                     c.value().as<float>(kGuard * static_cast<std::size_t>(bytes_of(problem.out)))},
                    nullptr));
  ASSERT_TRUE(synchronize());
  std::vector<std::byte> memory(c.value().bytes());
  ASSERT_TRUE(c.value().download(memory.data(), memory.size()));
  const std::vector<std::uint32_t> words = decode(problem.out, memory);
  const Finding finding =
      compare(*prepared.value(), input, error_bound(problem, precision).value(), {words, kGuard});
  ASSERT_EQ(finding.outcome, Outcome::kPassed) << finding.reason;
  // The same doubles in another order of summation, contracted or not.
  EXPECT_NEAR(errors->normwise, finding.errors.normwise, 1e-9 * finding.errors.normwise);
  EXPECT_NEAR(errors->componentwise, finding.errors.componentwise,
              1e-9 * finding.errors.componentwise);
  EXPECT_NEAR(errors->of_bound, finding.errors.of_bound, 1e-9 * finding.errors.of_bound);
}

TEST(DeviceProof, FindsTheHostsErrors) {
  for (const Values values : {Values::kIntegers, Values::kUniform, Values::kScaled}) {
    Problem f32 = padded();
    if (values == Values::kIntegers) f32.alpha = -2, f32.beta = 3;
    expect_the_hosts_errors<F32, F32>(f32, values, Precision::kIeee);
    Problem columns = make_problem(37, 45, 29, 1, 0, Op::kTranspose, Op::kNone, Layout::kColMajor);
    expect_the_hosts_errors<F32, F32>(columns, values, Precision::kIeee);
    Problem bf16 = padded(Type::kBf16, Type::kBf16);
    Problem f16 = padded(Type::kF16, Type::kF32);
    if (values == Values::kIntegers) bf16.alpha = f16.alpha = 1, bf16.beta = f16.beta = -1;
    expect_the_hosts_errors<Bf16, Bf16>(bf16, values, Precision::kBf16);
    expect_the_hosts_errors<F16, F32>(f16, values, Precision::kFp16);
  }
  // Terms with a small exponent range: the bound has a floor from the magnitudes of rows and
  // columns.
  expect_the_hosts_errors<F32, F32>(padded(), Values::kScaled, Precision::kFp16x3);
}

template <Bug kBug>
bool proved(float beta = 0.5F) {
  Problem p = padded();
  p.beta = beta;
  return judged(kernel_of(launch<kBug, F32, F32>), p, Values::kUniform, Precision::kIeee)
      .has_value();
}

TEST(DeviceProof, OneWrongWordAnywhereIsNotProved) {
  launches = 0;
  EXPECT_TRUE(proved<Bug::kNone>());
  EXPECT_TRUE(proved<Bug::kNone>(0));
  EXPECT_FALSE(proved<Bug::kOneElement>());
  EXPECT_FALSE(proved<Bug::kUnwritten>(0));
  EXPECT_FALSE(proved<Bug::kNan>());
  EXPECT_FALSE(proved<Bug::kBeforeC>());
  EXPECT_FALSE(proved<Bug::kAfterC>());
  EXPECT_FALSE(proved<Bug::kPadding>());
  EXPECT_FALSE(proved<Bug::kSecondRun>());
  EXPECT_FALSE(proved<Bug::kReadsC>(0));
  EXPECT_FALSE(proved<Bug::kReadsPadding>());
  EXPECT_FALSE(proved<Bug::kNothing>());
  EXPECT_FALSE(proved<Bug::kNothing>(0));
}

Status refused(const Problem&, const Operands&, Stream) {
  return {Code::kLaunchFailed, "on purpose"};
}

TEST(DeviceProof, AFailedLaunchIsAnErrorAndNoVerdict) {
  const Problem p = padded();
  const auto proof = DeviceProof::make(p, {}, Precision::kIeee, ReferenceKind::kHost);
  ASSERT_TRUE(proof);
  const auto result =
      proof.value().judge(kernel_of(refused), error_bound(p, Precision::kIeee).value(),
                          Rounding::kOnce, kGuard, kGuard);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().message(), "on purpose");
}

TEST(DeviceProof, ProblemsWithNothingToMultiplyAreTheHosts) {
  EXPECT_FALSE(
      DeviceProof::make(make_problem(4, 4, 0), {}, Precision::kIeee, ReferenceKind::kHost));
  EXPECT_FALSE(
      DeviceProof::make(make_problem(0, 4, 4), {}, Precision::kIeee, ReferenceKind::kHost));
}

}  // namespace
}  // namespace ladder
