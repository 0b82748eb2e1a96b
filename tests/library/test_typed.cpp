// SPDX-License-Identifier: Apache-2.0
// Calls of gemm.h on 16-bit and 8-bit matrices. Operands are small integers and scales powers of
// two, so that all sums are exact and only the store rounds. The gaps of matrices hold NaNs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "library/support.hpp"
#include "support/streams.hpp"

namespace ladder::test {
namespace {

constexpr std::size_t kBytes[] = {4, 2, 2, 1, 1};  // of an element of each ladder_type

// The bits of a value that the type has, rounded to nearest, and back.
template <class T>
void put(unsigned char* to, float value) {
  const T element(value);
  std::memcpy(to, &element, sizeof element);
}
template <class T>
float get(const unsigned char* from) {
  T element;
  std::memcpy(&element, from, sizeof element);
  return static_cast<float>(element);
}
constexpr decltype(&put<float>) kPut[] = {put<float>, put<__nv_bfloat16>, put<__half>,
                                          put<__nv_fp8_e4m3>, put<__nv_fp8_e5m2>};
constexpr decltype(&get<float>) kGet[] = {get<float>, get<__nv_bfloat16>, get<__half>,
                                          get<__nv_fp8_e4m3>, get<__nv_fp8_e5m2>};

struct Types {
  ladder_type in, out;
  ladder_scaling scaling;
};
constexpr Types kComputed[] = {{LADDER_TYPE_BF16, LADDER_TYPE_BF16, LADDER_SCALING_NONE},
                               {LADDER_TYPE_BF16, LADDER_TYPE_F32, LADDER_SCALING_NONE},
                               {LADDER_TYPE_F16, LADDER_TYPE_F16, LADDER_SCALING_NONE},
                               {LADDER_TYPE_F16, LADDER_TYPE_F32, LADDER_SCALING_NONE},
                               {LADDER_TYPE_E4M3, LADDER_TYPE_BF16, LADDER_SCALING_BLOCK},
                               {LADDER_TYPE_E4M3, LADDER_TYPE_F32, LADDER_SCALING_BLOCK},
                               {LADDER_TYPE_E4M3, LADDER_TYPE_BF16, LADDER_SCALING_TENSOR},
                               {LADDER_TYPE_E5M2, LADDER_TYPE_BF16, LADDER_SCALING_BLOCK}};

// Lines of `used` elements, `ld` apart; everything else is 0xFF, a NaN of each type.
struct Matrix {
  ladder_type type;
  std::int64_t lines, used, ld;
  std::vector<unsigned char> host;
  OnDevice<unsigned char> there;

  Matrix(ladder_type of, std::int64_t many, std::int64_t length, std::int64_t gap)
      : type(of),
        lines(many),
        used(length),
        ld(std::max<std::int64_t>(1, length) + gap),
        host(static_cast<std::size_t>(many * ld) * kBytes[of] + 16, 0xFF) {}
  unsigned char* at(std::int64_t line, std::int64_t i) {
    return host.data() + static_cast<std::size_t>(line * ld + i) * kBytes[type];
  }
  void fill(unsigned seed) {
    const std::vector<float> values = integers(lines * used, seed);
    for (std::int64_t i = 0; i < lines * used; ++i)
      kPut[type](at(i / used, i % used), values[static_cast<std::size_t>(i)]);
    there = upload(host);
  }
  float operator()(std::int64_t line, std::int64_t i) { return kGet[type](at(line, i)); }
};

// 2^-1, 1 or 2.
std::vector<float> powers(std::int64_t count, unsigned seed) {
  std::vector<float> scales = integers(count, seed);
  for (float& scale : scales) scale = std::ldexp(1.0F, static_cast<int>(scale) % 2);
  return scales;
}

struct Typed {
  ladder_typed_call call;
  bool along_k;  // B, as the types require
  Matrix a, b, c;
  std::vector<float> scales_a, scales_b;
  OnDevice<float> scales_a_there, scales_b_there;

