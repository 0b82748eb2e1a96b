// SPDX-License-Identifier: Apache-2.0
// SGEMM on tensor cores where the operands allow it: the split pre-pass counts what fp16x3 would
// lose, and the device then chooses fp16x3, bf16x6 or FP64 by a proved bound.
#include "gemm/split/binary64.cuh"
#include "gemm/split/fused.cuh"
#include "gemm/split/guard.cuh"
#include "gemm/split/product.cuh"

#include <ladder/guard.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace ladder::guarded {

using Fp16Terms = TermFormat<__half, 2>;
using Fp16Job = SplitJob<Fp16Terms, 3>;
using Bf16Job = SplitJob<TermFormat<__nv_bfloat16, 3>, 6>;

static Status accepts(const Problem& p, const Device& device) {
  if (Status s = accept_split(p, device); !s) return s;
  if (!reads_ab(p) || guard_holds(static_cast<double>(p.k))) return Status::ok();
  return {Code::kUnsupportedProblem,
          "takes k for which the bound of split products is below SGEMM's, not " + to_string(p)};
}

// Workspace layout: the choice, then the products' own workspace.
constexpr std::int64_t kHead = 1024;
// Up to this size, in bytes, the bf16 terms have memory of their own, so that the fp16 terms can be
// copied before the verdict. Larger ones replace the fp16 terms.
constexpr std::int64_t kMostApart = 64 << 20;

using Fused = FusedJob<Fp16Terms, 3, true>;

// Enqueues a copy of C. Errors: kLaunchFailed.
static Status keep(const Target<float>& c, float* gKept, int sms, Stream stream) {
  constexpr int kThreads = 256, kEach = 8, kBlocksOfSm = 4;
  const std::int64_t blocks = std::min(ceil_div(std::int64_t{c.m} * c.n, kThreads * kEach),
                                       std::int64_t{kBlocksOfSm} * sms);
  return launch_dependent("copy of C", keep_c, blocks, 1, kThreads, 0, stream, c, gKept);
}

// Computes the product, whose kernel also checks whether its terms were accurate enough. If not,
// all of C is computed again in FP64. If beta is not 0, C is copied first.
static Status launch_fused(const RowMajorCall& call, Stream stream) {
  const Problem& p = call.p;
  const Fused job(p, call.o, call.device.sms);
  const Binary64Job again(job.target(nullptr), call.device.sms);
  const std::int64_t kept_bytes = p.beta == 0.0F ? 0 : p.m * p.n * 4,
                     of_job = ceil_div(job.scratch_bytes(), 16) * 16,
                     of_sample = sample_bytes(static_cast<int>(p.k));
  constexpr std::int64_t kOfGuard = 3;  // flags
  constexpr std::int64_t kOfSample = sizeof(SampleState) / sizeof(unsigned);
  CallMemory memory;
  if (Status s =
          memory.take(stream, kHead + of_sample + of_job + again.scratch_bytes() + kept_bytes,
                      job.flags() + kOfGuard + kOfSample + again.flags());
      !s)
    return s;
  memory.keep_answer();
  char* const scratch = memory.scratch();
  unsigned* const gFlags = memory.flags();
  auto* const gChoice = reinterpret_cast<int*>(scratch);
  char *const terms = scratch + kHead + of_sample, *const parts = terms + of_job;
  auto* const gKept = reinterpret_cast<float*>(parts + again.scratch_bytes());
  unsigned* const gLost = gFlags + job.flags();
  const SlabRule rule = *slab_rule(static_cast<double>(p.k));
  const auto missing = static_cast<unsigned>((kSlab - p.k % kSlab) % kSlab / 4);
  const SplitTarget x = job.target(terms);
  auto* const gSample = reinterpret_cast<SampleState*>(gLost + kOfGuard);
  if (Status s = job.pass(x, stream, {gSample, reinterpret_cast<double*>(scratch + kHead)}); !s)
    return s;
  KeptC kept;
  if (kept_bytes > 0) {
    if (Status s = keep(target_of<float>(p, call.o), gKept, call.device.sms, stream); !s) return s;
    const bool as_c = x.col_step == 1;  // else C^T is computed
    kept = {gKept, as_c ? p.n : 1, as_c ? 1 : p.n};
  }
  if (Status s = job.product(
          x, terms, gFlags, stream,
          {rule.level, rule.allowed, missing, &gSample->growth, gLost, gLost + 2, gChoice});
      !s)
    return s;
  return Binary64Job(x, call.device.sms)
      .launch(gChoice, stream, parts, gLost + kOfGuard + kOfSample, kept);
}

// A product with two fp16 terms, and the same product with three bf16 terms.
struct Both {
  const Fp16Job& of_two;
  const Bf16Job& of_three;
  SplitTarget x, y;
  char *terms, *other_terms;
  unsigned* gFlags;  // of the product
  GuardState* gState;
  int* gChoice;
};

