// SPDX-License-Identifier: Apache-2.0
// Each wrong argument of the C interface, with the text that names it, and arguments at random.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "library/support.hpp"
#include "support/streams.hpp"

namespace ladder::test {
namespace {

class Arguments : public WithDevice {};

struct Wrong {
  const char* text;  // what ladder_last_error() begins with
  std::function<void(ladder_gemm_call&)> make;
};

const float* shifted(const float* at) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(at) + 2);
}

TEST_F(Arguments, EachWrongOneIsNamedAndNothingIsWritten) {
  const Handle handle;
  static float on_host[4096];
  static auto* const pointers = reinterpret_cast<float**>(on_host);
  const auto other = device_array<float>(4096);
  const Wrong all[] = {
      {"struct_size: ", [](auto& x) { x.struct_size -= 8; }},
      {"layout: 2 is none", [](auto& x) { x.layout = static_cast<ladder_layout>(2); }},
      {"op_a: 3 is none", [](auto& x) { x.op_a = static_cast<ladder_op>(3); }},
      {"op_b: -1 is none", [](auto& x) { x.op_b = static_cast<ladder_op>(-1); }},
      {"precision: 9 is none", [](auto& x) { x.precision = static_cast<ladder_precision>(9); }},
      {"flags: 4 has bits", [](auto& x) { x.flags = 4; }},
      {"m = -1: ", [](auto& x) { x.m = -1; }},
      {"n = -2: ", [](auto& x) { x.n = -2; }},
      {"k = -3: ", [](auto& x) { x.k = -3; }},
      {"lda = 7: must be at least 8", [](auto& x) { x.lda = 7; }},
      {"ldb = 8: must be at least 9", [](auto& x) { x.ldb = 8; }},
      {"ldc = 0: must be at least 9", [](auto& x) { x.ldc = 0; }},
      {"ldc = 4611686018427387904: the matrix's extent",
       [](auto& x) { x.ldc = std::int64_t{1} << 62; }},
      {"batch_count: at least 0", [](auto& x) { x.batch_count = -1; }},
      {"stride_a: at least 0", [](auto& x) { x.stride_a = -1; }},
      {"stride_b: its batch", [](auto& x) { x.stride_b = std::int64_t{1} << 61; }},
      {"stride_c: at least 86, so that products do not overlap, not 85",
       [](auto& x) { x.stride_c = 85; }},
      {"alpha: null", [](auto& x) { x.alpha = nullptr; }},
      {"beta: null", [](auto& x) { x.beta = nullptr; }},
      {"alpha: is in device memory", [&](auto& x) { x.alpha = other.get(); }},
      {"a: null", [](auto& x) { x.a = nullptr; }},
      {"b: null", [](auto& x) { x.b = nullptr; }},
      {"c: null", [](auto& x) { x.c = nullptr; }},
      {"a: is not aligned to 4 bytes", [](auto& x) { x.a = shifted(x.a); }},
      {"c: is not aligned to 4 bytes", [](auto& x) { x.c = const_cast<float*>(shifted(x.c)); }},
      {"a: lies on the host", [](auto& x) { x.a = on_host; }},
      {"b: lies on the host", [](auto& x) { x.b = on_host; }},
      {"c: lies on the host", [](auto& x) { x.c = on_host; }},
      {"a, b, c: null where arrays", [](auto& x) { x.c_pointers = pointers; }},
      {"a_pointers: null, but the call uses it",
       [](auto& x) {
         x.a = x.b = x.c = nullptr;
         x.c_pointers = pointers;
       }},
      {"a_pointers: lies on the device, but c_pointers on the host",
       [&](auto& x) {
         x.a = x.b = x.c = nullptr;
         x.c_pointers = pointers;
         x.a_pointers = x.b_pointers = reinterpret_cast<const float* const*>(other.get());
       }},
      {"a_pointers[0]: null",
       [](auto& x) {
         x.a = x.b = x.c = nullptr;
         x.c_pointers = pointers;
         x.a_pointers = x.b_pointers = pointers;
       }},
      {"epilogue.activation: 4 is none",
       [](auto& x) { x.epilogue.activation = static_cast<ladder_activation>(4); }},
      {"epilogue.bias_kind: 3 is none",
       [](auto& x) { x.epilogue.bias_kind = static_cast<ladder_bias>(3); }},
      {"epilogue.bias: null", [](auto& x) { x.epilogue.bias_kind = LADDER_BIAS_PER_ROW; }},
      {"epilogue.bias: given, but", [&](auto& x) { x.epilogue.bias = other.get(); }},
      {"epilogue.bias_stride: at least 0", [](auto& x) { x.epilogue.bias_stride = -1; }},
      {"epilogue.bias_stride: its batch does not fit",
       [](auto& x) { x.epilogue.bias_stride = INT64_MAX / 8; }},
      {"epilogue.residual_stride: its batch does not fit",
       [](auto& x) { x.epilogue.residual_stride = INT64_MAX / 8; }},
      {"epilogue.residual: lies on the host", [](auto& x) { x.epilogue.residual = on_host; }},
      {"epilogue.ld_residual: at least 9, not 0",
       [&](auto& x) { x.epilogue.residual = other.get(); }},
      {"epilogue.residual: overlaps c",
       [](auto& x) {
         x.epilogue.residual = x.c + 20;
         x.epilogue.ld_residual = 9;
       }},
      {"epilogue.residual: overlaps c",
       [](auto& x) {
         x.epilogue.residual = x.c;
         x.epilogue.ld_residual = x.ldc;
       }},
  };
  for (const Wrong& wrong : all) {
    Example x({8, 9, 8}, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, 2);
    wrong.make(x.call);
    expect_refused(x.run(handle), wrong.text);
    EXPECT_EQ(x.result(), x.c) << wrong.text;
    size_t bytes = 0;
    EXPECT_EQ(ladder_workspace_bytes(handle, &x.call, &bytes), LADDER_STATUS_INVALID_ARGUMENT);
  }
}

