// SPDX-License-Identifier: Apache-2.0
// FP32 accuracy from bf16 and tf32 tensor cores: each operand is a sum of two or three terms, of
// whose products the largest are added. Any layout, transposition, leading dimension, alpha, beta;
// Inf and NaN as SGEMM.
#include "gemm/split/product.cuh"

#include <span>

namespace ladder::split_bf16 {

using ThreeBf16Terms = TermFormat<__nv_bfloat16, 3>;
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

}  // namespace ladder::split_bf16
