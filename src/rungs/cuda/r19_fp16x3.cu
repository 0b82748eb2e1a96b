// SPDX-License-Identifier: Apache-2.0
// r19_fp16x3: FP32's accuracy at a third of fp16's rate.        NEW: lines scaled, two words, three products
// WHY: r18's six products take six times fp16's time; fp16 has 11 significant bits to bf16's 8, so that two words hold
//      what bf16 needs three for. What it lacks is range, which a power of two for each line gives back.
// PREDICT: 660 / 3 = 220 TFLOP/s less the pass over A and B: 10% at 4096, 5% at 8192; errors below SGEMM's from K = 1024
//          on, since sums of 64 products are added to nearest.
// LIMITS: Hopper. Any m, n, k up to 2^28, layouts, transpositions, leading dimensions, alpha, beta; Inf and NaN as SGEMM.
//         Elements 2^16 times smaller than their line's largest lose bits.
//                                                               NEXT: -
#include "device/split_fused.cuh"
#include "device/split_product.cuh"
#include "gemm/split_packed.hpp"

#include <cstdint>
#include <span>

namespace ladder::r19_fp16x3 {

using Words = WordFormat<__half, 2>;

static constexpr KernelInfo info(std::string_view id, std::string_view idea,
                                 Status (*launch)(const Problem&, const Operands&, Stream)) {
  return {.id = id,
          .rung = "r19_fp16x3",
          .idea = idea,
          .precision = Precision::kFp16x3,
          .min_cc = 90,
          .accepts = accept_split,
          .launch = launch};
}

using Job = SplitJob<Words, 3>;
using Fused = FusedJob<Words, 3>;

template <bool kAlwaysFused>
static Status launch(const Problem& original, const Operands& given, Stream stream) {
  SplitCall call;
  if (Status s = prepare_split(original, given, call); !s) return s;
  if (!reads_ab(call.p)) return scale_only<float>(call.p, call.o, stream);
  if ((kAlwaysFused || Fused::gains(call.p)) && Fused::takes(call.p, call.o)) {
    return launch_job(Fused(call.p, call.o, call.sms), stream);
  }
  return launch_job(Job(call.p, call.o, call.sms), stream);
}

static constexpr KernelInfo kKernels[] = {
    info("r19_fp16x3_fused", "the operand of more lines split on its way to the product", launch<true>),
    info("r19_fp16x3", "lines scaled, two fp16 words, three products", launch<false>),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

std::int64_t packed_bytes(const Problem& problem, bool of_a) {
  constexpr int kAnySms = 1;  // the product's plan is not asked for
  return Job(problem, {}, kAnySms).packed_bytes(of_a);
}

// A job of two such operands, of which one has its words, passes over the other; so here the wanted one is that other.
Status pack(const Problem& problem, const Operands& operands, bool of_a, void* words, Stream stream) {
  constexpr int kAnySms = 1;
  Job job(problem, operands, kAnySms);
  job.use_packed(!of_a, static_cast<char*>(words));
  return job.pass<>(job.target(static_cast<char*>(words)), {}, stream);
}

Status launch_packed(const Problem& problem, const Operands& operands, bool of_a, void* words,
                     Stream stream) {
  if (!reads_ab(problem)) return scale_only<float>(problem, operands, stream);
  SplitCall call;
  if (Status s = prepare_split(problem, operands, call); !s) return s;
  Job job(call.p, call.o, call.sms);
  job.use_packed(of_a, static_cast<char*>(words));
  return launch_job(job, stream);
}

}  // namespace ladder::r19_fp16x3
