// SPDX-License-Identifier: Apache-2.0
// Batches of FP32 products that one launch computes.
#include <gtest/gtest.h>

#include "library/support.hpp"

namespace ladder::test {
namespace {

class Batches : public WithHopper {};

TEST_F(Batches, OfEveryLayoutAndOperationAreOneLaunch) {
  const Handle handle;
  for (const Shape shape : {Shape{37, 29, 41}, {1, 64, 16}, {130, 8, 70}, {96, 128, 64}}) {
    for (const auto& [layout, op_a, op_b] : kForms) {
      const Example x(shape, layout, op_a, op_b, 5);
      const ladder_gemm_plan plan = plan_of(handle, x.call);
      EXPECT_STREQ(plan.why, "batch_count: one launch computes all products");
      EXPECT_STREQ(plan.kernel, "ladder_split_k");
      EXPECT_EQ(plan.workspace_bytes, 0U);
      ASSERT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
      EXPECT_EQ(x.result(), x.expected()) << shape.m << "x" << shape.n << "x" << shape.k
                                          << " layout " << layout << " ops " << op_a << op_b;
    }
  }
}

// Rows that start on 16 bytes take wide copies, unless the products do not.
TEST_F(Batches, OfAlignedRowsAndAnyStride) {
  const Handle handle;
  for (const std::int64_t stray : {0, 1, 4}) {
    Example x({64, 96, 32}, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, 3);
    x.call.lda = 32;
    x.call.ldb = 96;
    x.call.ldc = 96;
    x.call.stride_a = 64 * 32 + stray;
    x.call.stride_b = 32 * 96 + stray;
    x.call.stride_c = 64 * 96 + stray;
    SCOPED_TRACE(stray);
    x.expect_right(handle);
  }
}

TEST_F(Batches, ShareAnOperandByAStrideOfZero) {
  const Handle handle;
  for (const bool shares_a : {true, false}) {
    Example x({40, 72, 33}, LADDER_COL_MAJOR, LADDER_OP_N, LADDER_OP_T, 4);
    (shares_a ? x.call.stride_a : x.call.stride_b) = 0;
    x.expect_right(handle);
  }
}

TEST_F(Batches, OfManyTinyProducts) {
  const Handle handle;
  const Example x({1, 2, 1}, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, 70'001);
  x.expect_right(handle);
}

TEST_F(Batches, HaveEpilogues) {
  const Handle handle;
  Example x({50, 60, 20}, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, 3);
  const std::vector<float> bias = integers(x.call.n, 9);
  const auto on_device = upload(bias);
  x.call.epilogue.bias_kind = LADDER_BIAS_PER_COLUMN;
  x.call.epilogue.bias = on_device.get();
  x.call.epilogue.activation = LADDER_ACTIVATION_RELU;
  EXPECT_STREQ(plan_of(handle, x.call).kernel, "ladder_split_k");
  ASSERT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
  EXPECT_EQ(x.result(), x.expected([&](float value, std::int64_t, std::int64_t j, auto) {
    return std::max(0.0F, value + bias[static_cast<std::size_t>(j)]);
  }));
}

// Each product of a few large ones fills the GPU.
TEST_F(Batches, OfLargeProductsAreALaunchEach) {
  const Handle handle;
  Example x({8, 8, 8}, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, 2);
  x.call.m = x.call.n = 4096;
  x.call.k = 512;
  x.call.lda = 512;
  x.call.ldb = x.call.ldc = 4096;
  x.call.stride_a = x.call.stride_b = 4096 * 512;
  x.call.stride_c = 4096 * 4096;
  EXPECT_STREQ(plan_of(handle, x.call).kernel, "ladder_large_tiles");
}

}  // namespace
}  // namespace ladder::test
