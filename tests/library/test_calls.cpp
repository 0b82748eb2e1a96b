// SPDX-License-Identifier: Apache-2.0
// Results of the C interface: every layout, operation and precision, batches, groups, epilogues,
// alpha and beta on the device, memory.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "library/support.hpp"
#include "support/streams.hpp"

namespace ladder::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr ladder_layout kLayouts[] = {LADDER_ROW_MAJOR, LADDER_COL_MAJOR};

class Calls : public WithDevice {};

TEST_F(Calls, EveryLayoutOperationAndPrecision) {
  const Handle handle;
  int refused = 0;
  for (const ladder_precision precision : kPrecisions) {
    for (const auto& [layout, op_a, op_b] : kForms) {
      Example x({37, 29, 41}, layout, op_a, op_b);
      x.call.precision = precision;
      const ladder_status status = x.run(handle);
      const std::string name = std::string(ladder_precision_string(precision)) + " layout " +
                               std::to_string(layout) + " ops " + std::to_string(op_a) +
                               std::to_string(op_b);
      if (status == LADDER_STATUS_NOT_SUPPORTED) {
        EXPECT_TRUE(!computes(precision) || precision == LADDER_PRECISION_TF32) << name;
        EXPECT_NE(std::string(ladder_last_error()).find("precision: "), std::string::npos);
        EXPECT_EQ(x.result(), x.c) << name;
        ++refused;
        continue;
      }
      ASSERT_EQ(status, LADDER_STATUS_OK) << name << ": " << ladder_last_error();
      EXPECT_EQ(x.result(), x.expected()) << name;
    }
  }
  // on Hopper: tf32 with a transposed operand
  const auto lacking =
      std::ranges::count_if(kPrecisions, [](ladder_precision p) { return !computes(p); });
  EXPECT_EQ(refused, is_hopper() ? 6 : 8 * lacking);
}

TEST_F(Calls, LargerProductsOfEveryPrecision) {
  const Handle handle;
  for (const ladder_precision precision : kPrecisions) {
    if (!computes(precision)) continue;
    Example x({200, 264, 136}, LADDER_COL_MAJOR);
    x.call.precision = precision;
    SCOPED_TRACE(precision);
    x.expect_right(handle);
  }
}

TEST_F(Calls, NothingIsReadThatBlasDoesNotRead) {
  const Handle handle;
  for (const ladder_pointer_mode mode : {LADDER_POINTER_MODE_HOST, LADDER_POINTER_MODE_DEVICE}) {
    ASSERT_EQ(ladder_set_pointer_mode(handle, mode), LADDER_STATUS_OK);
    for (const bool zero_alpha : {false, true}) {
      Example x({33, 17, 20});
      x.beta = zero_alpha ? 3 : 0;
      if (zero_alpha) x.alpha = 0;
      std::vector<float> poisoned((zero_alpha ? x.a : x.c).size(), kNan);
      auto there = upload(poisoned);
      if (zero_alpha) {
        x.call.a = there.get();
      } else {
        x.c_there = upload(poisoned);
        x.call.c = x.c_there.get();
      }
      const auto scalars = upload(std::vector<float>{x.alpha, x.beta});
      if (mode == LADDER_POINTER_MODE_DEVICE)
        x.call.alpha = scalars.get(), x.call.beta = scalars.get() + 1;
      ASSERT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
      const auto expected = x.expected(), result = x.result();
      for (std::int64_t i = 0; i < x.call.m; ++i) {
        for (std::int64_t j = 0; j < x.call.n; ++j) {
          const std::size_t at = x.at(i, j, x.call.ldc, LADDER_OP_N);
          ASSERT_EQ(result[at], expected[at]) << mode << zero_alpha;
        }
      }
    }
  }
}

TEST_F(Calls, EmptyProblems) {
  const Handle handle;
  Example x({8, 8, 8});
  x.call.m = 0;
  x.call.a = nullptr;
  x.call.c = nullptr;
  EXPECT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
  Example y({8, 8, 0});
  y.call.a = y.call.b = nullptr;
  y.expect_right(handle);
}

