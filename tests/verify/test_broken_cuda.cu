// SPDX-License-Identifier: Apache-2.0
// Deliberately broken CUDA kernels: verification must reject each and name the defect. On the
// virtual GPU some are found by its own checks (a race, an access out of bounds), which are more
// specific than wrong values.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>

#include "device/ptx/cp_async.cuh"
#include "host/query.hpp"
#include "operands/virtual_gpu.hpp"
#include "verify/verify.hpp"

namespace ladder {
namespace {

enum class Bug {
  kNone,
  kMissingBarrier,
  kSwapped,
  kShortInK,
  kUnwritten,
  kNan,
  kPadding,
  kBeforeC,
  kReadsC,
  kTf32,
  kZeros,
  kIgnoresLda,
  kPastA,
  kBarrierDivergence,
  kMissingWait,
};

constexpr int kTile = 16;

__device__ float tf32(float x) { return __uint_as_float(__float_as_uint(x) & 0xFFFFE000U); }

template <Bug kBug>
__global__ void __launch_bounds__(kTile* kTile) tiled(Problem p, Operands o) {
  __shared__ float sA[kTile][kTile];
  __shared__ float sB[kTile][kTile];
  const int ty = static_cast<int>(threadIdx.y);
  const int tx = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.y) * kTile + ty;
  const int col = static_cast<int>(blockIdx.x) * kTile + tx;
  const long long lda = kBug == Bug::kIgnoresLda ? p.k : p.lda;
  const long long depth = p.alpha == 0.0F ? 0 : (kBug == Bug::kShortInK ? p.k - 1 : p.k);
  float acc = 0;
  for (long long k = 0; k < depth; k += kTile) {
    float a = row < p.m && k + tx < depth ? o.a[row * lda + k + tx] : 0.0F;
    float b = col < p.n && k + ty < depth ? o.b[(k + ty) * p.ldb + col] : 0.0F;
    if (kBug == Bug::kPastA && p.m == 32 && row == p.m - 1 && k + tx == depth - 1)
      a += 0.0F * o.a[p.m * p.lda + 4];
    if (kBug == Bug::kTf32) {
      a = tf32(a);
      b = tf32(b);
    }
    if (kBug == Bug::kMissingWait)
      ptx::cp_async<4>(&sA[ty][tx], o.a + (row < p.m && k + tx < depth ? row * lda + k + tx : 0),
                       row < p.m && k + tx < depth);
    else
      sA[ty][tx] = a;
    sB[ty][tx] = b;
    if (kBug == Bug::kBarrierDivergence) {
      if (p.m != 33 || row < p.m) __syncthreads();
    } else if (kBug != Bug::kMissingBarrier) {
      __syncthreads();
    }
    for (int kk = 0; kk < kTile; ++kk) acc += sA[ty][kk] * sB[kk][tx];
    __syncthreads();
  }
  if (row >= p.m || col >= p.n) return;
  if (kBug == Bug::kUnwritten && row == p.m / 2 && col == p.n / 2) return;
  if (kBug == Bug::kNan) acc = __int_as_float(0x7FFFFFFF);
  if (kBug == Bug::kZeros) acc = 0;
  if (kBug == Bug::kPadding && p.ldc > p.n && row + 1 < p.m && col == p.n - 1)
    o.c[row * p.ldc + col + 1] = acc;
  if (kBug == Bug::kBeforeC && row == 0 && col == 0) o.c[-1] = acc;
  float* c = o.c + row * p.ldc + col;
  if (kBug == Bug::kSwapped && p.m == p.n) c = o.c + col * p.ldc + row;
  *c = p.beta == 0.0F && kBug != Bug::kReadsC ? p.alpha * acc : p.alpha * acc + p.beta * *c;
}

Status accepts(const Problem& p, const Device& device) {
  if (!device.has_cuda) return {Code::kUnsupportedDevice, "needs CUDA"};
  if (p.layout == Layout::kRowMajor && p.op_a == Op::kNone && p.op_b == Op::kNone)
    return Status::ok();
  return {Code::kUnsupportedProblem, "row-major operands only"};
}

template <Bug kBug>
Status launch(const Problem& p, const Operands& o, Stream stream) {
  if (p.m == 0 || p.n == 0) return Status::ok();
  const dim3 grid(static_cast<unsigned>((p.n + kTile - 1) / kTile),
                  static_cast<unsigned>((p.m + kTile - 1) / kTile));
  tiled<kBug><<<grid, dim3(kTile, kTile), 0, stream>>>(p, o);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? Status::ok()
                              : Status(Code::kLaunchFailed, cudaGetErrorString(error));
}

Status bad_launch(const Problem& p, const Operands& o, Stream stream) {
  tiled<Bug::kNone><<<1, dim3(kTile, 100 * kTile), 0, stream>>>(p, o);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? Status::ok()
                              : Status(Code::kLaunchFailed, cudaGetErrorString(error));
}

using Launch = Status (*)(const Problem&, const Operands&, Stream);

Verdict quick(Launch launch, bool check_races = true) {
  const KernelInfo info{
      .id = "test", .rung = "test", .idea = "test", .accepts = accepts, .launch = launch};
  ReferenceStore store;
  const auto device = query_device(0);
  if (!device) return summarize({});
  VerifyOptions options;
  options.check_races = check_races;
  return verify(info, make_battery(Battery::kQuick, 7), device.value(), options, store);
}

// On a real GPU nothing reports a race, an access slightly out of bounds, or threads that exit
// before a barrier. There, wrong values must be found, and of those three defects none is certain.
struct Broken {
  std::string name;
  Launch launch;
  Outcome outcome;
  std::string in_reason;
  bool only_virtual = false;
};

class BrokenCuda : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenCuda, IsRejectedByName) {
  if (GetParam().only_virtual && !virtual_gpu::active())
    GTEST_SKIP() << "only the virtual GPU sees this for certain";
  const Verdict verdict = quick(GetParam().launch);
  EXPECT_STREQ(to_string(verdict.outcome), to_string(GetParam().outcome)) << verdict.reason;
  EXPECT_NE(verdict.reason.find(GetParam().in_reason), std::string::npos) << verdict.reason;
  EXPECT_EQ(verdict.reason.find('\n'), std::string::npos) << verdict.reason;
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, BrokenCuda,
    ::testing::Values(
        Broken{"missing_barrier", launch<Bug::kMissingBarrier>, Outcome::kRace, "tiled", true},
        Broken{"swapped_row_and_column", launch<Bug::kSwapped>, Outcome::kWrongValue,
               "C is transposed"},
        Broken{"one_short_in_k", launch<Bug::kShortInK>, Outcome::kWrongValue, "C(0,0)"},
        Broken{"one_unwritten", launch<Bug::kUnwritten>, Outcome::kUnwritten,
               "was never written; 1 of"},
        Broken{"all_nan", launch<Bug::kNan>, Outcome::kNan, "is NaN"},
        Broken{"into_padding", launch<Bug::kPadding>, Outcome::kPaddingWritten,
               "C(0,29) lies in the padding"},
        Broken{"before_c", launch<Bug::kBeforeC>, Outcome::kGuardWritten, "4 bytes before C"},
        Broken{"reads_c_at_beta_zero", launch<Bug::kReadsC>, Outcome::kNan,
               "C is read although beta = 0"},
        Broken{"in_tf32", launch<Bug::kTf32>, Outcome::kWrongValue, "not ieee arithmetic"},
        Broken{"zeros", launch<Bug::kZeros>, Outcome::kWrongValue, "C is all zeros"},
        Broken{"ignores_lda", launch<Bug::kIgnoresLda>, Outcome::kNan, "lda"},
        Broken{"reads_past_a", launch<Bug::kPastA>, Outcome::kFault, "out of bounds", true},
        Broken{"barrier_divergence", launch<Bug::kBarrierDivergence>, Outcome::kFault, "barrier",
               true},
        Broken{"missing_wait", launch<Bug::kMissingWait>, Outcome::kRace, "asynchronous copy",
               true},
        Broken{"bad_launch", bad_launch, Outcome::kLaunchError, "invalid"}),
    [](const auto& parameter) { return parameter.param.name; });

// The copies of the second run complete as late as possible.
TEST(MissingWait, IsSeenInTheResultToo) {
  if (!virtual_gpu::active()) GTEST_SKIP() << "only the virtual GPU lets copies land late";
  EXPECT_STREQ(to_string(quick(launch<Bug::kMissingWait>, false).outcome),
               to_string(Outcome::kNondeterministic));
}

TEST(HonestCuda, Passes) {
  const Verdict verdict = quick(launch<Bug::kNone>);
  EXPECT_TRUE(verdict.ok()) << verdict.reason;
}

}  // namespace
}  // namespace ladder