TEST_F(Arguments, OfTheHandle) {
  const Handle handle;
  ladder_gemm_plan plan{};
  ladder_gemm_call call;
  ladder_gemm_call_init(&call);
  expect_refused(ladder_create(nullptr), "handle: null");
  expect_refused(ladder_gemm(nullptr, &call), "handle: null");
  expect_refused(ladder_gemm(handle, nullptr), "call: null");
  expect_refused(ladder_set_stream(nullptr, nullptr), "handle: null");
  expect_refused(ladder_get_stream(handle, nullptr), "stream: null");
  expect_refused(ladder_set_pointer_mode(handle, static_cast<ladder_pointer_mode>(2)),
                 "mode: 2 is none of gemm.h's values");
  expect_refused(ladder_get_pointer_mode(handle, nullptr), "mode: null");
  expect_refused(ladder_set_precision(handle, static_cast<ladder_precision>(-1)),
                 "precision: -1 is none of gemm.h's values");
  expect_refused(ladder_get_precision(handle, nullptr), "precision: null");
  expect_refused(ladder_set_workspace(handle, nullptr, SIZE_MAX), "bytes: more than 2^62");
  expect_refused(ladder_set_workspace(handle, &plan, 0), "bytes: 0, but memory is not null");
  const auto memory = device_array<char>(1024);
  expect_refused(ladder_set_workspace(handle, memory.get() + 4, 256), "memory: is not aligned");
  alignas(256) static char on_host[256];
  expect_refused(ladder_set_workspace(handle, on_host, 256),
                 "memory: is not on the handle's device");
  expect_refused(ladder_gemm_grouped(handle, nullptr, 1), "calls: null");
  expect_refused(ladder_gemm_grouped(handle, &call, -1), "count: at least 0");
  expect_refused(ladder_gemm_grouped(handle, &call, INT64_MAX), "count: more than 2^31");
  expect_refused(ladder_workspace_bytes(handle, &call, nullptr), "bytes: null");
  expect_refused(ladder_plan(handle, &call, nullptr), "plan: null");
  expect_refused(ladder_plan(handle, &call, &plan), "plan->struct_size: 0 bytes");
  EXPECT_EQ(ladder_destroy(nullptr), LADDER_STATUS_OK);
  ladder_gemm_call_init(nullptr);
}