TEST_F(Calls, BatchesByStrideAndByPointers) {
  const Handle handle;
  for (const ladder_layout layout : kLayouts) {
    for (const std::int64_t count : {2, 5}) {
      for (const char* where : {"stride", "host", "device"}) {
        Example x({19, 23, 31}, layout, LADDER_OP_T, LADDER_OP_N, count);
        std::vector<const float*> a, b;
        std::vector<float*> c;
        for (std::int64_t i = 0; i < count; ++i) {
          a.push_back(x.call.a + i * x.call.stride_a);
          b.push_back(x.call.b + i * x.call.stride_b);
          c.push_back(x.call.c + i * x.call.stride_c);
        }
        const auto a_there = upload(a), b_there = upload(b);
        const auto c_there = upload(c);
        const std::string place = where;
        if (place != "stride") {
          x.call.a = x.call.b = nullptr;
          x.call.c = nullptr;
          x.call.a_pointers = place == "host" ? a.data() : a_there.get();
          x.call.b_pointers = place == "host" ? b.data() : b_there.get();
          x.call.c_pointers = place == "host" ? c.data() : c_there.get();
        }
        ASSERT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
        EXPECT_EQ(x.result(), x.expected()) << place << count;
      }
    }
  }
}

TEST_F(Calls, BatchesOfEveryPrecision) {
  const Handle handle;
  for (const ladder_precision precision : kPrecisions) {
    if (!computes(precision)) continue;
    Example x({65, 40, 72}, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, 3);
    x.call.precision = precision;
    SCOPED_TRACE(precision);
    x.expect_right(handle);
  }
}

TEST_F(Calls, Groups) {
  const Handle handle;
  Example x({19, 23, 31}), y({40, 3, 8}, LADDER_COL_MAJOR, LADDER_OP_T, LADDER_OP_N, 4);
  const ladder_gemm_call calls[] = {x.call, y.call};
  ASSERT_EQ(ladder_gemm_grouped(handle, calls, 2), LADDER_STATUS_OK) << ladder_last_error();
  EXPECT_EQ(x.result(), x.expected());
  EXPECT_EQ(y.result(), y.expected());
  x.reset();
  ladder_gemm_call wrong[] = {x.call, y.call};
  wrong[1].ldb = 0;
  expect_refused(ladder_gemm_grouped(handle, wrong, 2), "calls[1].ldb ");
  EXPECT_EQ(x.result(), x.c) << "nothing is enqueued before all is checked";
}

float activated(ladder_activation kind, float x) {
  const double wide = x;
  switch (kind) {
    case LADDER_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case LADDER_ACTIVATION_GELU:
      return static_cast<float>(wide * (1 + std::erf(wide / std::sqrt(2.0))) / 2);
    case LADDER_ACTIVATION_GELU_TANH:
      return static_cast<float>(
          wide / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (wide + 0.044715 * wide * wide * wide))));
    default: return x;
  }
}

// The call's epilogue by the definition, of one value of C, with host copies of bias and residual.
float finished(const Example& x, const std::vector<float>& bias, const std::vector<float>& residual,
               float value, std::int64_t i, std::int64_t j, std::int64_t number) {
  const ladder_epilogue& e = x.call.epilogue;
  if (e.bias_kind != LADDER_BIAS_NONE)
    value += bias[static_cast<std::size_t>(number * e.bias_stride +
                                           (e.bias_kind == LADDER_BIAS_PER_ROW ? i : j))];
  value = e.scale * activated(e.activation, value);
  if (e.residual != nullptr)
    value += residual[static_cast<std::size_t>(number * e.residual_stride) +
                      x.at(i, j, e.ld_residual, LADDER_OP_N)];
  return value;
}

TEST_F(Calls, Epilogues) {
  const Handle handle;
  for (const ladder_activation activation : {LADDER_ACTIVATION_NONE, LADDER_ACTIVATION_RELU,
                                             LADDER_ACTIVATION_GELU, LADDER_ACTIVATION_GELU_TANH}) {
    for (const ladder_bias bias_kind :
         {LADDER_BIAS_NONE, LADDER_BIAS_PER_ROW, LADDER_BIAS_PER_COLUMN}) {
      for (const ladder_layout layout : kLayouts) {
        for (const std::int64_t count : {1, 3, 5}) {
          Example x({24, 19, 16}, layout, LADDER_OP_N, LADDER_OP_N, count);
          x.alpha = 0.125F;
          ladder_epilogue& e = x.call.epilogue;
          e.activation = activation;
          e.bias_kind = bias_kind;
          const std::vector<float> bias = integers(64 * count, 9), residual = integers(4000, 10);
          const auto bias_there = upload(bias), residual_there = upload(residual);
          if (bias_kind != LADDER_BIAS_NONE) e.bias = bias_there.get();
          e.bias_stride = 30;
          e.residual = residual_there.get();
          e.ld_residual = 25;
          e.residual_stride = 700;
          e.scale = 0.5F;
          const auto expected =
              x.expected([&](auto... of) { return finished(x, bias, residual, of...); });
          ASSERT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
          const auto result = x.result();
          // erff, tanhf: at most 2 ulp; here of values up to 64
          for (std::size_t i = 0; i < result.size(); ++i)
            ASSERT_NEAR(result[i], expected[i], 64 * 0x1p-22)
                << activation << bias_kind << layout << count << " at " << i;
        }
      }
    }
  }
}

