// SPDX-License-Identifier: Apache-2.0
// r18_bf16x6: FP32's accuracy from bf16 tensor cores.           NEW: each operand a sum of words, products of words
// WHY: CUDA cores end at 60 TFLOP/s, tensor cores take operands of 8 or 11 significant bits. Three bf16 words hold the 24
//      of binary32 exactly, with all of its exponents; of nine products the three smallest are below its last bit.
// PREDICT: 700 / 6 = 117 TFLOP/s less the pass over A and B, twice r12; errors of the summation alone, below SGEMM's from
//          K = 512 on. Three products of two words: 230, with an error of 2^-16. tf32 in two words: half of fp16's rate.
// LIMITS: Hopper. Any m, n, k up to 2^28, layouts, transpositions, leading dimensions, alpha, beta; Inf and NaN as SGEMM.
//                                                               NEXT: r19 takes half as many products
#include "device/split_product.cuh"

#include <span>

namespace ladder::r18_bf16x6 {

using TwoWords = WordFormat<__nv_bfloat16, 2>;
using ThreeWords = WordFormat<__nv_bfloat16, 3>;
using Tf32Words = WordFormat<float, 2>;

static constexpr KernelInfo info(std::string_view id, std::string_view idea, Precision precision,
                                 Status (*launch)(const Problem&, const Operands&, Stream)) {
  return {.id = id,
          .rung = "r18_bf16x6",
          .idea = idea,
          .precision = precision,
          .min_cc = 90,
          .accepts = accept_split,
          .launch = launch};
}

static constexpr KernelInfo kKernels[] = {
    info("r18_bf16x6", "three bf16 words, six products", Precision::kBf16x6, launch_split<ThreeWords, 6>),
    info("r18_bf16x6_x9", "three bf16 words, all nine products", Precision::kBf16x9,
         launch_split<ThreeWords, 9>),
    info("r18_bf16x6_x3", "two bf16 words, three products", Precision::kBf16x3, launch_split<TwoWords, 3>),
    info("r18_bf16x6_tf32x3", "two tf32 words, three products", Precision::kTf32x3,
         launch_split<Tf32Words, 3>),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r18_bf16x6