template <class T, class Other>
Status launch_product(const Both& both, Stream stream) {
  const SplitTarget &x = both.x, &y = both.y;
  const TensorPlan &plan = both.of_two.plan(), &other = both.of_three.plan();
  const auto k = static_cast<double>(x.k);
  Guard<Other> guard{.least_blocks = other.plan.blocks,
                     .copies_at_once = both.terms != both.other_terms,
                     .gChoice = both.gChoice,
                     .g = both.gState,
                     .needed = places_needed(k, guard_budget(k)),
                     .map_a = {},
                     .map_b = {},
                     .y = y,
                     .plan = other.plan,
                     .exchange = both.of_three.exchange(both.other_terms, both.gFlags)};
  using F = typename Other::Format;
  if (Status s = map_terms<F>(guard.map_a, y.a, other.plan.steps, Other::BM); !s) return s;
  if (Status s = map_terms<F>(guard.map_b, y.b, other.plan.steps, Other::kHalf); !s) return s;
  return launch_tile<T>(plan, x, both.of_two.exchange(both.terms, both.gFlags), guard, stream);
}

// A kernel for each tile of the menu, of which both formats have the same.
template <class... T, class... Other>
constexpr auto kernels_of(TileList<T...> /*of_two*/, TileList<Other...> /*of_three*/) {
  static_assert(((T::BM == Other::BM && T::BN == Other::BN) && ...), "the same tiles");
  return std::array{launch_product<T, Other>...};
}
constexpr auto kProducts = kernels_of(Fp16Job::Tiles::All{}, Bf16Job::Tiles::All{});

// The plan of the other product: tiles of the same shape, whose sums no second kernel adds.
static TensorPlan other_plan(const Problem& p, const TensorPlan& plan, int sms) {
  const std::array shapes{split_tiles(Bf16Job::Tiles::kBk)[plan.tile]};
  return plan_split_tiles(p, Bf16Job::Tiles::kCost, shapes, sms, false);
}

static Status launch_both(const RowMajorCall& call, Stream stream) {
  const Problem& p = call.p;
  const Fp16Job of_two(p, call.o, call.device.sms);
  const Bf16Job of_three(p, call.o, other_plan(p, of_two.plan(), call.device.sms));

  constexpr std::int64_t kOfGuard = ceil_div(sizeof(GuardState), sizeof(unsigned));  // flags
  constexpr std::int64_t kCensusWords = sizeof(Census) / sizeof(unsigned);
  const std::int64_t of_product = std::max(of_two.flags(), of_three.flags());
  const std::int64_t of_terms = ceil_div(of_two.scratch_bytes(), kHead) * kHead,
                     of_others = of_three.scratch_bytes();
  const bool apart = of_others <= kMostApart;
  const std::int64_t of_sample = sample_bytes(static_cast<int>(p.k));
  CallMemory memory;
  if (Status s = memory.take(
          stream,
          kHead + of_sample + (apart ? of_terms + of_others : std::max(of_terms, of_others)),
          kOfGuard + of_product + (p.m + p.n) * kCensusWords);
      !s)
    return s;
  memory.keep_answer();
  char* const terms = memory.scratch() + kHead + of_sample;
  char* const other_terms = apart ? terms + of_terms : terms;
  auto* const gState = reinterpret_cast<GuardState*>(memory.flags());
  unsigned* const gFlags = memory.flags() + kOfGuard;
  auto* const gCensus = reinterpret_cast<Census*>(gFlags + of_product);
  const GrowthSample sample{&gState->sample, reinterpret_cast<double*>(memory.scratch() + kHead)};
  const Both both{of_two,
                  of_three,
                  of_two.target(terms, gCensus, gState->of),
                  of_three.target(other_terms),
                  terms,
                  other_terms,
                  gFlags,
                  gState,
                  reinterpret_cast<int*>(memory.scratch())};
  if (Status s = of_two.pass<Extra::kCount>(both.x, stream, sample); !s) return s;
  return kProducts[of_two.plan().tile](both, stream);
}

static Status launch(const Problem& original, const Operands& given, Stream stream) {
  return launch_row_major(original, given, stream, [&](const RowMajorCall& call) {
    return takes_fused(call.p, call.at, true, call.device.sms) ? launch_fused(call, stream)
                                                               : launch_both(call, stream);
  });
}

static constexpr KernelInfo kKernels[] = {
    library_kernel("ladder_guarded", "guarded", "fp16x3 or bf16x6, as the operands allow",
                   Precision::kAuto, kHopper, accepts, launch),
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
    case static_cast<int>(SplitChoice::kFp16x3): return Precision::kFp16x3;
    case static_cast<int>(SplitChoice::kBf16x6): return Precision::kBf16x6;
    case static_cast<int>(SplitChoice::kBinary64): return Precision::kIeee;
    default:
      return Status(Code::kInvalidArgument, "no guarded product was the last on this stream");
  }
}

}  // namespace ladder
