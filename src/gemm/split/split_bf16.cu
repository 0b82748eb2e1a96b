// SPDX-License-Identifier: Apache-2.0
// FP32 accuracy from bf16 and tf32 tensor cores: each operand is a sum of two or three terms, of
// whose products the largest are added. Any layout, transposition, leading dimension, alpha, beta;
// Inf and NaN as SGEMM.
#include "gemm/split/bf16x6.cuh"
#include "gemm/split/product.cuh"

#include <span>

namespace ladder::split_bf16 {

using TwoBf16Terms = TermFormat<__nv_bfloat16, 2>;
using TwoTf32Terms = TermFormat<float, 2>;

static constexpr KernelInfo kKernels[] = {
    split_kernel("ladder_bf16x6", "split_bf16", "three bf16 terms, six products",
                 Precision::kBf16x6, launch_split<ThreeBf16Terms, 6>),
    split_kernel("ladder_bf16x9", "split_bf16", "three bf16 terms, all nine products",
                 Precision::kBf16x9, launch_split<ThreeBf16Terms, 9>),
    split_kernel("ladder_bf16x3", "split_bf16", "two bf16 terms, three products",
                 Precision::kBf16x3, launch_split<TwoBf16Terms, 3>),
    split_kernel("ladder_tf32x3", "split_bf16", "two tf32 terms, three products",
                 Precision::kTf32x3, launch_split<TwoTf32Terms, 3>),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

Status launch_bf16x6(const Bf16x6Job& job, const SplitTarget& x, char* scratch, unsigned* gFlags,
                     const split_detail::When& when, Stream stream) {
  if (Status s = job.pass(x, when, stream); !s) return s;
  return job.product(x, scratch, gFlags, when, stream);
}

}  // namespace ladder::split_bf16