TEST_F(Calls, ScalarsOnTheDeviceAreReadWhenTheKernelsRun) {
  const Handle handle;
  ASSERT_EQ(ladder_set_pointer_mode(handle, LADDER_POINTER_MODE_DEVICE), LADDER_STATUS_OK);
  for (const ladder_precision precision : kPrecisions) {
    for (const ladder_layout layout : kLayouts) {
      Example x({37, 29, 40}, layout);
      const auto scalars = upload(std::vector<float>{3, 5});
      x.alpha = 3, x.beta = 5;
      x.call.alpha = scalars.get();
      x.call.beta = scalars.get() + 1;
      x.call.precision = precision;
      x.call.epilogue.activation = LADDER_ACTIVATION_RELU;
      const ladder_status status = x.run(handle);
      if (status == LADDER_STATUS_NOT_SUPPORTED && !computes(precision)) continue;
      ASSERT_EQ(status, LADDER_STATUS_OK) << ladder_last_error();
      EXPECT_EQ(x.result(), x.expected([](float v, auto...) { return v < 0 ? 0 : v; }))
          << precision << layout;
    }
  }
}

TEST_F(Calls, AUsersWorkspaceIsAllThatIsUsed) {
  if (!is_hopper()) GTEST_SKIP() << "no kernel needs a workspace";
  const Handle handle;
  for (const ladder_precision precision : kPrecisions) {
    Example x({136, 200, 264});
    x.call.precision = precision;
    size_t bytes = 0;
    ASSERT_EQ(ladder_workspace_bytes(handle, &x.call, &bytes), LADDER_STATUS_OK);
    constexpr std::size_t kGuard = 4096;
    const std::vector<unsigned char> before(bytes + kGuard, 0xA5);  // flags that are not zero
    const auto memory = upload(before);
    if (bytes > 0) {
      ASSERT_EQ(ladder_set_workspace(handle, memory.get(), bytes), LADDER_STATUS_OK)
          << ladder_last_error();
    }
    const int before_calls = counted().all();
    for (int round = 0; round < 2; ++round) {
      x.reset();
      SCOPED_TRACE(precision);
      x.expect_right(handle);
    }
    EXPECT_EQ(counted().all(), before_calls);
    const auto after = download(memory, bytes + kGuard);
    for (std::size_t i = bytes; i < after.size(); ++i) ASSERT_EQ(after[i], 0xA5) << precision;
    if (bytes <= 256) continue;
    x.reset();
    ASSERT_EQ(ladder_set_workspace(handle, memory.get(), bytes - 256), LADDER_STATUS_OK);
    const ladder_status status = x.run(handle);
    if (precision == LADDER_PRECISION_IEEE || precision == LADDER_PRECISION_AUTO) {
      EXPECT_EQ(status, LADDER_STATUS_OK) << ladder_last_error();
      EXPECT_EQ(x.result(), x.expected());
    } else {
      EXPECT_EQ(status, LADDER_STATUS_WORKSPACE_TOO_SMALL);
      EXPECT_NE(std::string(ladder_last_error()).find(std::to_string(bytes) + " bytes"),
                std::string::npos)
          << ladder_last_error();
      EXPECT_EQ(x.result(), x.c);
    }
    ASSERT_EQ(ladder_set_workspace(handle, nullptr, 0), LADDER_STATUS_OK);
  }
}

TEST_F(Calls, CallsThatTheHandlesMemoryHoldsAllocateNothingAndDoNotWait) {
  const Handle handle;
  for (const ladder_precision precision : kPrecisions) {
    Example x({136, 200, 264});
    x.call.precision = precision;
    const int before = counted().all();
    const ladder_status status = x.run(handle);
    ASSERT_TRUE(status == LADDER_STATUS_OK || !computes(precision)) << ladder_last_error();
    EXPECT_EQ(counted().all(), before) << precision;
  }
}

TEST_F(Calls, TheHandlesMemoryGrowsWhenAsked) {
  const Handle handle;
  Example x({136, 200, 264});
  ASSERT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
  constexpr std::size_t kBytes = 64 << 20, kLeast = 32 << 20;
  const int allocations = counted().allocations, frees = counted().frees;
  ASSERT_EQ(ladder_set_workspace(handle, nullptr, kBytes), LADDER_STATUS_OK);
  EXPECT_GE(counted().bytes, kBytes);
  x.reset();
  x.expect_right(handle);
  ASSERT_EQ(ladder_set_workspace(handle, nullptr, 0), LADDER_STATUS_OK);
  EXPECT_GE(counted().bytes, kLeast);
  EXPECT_LT(counted().bytes, kBytes);
  EXPECT_EQ(counted().allocations - allocations, 2);
  EXPECT_EQ(counted().frees - frees, 2);
}