  // Of the row-major problem; a column-major call has its operands exchanged.
  Typed(Shape s, const Types& types, ladder_layout layout = LADDER_ROW_MAJOR, std::int64_t gap = 3)
      : along_k(types.scaling != LADDER_SCALING_NONE),
        a(types.in, s.m, s.k, gap),
        b(types.in, along_k ? s.n : s.k, along_k ? s.k : s.n, gap + 1),
        c(types.out, s.m, s.n, gap) {
    a.fill(1);
    b.fill(2);
    c.fill(3);
    const bool blocks = types.scaling == LADDER_SCALING_BLOCK;
    if (along_k) {
      const auto count = [](ladder_grain grain, const Matrix& x) {
        return ladder_scale_count(grain, x.lines, x.used);
      };
      scales_a = powers(count(blocks ? LADDER_GRAIN_ROW_BLOCK : LADDER_GRAIN_TENSOR, a), 4);
      scales_b = powers(count(blocks ? LADDER_GRAIN_SQUARE : LADDER_GRAIN_TENSOR, b), 5);
      scales_a_there = upload(scales_a);
      scales_b_there = upload(scales_b);
    }
    ladder_typed_call_init(&call);
    call.layout = layout;
    call.type_ab = types.in, call.type_c = types.out, call.scaling = types.scaling;
    call.m = s.m, call.n = s.n, call.k = s.k;
    call.op_b = along_k ? LADDER_OP_T : LADDER_OP_N;
    call.alpha = 2.0F, call.beta = 3.0F;
    call.a = a.there.get(), call.b = b.there.get(), call.c = c.there.get();
    call.lda = a.ld, call.ldb = b.ld, call.ldc = c.ld;
    call.scales_a = scales_a_there.get(), call.scales_b = scales_b_there.get();
    if (layout == LADDER_ROW_MAJOR) return;
    std::swap(call.op_a, call.op_b);
    std::swap(call.m, call.n);
    std::swap(call.a, call.b);
    std::swap(call.lda, call.ldb);
    std::swap(call.scales_a, call.scales_b);
  }

  float scale_a(std::int64_t i, std::int64_t l) const {
    if (scales_a.empty()) return 1;
    return scales_a.size() == 1 ? scales_a[0]
                                : scales_a[static_cast<std::size_t>(l / 128 * a.lines + i)];
  }
  float scale_b(std::int64_t j, std::int64_t l) const {
    if (scales_b.empty()) return 1;
    const std::int64_t along = (b.used + 511) / 512 * 4;  // blocks along k, by fours
    return scales_b.size() == 1 ? scales_b[0]
                                : scales_b[static_cast<std::size_t>(j / 128 * along + l / 128)];
  }

