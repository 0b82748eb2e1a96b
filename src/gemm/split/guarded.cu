// SPDX-License-Identifier: Apache-2.0
// SGEMM on tensor cores where the operands allow it: the split pre-pass counts what fp16x3 would
// lose, and the device then chooses fp16x3, bf16x6 or FP64 by a proved bound.
#include "gemm/split/bf16x6.cuh"
#include "gemm/split/binary64.cuh"
#include "gemm/split/fused.cuh"
#include "gemm/split/product.cuh"

#include <ladder/guard.hpp>

#include <algorithm>
#include <span>

namespace ladder::guarded {

using Fp16Terms = TermFormat<__half, 2>;

static Status accepts(const Problem& p, const Device& device) {
  if (Status s = accept_split(p, device); !s) return s;
  if (!reads_ab(p) || guard_holds(static_cast<double>(p.k))) return Status::ok();
  return {Code::kUnsupportedProblem,
          "takes k for which the bound of split products is below SGEMM's, not " + to_string(p)};
}

// Workspace layout: the choice, the blocks' findings, the sample's chains, then the products' own
// workspace. The sample has two flags: its count of finished blocks and its result.
constexpr std::int64_t kFindingsAt = 512, kChainsAt = 4096, kHead = 86'016, kOfSample = 2;
static_assert(kFindingsAt + split_detail::kChooseBlocks * sizeof(split_detail::Finding) <=
                  kChainsAt,
              "findings");
static_assert(kChainsAt + kSampleBlocks * split_detail::kPairs * sizeof(Chain) <= kHead &&
                  kHead % 1024 == 0,
              "the sample");

static GrowthSample sample_at(char* scratch, unsigned* gFlags) {
  return {reinterpret_cast<Chain*>(scratch + kChainsAt), gFlags, gFlags + 1};
}

using Fused = FusedJob<Fp16Terms, 3, true>;

// Enqueues a copy of C. Errors: kLaunchFailed.
static Status keep(const Target<float>& c, float* gKept, int sms, Stream stream) {
  constexpr int kThreads = 256, kEach = 8, kBlocksOfSm = 4;
  const std::int64_t blocks = std::min(ceil_div(std::int64_t{c.m} * c.n, kThreads * kEach),
                                       std::int64_t{kBlocksOfSm} * sms);
  return launch_dependent("copy of C", split_detail::keep_c<>, blocks, 1, kThreads, 0, stream, c,
                          gKept);
}

// Computes the product, whose kernel also checks whether its terms were accurate enough. If not,
// all of C is computed again in FP64. If beta is not 0, C is copied first.
static Status launch_fused(const RowMajorCall& call, Stream stream) {
  const Problem& p = call.p;
  const Fused job(p, call.o, call.device.sms);
  const split_detail::WideJob again(job.target(nullptr), call.device.sms, true);
  const std::int64_t kept_bytes = p.beta == 0.0F ? 0 : p.m * p.n * 4,
                     of_job = ceil_div(job.scratch_bytes(), 16) * 16;
  constexpr std::int64_t kOfGuard = 3 + kOfSample;
  CallMemory memory;
  if (Status s = memory.take(stream, kHead + of_job + again.scratch_bytes() + kept_bytes,
                             job.flags() + kOfGuard + again.flags());
      !s)
    return s;
  memory.keep_answer();
  char* const scratch = memory.scratch();
  unsigned* const gFlags = memory.flags();
  auto* const gChoice = reinterpret_cast<int*>(scratch);
  char *const terms = scratch + kHead, *const parts = terms + of_job;
  auto* const gKept = reinterpret_cast<float*>(parts + again.scratch_bytes());
  unsigned* const gLost = gFlags + job.flags();
  const SlabRule rule = *slab_rule(static_cast<double>(p.k));
  const SplitTarget x = job.target(terms);
  const GrowthSample sample = sample_at(scratch, gLost + 3);
  if (Status s = job.pass(x, stream, sample); !s) return s;
  split_detail::KeptC kept;
  if (kept_bytes > 0) {
    if (Status s = keep(target_of<float>(p, call.o), gKept, call.device.sms, stream); !s) return s;
    const bool as_c = x.col_step == 1;  // else C^T is computed
    kept = {gKept, as_c ? p.n : 1, as_c ? 1 : p.n};
  }
  if (Status s = job.product(x, terms, gFlags, stream,
                             {rule.level, rule.allowed, sample.gGrowth, gLost, gLost + 2, gChoice});
      !s)
    return s;
  return split_detail::WideJob(x, call.device.sms, true)
      .launch(gChoice, SplitChoice::kBinary64, stream, parts, gLost + kOfGuard, kept);
}

static Status launch(const Problem& original, const Operands& given, Stream stream) {
  using split_detail::When;
  RowMajorCall call;
  if (Status s = row_major_call(original, given, call); !s) return s;
  const Problem& p = call.p;
  if (!reads_ab(p)) return scale_only<float>(p, call.o, stream);
  if (takes_fused(p, call.at, true)) return launch_fused(call, stream);
  const SplitJob<Fp16Terms, 3, true> halves(p, call.o, call.device.sms);
  const split_bf16::Bf16x6Job brains(p, call.o, call.device.sms);

  const std::int64_t product_flags = std::max(halves.flags(), brains.flags());
  constexpr std::int64_t kOfGuard = 1 + kOfSample;  // flags
  constexpr std::int64_t kCensusWords = sizeof(Census) / sizeof(unsigned);
  CallMemory memory;
  if (Status s =
          memory.take(stream, kHead + std::max(halves.scratch_bytes(), brains.scratch_bytes()),
                      product_flags + kOfGuard + (p.m + p.n) * kCensusWords);
      !s)
    return s;
  memory.keep_answer();
  char* const scratch = memory.scratch();
  unsigned* const gFlags = memory.flags();
  auto* const gCensus = reinterpret_cast<Census*>(gFlags + product_flags + kOfGuard);
  auto* const gChoice = reinterpret_cast<int*>(scratch);
  char* const terms = scratch + kHead;

  const SplitTarget x = halves.target(terms, gCensus), y = brains.target(terms);
  const GrowthSample sample = sample_at(scratch, gFlags + product_flags + 1);
  if (Status s = halves.pass<true>(x, {}, stream, sample); !s) return s;
  const ChoiceInput choice{
      .a = x.a,
      .b = x.b,
      .k = x.k,
      .needed = places_needed(static_cast<double>(p.k), guard_budget(static_cast<double>(p.k))),
      .gGrowth = sample.gGrowth,
      .gDone = gFlags + product_flags,
      .gFindings = scratch + kFindingsAt,
      .gChoice = gChoice};
  using namespace split_detail;
  if (Status s = launch_dependent("choice", choose<>, choose_blocks(p.m + p.n), 1, kChooseThreads,
                                  0, stream, choice);
      !s)
    return s;
  const auto when = [&](SplitChoice choice) { return When{gChoice, static_cast<int>(choice)}; };
  if (Status s = halves.product(x, terms, gFlags, when(SplitChoice::kFp16x3), stream); !s) return s;
  const When bf16x6 = when(SplitChoice::kBf16x6);
  if (Status s = split_bf16::launch_bf16x6(brains, y, terms, gFlags, bf16x6, stream); !s) return s;
  return WideJob(x, call.device.sms).launch(gChoice, SplitChoice::kBinary64, stream);
}

static constexpr KernelInfo kKernels[] = {
    {.id = "ladder_guarded",
     .rung = "guarded",
     .idea = "fp16x3 or bf16x6, as the operands allow",
     .role = Role::kLibraryKernel,
     .precision = Precision::kAuto,
     .min_cc = 90,
     .accepts = accepts,
     .launch = launch},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::guarded

namespace ladder {

Result<Precision> guarded_choice(Stream stream) {
  int terms[kChoiceFields]{};
  cudaError_t error = cudaSuccess;
  {
    CallMemory memory;
    if (Status s = memory.take(stream, sizeof terms, 0); !s) return s;
    memory.keep_answer();
    error = cudaMemcpyAsync(terms, memory.scratch(), sizeof terms, cudaMemcpyDeviceToHost, stream);
  }
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  if (error != cudaSuccess) return cuda_failure("choice", error);
  switch (terms[kWhichMark] == kChoiceMark ? terms[kWhichChoice] : -1) {
    case static_cast<int>(SplitChoice::kFp16x3):
      return Precision::kFp16x3;
    case static_cast<int>(SplitChoice::kBf16x6):
      return Precision::kBf16x6;
    case static_cast<int>(SplitChoice::kBinary64):
      return Precision::kIeee;
    default:
      return Status(Code::kInvalidArgument, "no guarded product was the last on this stream");
  }
}

}  // namespace ladder
