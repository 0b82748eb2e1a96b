// SPDX-License-Identifier: Apache-2.0
// Calls of gemm.h on operands of small integers, whose sums are exact in every precision, and the
// result by the definition.
#pragma once
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <ladder/gemm.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/device_memory.hpp"
#include "support/integers.hpp"

namespace ladder::test {

// Calls of the CUDA runtime by the program and by libladder.so.
struct Counted {
  std::atomic<int> allocations = 0, frees = 0, waits = 0;
  std::atomic<std::size_t> bytes = 0;  // of the last allocation
  int all() const { return allocations + frees + waits; }
};
Counted& counted();

inline bool has_device() {
  int count = 0;
  const bool has = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  if (!has) static_cast<void>(cudaGetLastError());
  return has;
}
inline int capability() {
  int major = 0, minor = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), cudaSuccess);
  return 10 * major + minor;
}

// Without a device, in tests that are skipped, there is no handle.
struct Handle {
  Handle() {
    if (!has_device()) return;
    EXPECT_EQ(ladder_create(&at), LADDER_STATUS_OK) << ladder_last_error();
  }
  ~Handle() { EXPECT_EQ(ladder_destroy(at), LADDER_STATUS_OK); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator ladder_handle() const { return at; }  // NOLINT(google-explicit-constructor)
  ladder_handle at = nullptr;
};

struct Shape {
  std::int64_t m, n, k;
};

// Every layout and pair of operations.
struct Form {
  ladder_layout layout;
  ladder_op op_a, op_b;
};
inline const std::vector<Form> kForms = [] {
  std::vector<Form> all;
  for (const auto layout : {LADDER_ROW_MAJOR, LADDER_COL_MAJOR}) {
    for (const auto op_a : {LADDER_OP_N, LADDER_OP_T})
      for (const auto op_b : {LADDER_OP_N, LADDER_OP_T}) all.push_back({layout, op_a, op_b});
  }
  return all;
}();

// A call with its operands on the host and on the device.
class Example {
 public:
  Example(Shape shape, ladder_layout layout = LADDER_ROW_MAJOR, ladder_op op_a = LADDER_OP_N,
          ladder_op op_b = LADDER_OP_N, std::int64_t count = 1, unsigned seed = 1) {
    ladder_gemm_call_init(&call);
    call.layout = layout;
    call.op_a = op_a;
    call.op_b = op_b;
    call.m = shape.m;
    call.n = shape.n;
    call.k = shape.k;
    call.batch_count = count;
    const auto place = [&](std::int64_t rows, std::int64_t cols, ladder_op op, std::int64_t pad,
                           std::int64_t& ld, std::int64_t& stride) {
      if (op != LADDER_OP_N) std::swap(rows, cols);
      if (layout == LADDER_COL_MAJOR) std::swap(rows, cols);
      ld = std::max<std::int64_t>(1, cols) + pad;
      stride = rows * ld + pad;
      return stride * count;
    };
    a = integers(place(call.m, call.k, op_a, 3, call.lda, call.stride_a), seed);
    b = integers(place(call.k, call.n, op_b, 1, call.ldb, call.stride_b), seed + 1);
    c = integers(place(call.m, call.n, LADDER_OP_N, 2, call.ldc, call.stride_c), seed + 2);
    a_there = upload(a);
    b_there = upload(b);
    c_there = upload(c);
    call.alpha = &alpha;
    call.beta = &beta;
    call.a = a_there.get();
    call.b = b_there.get();
    call.c = c_there.get();
  }

  std::size_t at(std::int64_t i, std::int64_t j, std::int64_t ld, ladder_op op) const {
    const bool rows = (call.layout == LADDER_ROW_MAJOR) == (op == LADDER_OP_N);
    return static_cast<std::size_t>(rows ? i * ld + j : j * ld + i);
  }

  // C by the definition, with `finish(value, i, j, number)` for the epilogue.
  template <class Finish>
  std::vector<float> expected(Finish finish) const {
    std::vector<float> out = c;
    for (std::int64_t number = 0; number < call.batch_count; ++number) {
      const float* const of_a = a.data() + number * call.stride_a;
      const float* const of_b = b.data() + number * call.stride_b;
      float* const of_c = out.data() + number * call.stride_c;
      for (std::int64_t i = 0; i < call.m; ++i) {
        for (std::int64_t j = 0; j < call.n; ++j) {
          float sum = 0;
          for (std::int64_t l = 0; alpha != 0 && l < call.k; ++l)
            sum += of_a[at(i, l, call.lda, call.op_a)] * of_b[at(l, j, call.ldb, call.op_b)];
          float& value = of_c[at(i, j, call.ldc, LADDER_OP_N)];
          value =
              finish((alpha == 0 ? 0 : alpha * sum) + (beta == 0 ? 0 : beta * value), i, j, number);
        }
      }
    }
    return out;
  }
  std::vector<float> expected() const {
    return expected([](float value, auto...) { return value; });
  }
  std::vector<float> result() const { return download(c_there, c.size()); }
  void reset() const {
    EXPECT_EQ(cudaMemcpy(c_there.get(), c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ladder_status run(ladder_handle handle) const { return ladder_gemm(handle, &call); }
  void expect_right(ladder_handle handle) const {
    ASSERT_EQ(run(handle), LADDER_STATUS_OK) << ladder_last_error();
    EXPECT_EQ(result(), expected());
  }

  ladder_gemm_call call;
  float alpha = 2, beta = -1;
  std::vector<float> a, b, c;
  OnDevice<float> a_there, b_there, c_there;
};

inline bool is_hopper() { return capability() == 90; }
// Whether the GPU computes in that precision: docs/library/c-api.md.
inline bool computes(ladder_precision precision) {
  switch (precision) {
    case LADDER_PRECISION_IEEE:
    case LADDER_PRECISION_AUTO: return true;
    case LADDER_PRECISION_TF32X3:
    case LADDER_PRECISION_BF16X3:
    case LADDER_PRECISION_BF16X6: return capability() >= 80;
    default: return is_hopper();
  }
}

constexpr ladder_precision kPrecisions[] = {LADDER_PRECISION_IEEE,   LADDER_PRECISION_AUTO,
                                            LADDER_PRECISION_TF32,   LADDER_PRECISION_TF32X3,
                                            LADDER_PRECISION_BF16X3, LADDER_PRECISION_BF16X6,
                                            LADDER_PRECISION_BF16X9, LADDER_PRECISION_FP16X3};

inline ladder_gemm_plan plan_of(ladder_handle handle, const ladder_gemm_call& call) {
  ladder_gemm_plan plan{};
  plan.struct_size = sizeof plan;
  EXPECT_EQ(ladder_plan(handle, &call, &plan), LADDER_STATUS_OK) << ladder_last_error();
  return plan;
}

// Whether a call was refused, and ladder_last_error() begins with this text.
inline void expect_refused(ladder_status found, const std::string& text,
                           ladder_status status = LADDER_STATUS_INVALID_ARGUMENT) {
  EXPECT_EQ(found, status) << text;
  EXPECT_EQ(std::string(ladder_last_error()).substr(0, text.size()), text);
}

class WithDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
};
class WithHopper : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!IsSkipped() && !is_hopper()) GTEST_SKIP() << "for compute capability 9.0";
  }
};

}  // namespace ladder::test