  std::vector<unsigned char> expected() {
    Matrix out(c.type, c.lines, c.used, c.ld - std::max<std::int64_t>(1, c.used));
    for (std::int64_t i = 0; i < c.lines; ++i) {
      for (std::int64_t j = 0; j < c.used; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; call.alpha != 0 && l < call.k; ++l)
          sum += a(i, l) * scale_a(i, l) * (along_k ? b(j, l) : b(l, j)) * scale_b(j, l);
        kPut[c.type](out.at(i, j), (call.alpha == 0 ? 0 : call.alpha * sum) +
                                       (call.beta == 0 ? 0 : call.beta * c(i, j)));
      }
    }
    return out.host;
  }
  std::vector<unsigned char> result() const { return download(c.there, c.host.size()); }
  void reset() const {
    ASSERT_EQ(cudaMemcpy(c.there.get(), c.host.data(), c.host.size(), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
};

std::string name_of(const Types& types) {
  return "types " + std::to_string(types.in) + " to " + std::to_string(types.out) + " scaling " +
         std::to_string(types.scaling);
}

class TypedCalls : public WithHopper {};

TEST_F(TypedCalls, ExactInEveryTypeLayoutAndShape) {
  const Handle handle;
  const Shape shapes[] = {{1, 1, 1},     {37, 45, 70},    {128, 256, 128}, {129, 257, 300},
                          {16, 520, 64}, {72, 136, 1032}, {64, 64, 0},     {0, 8, 8}};
  for (const Types& types : kComputed) {
    for (const Shape& shape : shapes) {
      for (const auto& [layout, gap] : {std::pair{LADDER_ROW_MAJOR, 0}, {LADDER_COL_MAJOR, 5}}) {
        Typed x(shape, types, layout, gap);
        ASSERT_EQ(ladder_gemm_typed(handle, &x.call), LADDER_STATUS_OK) << ladder_last_error();
        EXPECT_EQ(x.result(), x.expected())
            << name_of(types) << " " << shape.m << "x" << shape.n << "x" << shape.k << " layout "
            << layout << " gap " << gap;
      }
    }
  }
}

TEST_F(TypedCalls, AlphaAndBetaOfZeroReadNothing) {
  const Handle handle;
  for (const Types& types : kComputed) {
    Typed x({40, 24, 136}, types);
    x.call.beta = 0;
    std::fill(x.c.host.begin(), x.c.host.end(), 0xFF);  // NaN
    x.reset();
    ASSERT_EQ(ladder_gemm_typed(handle, &x.call), LADDER_STATUS_OK) << ladder_last_error();
    EXPECT_EQ(x.result(), x.expected()) << name_of(types);
    x.call.alpha = 0;
    x.call.a = x.call.b = nullptr;
    x.call.scales_a = x.call.scales_b = nullptr;
    ASSERT_EQ(ladder_gemm_typed(handle, &x.call), LADDER_STATUS_OK) << ladder_last_error();
    EXPECT_EQ(x.result(), x.expected()) << name_of(types);
  }
}

TEST_F(TypedCalls, AUsersWorkspaceIsAllThatIsUsed) {
  const Handle handle;
  for (const Types& types : kComputed) {
    Typed x({40, 200, 2056}, types);  // k-splits
    size_t bytes = 0;
    ASSERT_EQ(ladder_typed_workspace_bytes(handle, &x.call, &bytes), LADDER_STATUS_OK);
    ASSERT_GT(bytes, 256U) << name_of(types);
    constexpr std::size_t kGuard = 4096;
    const auto memory = filled_array<unsigned char>(bytes + kGuard, 0xA5);
    ASSERT_EQ(ladder_set_workspace(handle, memory.get(), bytes), LADDER_STATUS_OK);
    const int before = counted().all();
    for (int round = 0; round < 2; ++round) {
      x.reset();
      ASSERT_EQ(ladder_gemm_typed(handle, &x.call), LADDER_STATUS_OK) << ladder_last_error();
      EXPECT_EQ(x.result(), x.expected()) << name_of(types);
    }
    EXPECT_EQ(counted().all(), before);
    const auto after = download(memory, bytes + kGuard);
    for (std::size_t i = bytes; i < after.size(); ++i) ASSERT_EQ(after[i], 0xA5) << name_of(types);
    x.reset();
    ASSERT_EQ(ladder_set_workspace(handle, memory.get(), bytes - 256), LADDER_STATUS_OK);
    EXPECT_EQ(ladder_gemm_typed(handle, &x.call), LADDER_STATUS_WORKSPACE_TOO_SMALL);
    EXPECT_NE(std::string(ladder_last_error()).find("needs " + std::to_string(bytes)),
              std::string::npos)
        << ladder_last_error();
    EXPECT_EQ(x.result(), x.c.host);
    ASSERT_EQ(ladder_set_workspace(handle, nullptr, 0), LADDER_STATUS_OK);
  }
}

TEST_F(TypedCalls, TheFirstCallCanBeCaptured) {
  for (const Types& types : kComputed) {
    const Handle handle;
    Typed x({40, 200, 520}, types);
    const CreatedStream stream;
    ASSERT_EQ(ladder_set_stream(handle, stream), LADDER_STATUS_OK);
    const ExecutableGraph graph(stream, cudaStreamCaptureModeGlobal, [&] {
      EXPECT_EQ(ladder_gemm_typed(handle, &x.call), LADDER_STATUS_OK) << ladder_last_error();
    });
    for (int round = 0; round < 2; ++round) {
      x.reset();
      graph.replay(stream);
      EXPECT_EQ(x.result(), x.expected()) << name_of(types);
    }
  }
}

TEST_F(TypedCalls, EachWrongArgumentIsNamedAndNothingIsWritten) {
  const Handle handle;
  static float on_host[4096];
  struct Wrong {
    const char* text;  // what ladder_last_error() begins with
    std::function<void(ladder_typed_call&)> make;
    ladder_status status = LADDER_STATUS_INVALID_ARGUMENT;
  };
  const Wrong all[] = {
      {"struct_size: ", [](auto& x) { x.struct_size = 8; }},
      {"layout: 2 is none", [](auto& x) { x.layout = static_cast<ladder_layout>(2); }},
      {"op_a: 3 is none", [](auto& x) { x.op_a = static_cast<ladder_op>(3); }},
      {"op_b: -1 is none", [](auto& x) { x.op_b = static_cast<ladder_op>(-1); }},
      {"type_ab: 5 is none", [](auto& x) { x.type_ab = static_cast<ladder_type>(5); }},
      {"type_c: -1 is none", [](auto& x) { x.type_c = static_cast<ladder_type>(-1); }},
      {"scaling: 3 is none", [](auto& x) { x.scaling = static_cast<ladder_scaling>(3); }},
      {"scaling: e4m3 operands have scales", [](auto& x) { x.scaling = LADDER_SCALING_NONE; }},
      {"scaling: bf16 operands have no scales", [](auto& x) { x.type_ab = LADDER_TYPE_BF16; }},
      {"m = -1: ", [](auto& x) { x.m = -1; }},
      {"k = -3: ", [](auto& x) { x.k = -3; }},
      {"lda = 129: must be at least 130", [](auto& x) { x.lda = 129; }},
      {"ldb = 129: must be at least 130", [](auto& x) { x.ldb = 129; }},
      {"ldc = 0: must be at least 9", [](auto& x) { x.ldc = 0; }},
      {"a: null", [](auto& x) { x.a = nullptr; }},
      {"b: lies on the host", [](auto& x) { x.b = on_host; }},
      {"c: null", [](auto& x) { x.c = nullptr; }},
      {"c: is not aligned to 4 bytes", [](auto& x) { x.c = static_cast<char*>(x.c) + 2; }},
      {"scales_a: is not aligned to 4 bytes",
       [](auto& x) {
         x.scales_a = reinterpret_cast<const float*>(reinterpret_cast<const char*>(x.scales_a) + 1);
       }},
      {"scales_a: null", [](auto& x) { x.scales_a = nullptr; }},
      {"scales_b: lies on the host", [](auto& x) { x.scales_b = on_host; }},
      {"type_ab, type_c: e4m3 to f16 with block scales is not computed; there are: bf16 to bf16;",
       [](auto& x) { x.type_c = LADDER_TYPE_F16; }, LADDER_STATUS_NOT_SUPPORTED},
      {"call: takes row-major operands with B transposed",
       [](auto& x) {
         x.op_b = LADDER_OP_N;
         x.ldb = 200;
       },
       LADDER_STATUS_NOT_SUPPORTED},
  };
  for (const Wrong& wrong : all) {
    Typed x({8, 9, 130}, {LADDER_TYPE_E4M3, LADDER_TYPE_F32, LADDER_SCALING_BLOCK});
    wrong.make(x.call);
    expect_refused(ladder_gemm_typed(handle, &x.call), wrong.text, wrong.status);
    EXPECT_EQ(x.result(), x.c.host) << wrong.text;
  }
  EXPECT_EQ(ladder_gemm_typed(handle, nullptr), LADDER_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(ladder_gemm_typed(nullptr, nullptr), LADDER_STATUS_INVALID_ARGUMENT);
}

// The product of what ladder_quantize() made, against FP64 on the quantised elements.
TEST_F(TypedCalls, MultipliesWhatItQuantized) {
  const Handle handle;
  const Shape s{70, 200, 300};
  Typed x(s, {LADDER_TYPE_E4M3, LADDER_TYPE_F32, LADDER_SCALING_BLOCK});
  const auto quantize = [&](Matrix& matrix, ladder_grain grain, unsigned seed,
                            std::vector<float>& scales, const OnDevice<float>& there) {
    std::vector<float> plain = integers(matrix.lines * matrix.used, seed);
    for (std::size_t i = 0; i < plain.size(); ++i) plain[i] += 0.37F * static_cast<float>(i % 7);
    const auto plain_there = upload(plain);
    ASSERT_EQ(
        ladder_quantize(handle, matrix.type, grain, matrix.lines, matrix.used, plain_there.get(),
                        matrix.used, matrix.there.get(), matrix.ld, there.get()),
        LADDER_STATUS_OK)
        << ladder_last_error();
    matrix.host = download(matrix.there, matrix.host.size());
    scales = download(there, scales.size());
  };
  quantize(x.a, LADDER_GRAIN_ROW_BLOCK, 11, x.scales_a, x.scales_a_there);
  quantize(x.b, LADDER_GRAIN_SQUARE, 12, x.scales_b, x.scales_b_there);
  x.call.alpha = 1, x.call.beta = 0;
  ASSERT_EQ(ladder_gemm_typed(handle, &x.call), LADDER_STATUS_OK) << ladder_last_error();
  Matrix result(x.c.type, s.m, s.n, x.c.ld - s.n);
  result.host = x.result();
  // As src/verify/bound.cpp: a wgmma adds 32 products to the sum before, aligned to the largest and
  // cut after 13 fraction bits; four of them share their scales. Promotion rounds in FP32.
  const double blocks = std::ceil(static_cast<double>(s.k) / 128);
  const double error = std::pow(1 + 34 * 0x1p-13, 4) - 1 + (blocks + 6) * 0x1p-24;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0, all = 0;
      for (std::int64_t l = 0; l < s.k; ++l) {
        const double product =
            double{x.a(i, l)} * x.scale_a(i, l) * double{x.b(j, l)} * x.scale_b(j, l);
        sum += product;
        all += std::abs(product);
      }
      ASSERT_NEAR(result(i, j), sum, error * all) << i << "," << j;
    }
  }
}

TEST_F(WithDevice, ScaleCountsAndQuantizeNameWhatIsWrong) {
  EXPECT_EQ(ladder_scale_count(LADDER_GRAIN_TENSOR, 5, 7), 1);
  EXPECT_EQ(ladder_scale_count(LADDER_GRAIN_ROW_BLOCK, 5, 129), 10);
  EXPECT_EQ(ladder_scale_count(LADDER_GRAIN_SQUARE, 129, 129), 8);  // 2 x 2, rows of 4
  EXPECT_EQ(ladder_scale_count(LADDER_GRAIN_SQUARE, -1, 4), -1);
  EXPECT_EQ(ladder_scale_count(static_cast<ladder_grain>(3), 4, 4), -1);
  const Handle handle;
  const auto x = device_array<float>(64);
  const auto q = device_array<unsigned char>(64);
  const auto wrong = [&](const char* text, ladder_type type, ladder_grain grain, std::int64_t rows,
                         std::int64_t ldx, const float* from) {
    expect_refused(ladder_quantize(handle, type, grain, rows, 8, from, ldx, q.get(), 8, x.get()),
                   text);
  };
  wrong("type: 9 is none", static_cast<ladder_type>(9), LADDER_GRAIN_TENSOR, 8, 8, x.get());
  wrong("type: bf16 is no 8-bit type", LADDER_TYPE_BF16, LADDER_GRAIN_TENSOR, 8, 8, x.get());
  wrong("grain: 3 is none", LADDER_TYPE_E4M3, static_cast<ladder_grain>(3), 8, 8, x.get());
  wrong("rows = -8: must be at least 0", LADDER_TYPE_E4M3, LADDER_GRAIN_TENSOR, -8, 8, x.get());
  wrong("ldx = 7: must be at least 8, the columns", LADDER_TYPE_E4M3, LADDER_GRAIN_TENSOR, 8, 7,
        x.get());
  wrong("x: null", LADDER_TYPE_E4M3, LADDER_GRAIN_TENSOR, 8, 8, nullptr);
}

TEST_F(WithDevice, TypedCallsAreRefusedWhereNoKernelIs) {
  if (is_hopper()) GTEST_SKIP() << "this GPU computes them";
  const Handle handle;
  Typed x({8, 9, 10}, kComputed[0]);
  EXPECT_EQ(ladder_gemm_typed(handle, &x.call), LADDER_STATUS_NOT_SUPPORTED);
  EXPECT_NE(std::string(ladder_last_error()).find("compute capability 9.0"), std::string::npos)
      << ladder_last_error();
  EXPECT_EQ(x.result(), x.c.host);
}

}  // namespace
}  // namespace ladder::test