TEST_F(Calls, ABatchInvariantRowHasTheSameBitsWhateverTheBatch) {
  const Handle handle;
  constexpr std::int64_t kN = 70, kK = 333;
  std::vector<float> a(std::size_t{96} * kK), b(std::size_t{kK} * kN);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(3 * i));
  const auto a_there = upload(a), b_there = upload(b);
  const float alpha = 1.25F, beta = 0;
  std::vector<float> first;
  struct Batch {
    std::int64_t m, count;
  };
  for (const auto& [m, count] : {Batch{1, 1}, {7, 1}, {64, 1}, {96, 1}, {3, 200}}) {
    const auto c_there = upload(std::vector<float>(static_cast<std::size_t>(count * m * kN)));
    ladder_gemm_call call;
    ladder_gemm_call_init(&call);
    call.flags = LADDER_BATCH_INVARIANT | LADDER_DETERMINISTIC;
    call.m = m, call.n = kN, call.k = kK;
    call.batch_count = count, call.stride_c = m * kN;  // as many tiles as there are SMs, or few
    call.lda = kK, call.ldb = kN, call.ldc = kN;
    call.alpha = &alpha, call.beta = &beta;
    call.a = a_there.get(), call.b = b_there.get(), call.c = c_there.get();
    ASSERT_EQ(ladder_gemm(handle, &call), LADDER_STATUS_OK) << ladder_last_error();
    const auto row = download(c_there, kN);
    if (first.empty()) first = row;
    EXPECT_EQ(row, first) << m << " batch " << count;
    call.precision = LADDER_PRECISION_FP16X3;
    EXPECT_EQ(ladder_gemm(handle, &call), LADDER_STATUS_NOT_SUPPORTED);
  }
}