TEST_F(Arguments, AreKept) {
  const Handle handle;
  const CreatedStream stream;
  cudaStream_t found = nullptr;
  EXPECT_EQ(ladder_set_stream(handle, stream), LADDER_STATUS_OK);
  EXPECT_EQ(ladder_get_stream(handle, &found), LADDER_STATUS_OK);
  EXPECT_EQ(found, cudaStream_t{stream});
  ladder_precision precision{};
  EXPECT_EQ(ladder_get_precision(handle, &precision), LADDER_STATUS_OK);
  EXPECT_EQ(precision, LADDER_PRECISION_IEEE);
  EXPECT_EQ(ladder_set_precision(handle, LADDER_PRECISION_AUTO), LADDER_STATUS_OK);
  EXPECT_EQ(ladder_get_precision(handle, &precision), LADDER_STATUS_OK);
  EXPECT_EQ(precision, LADDER_PRECISION_AUTO);
}

TEST(Texts, OfStatusPrecisionAndVersion) {
  EXPECT_STREQ(ladder_status_string(LADDER_STATUS_OK), "ok");
  EXPECT_STREQ(ladder_status_string(LADDER_STATUS_INTERNAL), "internal error");
  EXPECT_STREQ(ladder_status_string(static_cast<ladder_status>(99)), "unknown");
  EXPECT_STREQ(ladder_precision_string(LADDER_PRECISION_FP16X3), "fp16x3");
  EXPECT_STREQ(ladder_precision_string(LADDER_PRECISION_DEFAULT), "default");
  EXPECT_EQ(ladder_version(),
            10000 * LADDER_VERSION_MAJOR + 100 * LADDER_VERSION_MINOR + LADDER_VERSION_PATCH);
}

// Members of a call are replaced at random by values at the limits. Whatever the status, nothing
// outside C is written, and C only where the status is ok.
TEST_F(Arguments, AtRandom) {
  const Handle handle;
  std::mt19937 random(7);
  const auto one_of = [&](auto... values) {
    const std::common_type_t<decltype(values)...> all[] = {values...};
    return all[random() % sizeof...(values)];
  };
  int accepted = 0;
  for (int round = 0; round < 300; ++round) {
    Example x({5, 6, 7}, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, 2);
    constexpr std::size_t kGuard = 64;
    std::vector<float> guarded(x.c.size() + 2 * kGuard, 99);
    std::ranges::copy(x.c, guarded.begin() + kGuard);
    const auto there = upload(guarded);
    x.call.c = there.get() + kGuard;
    const std::int64_t size = one_of(-1, 0, 1, 5);
    const std::int64_t large = one_of(std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN,
                                      std::int64_t{1} << 33, std::int64_t{7});
    const std::function<void()> changes[] = {
        [&] { x.call.m = size; },
        [&] { x.call.n = size; },
        [&] { x.call.k = size; },
        [&] { x.call.lda = std::min<std::int64_t>(large, 10); },
        [&] { x.call.ldb = std::min<std::int64_t>(large, 7); },
        [&] { x.call.ldc = std::min<std::int64_t>(large, 8); },
        [&] { x.call.batch_count = one_of(-1, 0, 1, 2); },
        [&] { x.call.stride_c = large, x.call.batch_count = 1; },
        [&] { x.call.op_a = static_cast<ladder_op>(large); },
        [&] { x.call.layout = static_cast<ladder_layout>(large); },
        [&] { x.call.precision = static_cast<ladder_precision>(random() % 10); },
        [&] { x.call.flags = random() % 8; },
        [&] { x.call.a = nullptr; },
        [&] { x.call.epilogue.activation = static_cast<ladder_activation>(random() % 5); },
        [&] { x.call.epilogue.bias_kind = static_cast<ladder_bias>(random() % 4); },
        [&] { x.call.struct_size = static_cast<size_t>(large); },
    };
    for (int change = 0; change < 1 + round % 3; ++change) changes[random() % std::size(changes)]();
    const bool reads_inside = x.call.op_a == LADDER_OP_N && x.call.layout == LADDER_ROW_MAJOR;
    if (!reads_inside && x.call.struct_size == sizeof x.call) continue;  // A would be larger
    const ladder_status status = x.run(handle);
    accepted += status == LADDER_STATUS_OK ? 1 : 0;
    const auto after = download(there, guarded.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool outside = i < kGuard || i >= kGuard + x.c.size();
      if (outside || status != LADDER_STATUS_OK) {
        ASSERT_EQ(after[i], guarded[i]) << round;
      }
    }
  }
  EXPECT_GT(accepted, 20);
}

}  // namespace
}  // namespace ladder::test
