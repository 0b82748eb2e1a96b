// SPDX-License-Identifier: Apache-2.0
// r20_guarded: SGEMM on tensor cores where that is proved.      NEW: the device chooses the words, by the operands
// WHY: r19 loses bits where a line's elements are far apart, and nobody checks an operand before a call.
// PREDICT: counting rides on the pass over A and B, and costs what three launches cost that end at once: 6 us, 1% at 4096.
//          Operands that fail the criterion take r18's rate.
// LIMITS: Hopper. Any m, n up to 2^28, layouts, transpositions, leading dimensions, alpha, beta; Inf and NaN as SGEMM. k from
//         where the words' bounds are below SGEMM's.            NEXT: -
#include "device/split_binary32.cuh"
#include "device/split_product.cuh"
#include "problem/split_error.hpp"

#include <ladder/guard.hpp>

#include <span>

namespace ladder::r20_guarded {

using HalfWords = WordFormat<__half, 2>;
using BrainWords = WordFormat<__nv_bfloat16, 3>;

// What tiny elements may add to fp16x3's error, so that it stays below SGEMM's; compensation may add its own factor.
static double budget_of(double k) {
  return ieee_error(k) - (1 + 0x1p-23) * split_error(Precision::kFp16x3, k).products - 0x1p-23;
}

static Status accepts(const Problem& p, const Device& device) {
  if (Status s = accept_split(p, device); !s) return s;
  const auto k = static_cast<double>(p.k);
  if (!reads_ab(p) || (budget_of(k) > 0 && split_error(Precision::kBf16x6, k).products <= ieee_error(k))) {
    return Status::ok();
  }
  return {Code::kUnsupportedProblem,
          "takes k whose sums in words have a bound below SGEMM's, not " + to_string(p)};
}

static Status launch(const Problem& original, const Operands& given, Stream stream) {
  using split_detail::When;
  SplitCall call;
  if (Status s = prepare_split(original, given, call); !s) return s;
  const Problem& p = call.p;
  if (!reads_ab(p)) return scale_only<float>(p, call.o, stream);
  const SplitJob<HalfWords, 3, true> halves(p, call.o, call.sms);
  const SplitJob<BrainWords, 6> brains(p, call.o, call.sms);

  // Scratch: the choice, the blocks' findings, words of either format. Flags: of the products, of the choice, the census.
  constexpr std::int64_t kGrowth = 256, kFindings = 512, kHead = 4096;
  static_assert(kGrowth + split_detail::kSampleBlocks * sizeof(Growth) <= kFindings, "the sample");
  static_assert(kFindings + split_detail::kChooseBlocks * sizeof(split_detail::Finding) <= kHead, "findings");
  cudaError_t error = cudaSuccess;
  char* const scratch = static_cast<char*>(Workspace::scratch(
      stream, static_cast<std::size_t>(kHead + std::max(halves.scratch_bytes(), brains.scratch_bytes())),
      error));
  if (scratch == nullptr) return cuda_failure("workspace", error);
  const std::int64_t product_flags = std::max(halves.flags(), brains.flags());
  constexpr std::int64_t kCensusWords = sizeof(Census) / sizeof(unsigned);
  unsigned* const gFlags = Workspace::flags(
      stream, static_cast<std::size_t>(product_flags + 1 + (p.m + p.n) * kCensusWords), error);
  if (gFlags == nullptr) return cuda_failure("workspace", error);
  auto* const gCensus = reinterpret_cast<Census*>(gFlags + product_flags + 1);
  auto* const gChoice = reinterpret_cast<int*>(scratch);
  auto* const gGrowth = reinterpret_cast<Growth*>(scratch + kGrowth);
  char* const words = scratch + kHead;

  const SplitTarget x = halves.target(words, gCensus), y = brains.target(words);
  if (Status s = halves.pass<true>(x, {}, stream, gGrowth); !s) return s;
  const ChoiceInput choice{.a = x.a,
                           .b = x.b,
                           .k = x.k,
                           .budget = budget_of(static_cast<double>(p.k)),
                           .gGrowth = gGrowth,
                           .gDone = gFlags + product_flags,
                           .gFindings = scratch + kFindings,
                           .gChoice = gChoice};
  using namespace split_detail;
  if (Status s = launch_dependent("choice", choose<>, choose_blocks(p.m + p.n), 1, kChooseThreads, 0, stream,
                                  choice);
      !s)
    return s;
  const auto when = [&](SplitChoice choice) { return When{gChoice, static_cast<int>(choice)}; };
  if (Status s = halves.product(x, words, gFlags, when(SplitChoice::kFp16x3), stream); !s) return s;
  if (Status s = brains.pass(y, when(SplitChoice::kBf16x6), stream); !s) return s;
  if (Status s = brains.product(y, words, gFlags, when(SplitChoice::kBf16x6), stream); !s) return s;
  const std::int64_t tiles_n = ceil_div(p.n, ChainTile::BN), tiles = ceil_div(p.m, ChainTile::BM) * tiles_n;
  return launch_dependent("product in binary32", chain_product<>, std::min<std::int64_t>(tiles, call.sms), 1,
                          ChainTile::kThreads, 0, stream, x, static_cast<int>(tiles_n),
                          static_cast<int>(tiles), gChoice, static_cast<int>(SplitChoice::kBinary32));
}

static constexpr KernelInfo kKernels[] = {
    {.id = "r20_guarded",
     .rung = "r20_guarded",
     .idea = "fp16x3 or bf16x6, as the operands allow",
     .precision = Precision::kAuto,
     .min_cc = 90,
     .accepts = accepts,
     .launch = launch},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r20_guarded

namespace ladder {

Result<Precision> guarded_choice(Stream stream) {
  int words[kChoiceWords]{};
  cudaError_t error = cudaSuccess;
  const void* const gChoice = Workspace::scratch(stream, sizeof words, error);
  if (error == cudaSuccess) {
    error = cudaMemcpyAsync(words, gChoice, sizeof words, cudaMemcpyDeviceToHost, stream);
  }
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  if (error != cudaSuccess) return cuda_failure("choice", error);
  switch (words[kWhichMark] == kChoiceMark ? words[kWhichChoice] : -1) {
    case static_cast<int>(SplitChoice::kFp16x3):
      return Precision::kFp16x3;
    case static_cast<int>(SplitChoice::kBf16x6):
      return Precision::kBf16x6;
    case static_cast<int>(SplitChoice::kBinary32):
      return Precision::kIeee;
    default:
      return Status(Code::kInvalidArgument, "no guarded product was the last on this stream");
  }
}

}  // namespace ladder