TEST_F(Calls, AnotherLibrarysErrorIsNeitherReportedNorCleared) {
  const Handle handle;
  for (const ladder_precision precision : kPrecisions) {
    if (!computes(precision)) continue;
    Example x({136, 200, 264}), wrong({8, 8, 8});
    x.call.precision = precision;
    ASSERT_NE(cudaMemset(nullptr, 0, 16), cudaSuccess);
    const cudaError_t left = cudaPeekAtLastError();
    ASSERT_NE(left, cudaSuccess);
    EXPECT_EQ(x.run(handle), LADDER_STATUS_OK) << precision << ladder_last_error();
    wrong.call.ldc = 1;
    EXPECT_EQ(wrong.run(handle), LADDER_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(cudaPeekAtLastError(), left) << precision;
    EXPECT_EQ(cudaGetLastError(), left);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(x.result(), x.expected());
  }
}

TEST_F(Calls, PlansNameKernelMemoryAndReason) {
  if (!is_hopper()) GTEST_SKIP() << "Plans.OfOtherGpus";
  const Handle handle;
  ladder_gemm_plan plan;
  Example x({64, 64, 64});
  const auto asked = [&](std::int64_t size, ladder_precision precision) {
    x.call.m = x.call.n = x.call.k = size;
    x.call.lda = x.call.ldb = x.call.ldc = size;
    x.call.precision = precision;
    plan = plan_of(handle, x.call);
    return std::string(plan.kernel);
  };
  EXPECT_EQ(asked(64, LADDER_PRECISION_IEEE), "ladder_split_k");
  EXPECT_EQ(asked(4096, LADDER_PRECISION_IEEE), "ladder_large_tiles");
  EXPECT_NE(std::string(plan.details).find("tile: 128x256x8"), std::string::npos) << plan.details;
  EXPECT_EQ(asked(4096, LADDER_PRECISION_AUTO), "ladder_guarded");
  EXPECT_EQ(plan.precision, LADDER_PRECISION_AUTO);
  EXPECT_GT(plan.workspace_bytes, size_t{4096} * 4096 * 2 * 2 * 2);  // two fp16 terms each
  EXPECT_TRUE(plan.deterministic);
  const auto memory = device_array<char>(1 << 20);
  ASSERT_EQ(ladder_set_workspace(handle, memory.get(), 1 << 20), LADDER_STATUS_OK);
  EXPECT_EQ(asked(4096, LADDER_PRECISION_AUTO), "ladder_strided");
  EXPECT_NE(std::string(plan.why).find("the workspace has 1048576 bytes"), std::string::npos)
      << plan.why;
  EXPECT_EQ(plan.workspace_bytes, 0U);
}

// What a call can say, at random: the result by the definition, and nothing written outside C.
TEST_F(Calls, AtRandom) {
  const Handle handle;
  std::mt19937 random(11);
  const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
  int computed = 0;
  for (int round = 0; round < 200; ++round) {
    const int largest = round % 8 == 0 ? 150 : 40;
    const Shape shape{below(largest), below(largest), below(largest)};
    const ladder_layout layout = kLayouts[below(2)];
    Example x(shape, layout, static_cast<ladder_op>(below(3)), static_cast<ladder_op>(below(3)),
              1 + below(5), static_cast<unsigned>(round));
    x.alpha = static_cast<float>(below(4) - 1);
    x.beta = static_cast<float>(below(4) - 1);
    x.call.precision = kPrecisions[below(3) == 0 ? below(8) : below(2)];
    if (below(4) == 0) x.call.flags = LADDER_BATCH_INVARIANT;
    if (below(3) == 0) x.call.stride_b = 0;
    const auto scalars = upload(std::vector<float>{x.alpha, x.beta});
    const bool on_device = below(3) == 0;
    ASSERT_EQ(ladder_set_pointer_mode(
                  handle, on_device ? LADDER_POINTER_MODE_DEVICE : LADDER_POINTER_MODE_HOST),
              LADDER_STATUS_OK);
    if (on_device) x.call.alpha = scalars.get(), x.call.beta = scalars.get() + 1;
    ladder_epilogue& e = x.call.epilogue;
    const std::vector<float> bias = integers(200, 17), residual = integers(160 * 160 * 5, 18);
    const auto bias_there = upload(bias), residual_there = upload(residual);
    e.activation = below(2) == 0 ? LADDER_ACTIVATION_RELU : LADDER_ACTIVATION_NONE;
    e.bias_kind = static_cast<ladder_bias>(below(3));
    if (e.bias_kind != LADDER_BIAS_NONE) e.bias = bias_there.get();
    e.bias_stride = below(2) * 7;
    if (below(2) == 0) e.residual = residual_there.get();
    e.ld_residual = 160;
    e.residual_stride = below(2) * 160 * 160;
    e.scale = static_cast<float>(1 + below(2));
    const auto expected =
        x.expected([&](auto... of) { return finished(x, bias, residual, of...); });
    const ladder_status status = x.run(handle);
    if (status == LADDER_STATUS_NOT_SUPPORTED) {
      EXPECT_GT(x.call.precision, LADDER_PRECISION_AUTO) << ladder_last_error();
      continue;
    }
    ASSERT_EQ(status, LADDER_STATUS_OK) << ladder_last_error();
    ASSERT_EQ(x.result(), expected)
        << round << ": " << shape.m << "x" << shape.n << "x" << shape.k << " layout " << layout
        << " ops " << x.call.op_a << x.call.op_b << " " << x.call.precision << " batch "
        << x.call.batch_count << " alpha " << x.alpha << " beta " << x.beta << " " << on_device;
    ++computed;
  }
  EXPECT_GT(computed, 120);
}

// One handle in several threads, and a handle for each.
TEST_F(Calls, Threads) {
  constexpr int kThreads = 8, kRounds = 2;
  const Handle shared;
  for (const bool own : {false, true}) {
    std::vector<std::unique_ptr<Example>> examples;
    for (unsigned i = 0; i < kThreads; ++i)
      examples.push_back(std::make_unique<Example>(Shape{40 + 8 * i, 33, 50}, LADDER_ROW_MAJOR,
                                                   LADDER_OP_N, LADDER_OP_T, 1, i));
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const CreatedStream own_stream;
        const Handle own_handle;
        EXPECT_EQ(ladder_set_stream(own_handle, own_stream), LADDER_STATUS_OK);
        const Handle& handle = own ? own_handle : shared;
        const cudaStream_t stream = own ? cudaStream_t{own_stream} : nullptr;
        Example& x = *examples[static_cast<std::size_t>(t)];
        for (int round = 0; round < kRounds; ++round) {
          for (const ladder_precision precision :
               {LADDER_PRECISION_IEEE, LADDER_PRECISION_BF16X6, LADDER_PRECISION_AUTO}) {
            if (!computes(precision)) continue;
            x.call.precision = precision;
            x.reset();
            EXPECT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
            EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
            EXPECT_EQ(x.result(), x.expected());
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace ladder::test
