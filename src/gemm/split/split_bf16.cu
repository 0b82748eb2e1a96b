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

template <class F, int kProducts>
static constexpr KernelInfo info(std::string_view id, std::string_view idea, Precision precision) {
  return library_kernel(id, "split_bf16", idea, precision, kHopper, accept_split,
                        launch_split<F, kProducts>, Role::kLibrary);
}

static constexpr KernelInfo kKernels[] = {
    info<ThreeBf16Terms, 6>("ladder_bf16x6", "three bf16 terms, six products", Precision::kBf16x6),
    info<ThreeBf16Terms, 9>("ladder_bf16x9", "three bf16 terms, all nine products",
                            Precision::kBf16x9),
    info<TwoBf16Terms, 3>("ladder_bf16x3", "two bf16 terms, three products", Precision::kBf16x3),
    info<TwoTf32Terms, 3>("ladder_tf32x3", "two tf32 terms, three products", Precision::kTf32x3),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::split_bf16
