// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit operands with scales on tensor cores: the library's form of r20_fp8, with tiles
// and k-splits by shape. B is transposed: both operands are K-major.
#include "gemm/tensor/tensor_launch.cuh"

#include <span>

namespace ladder::scaled_tiles {

using tensor_tiles::Tile;

template <class In, class Out>
struct Menu : tensor_tiles::Kernels<Tile<In, Out, 128, 256, 4, Blocks::kPairAlongM>,
                                    Tile<In, Out, 128, 128, 7>, Tile<In, Out, 64, 128, 9>,
                                    Tile<In, Out, 64, 64, 12>,
                                    Tile<In, Out, 64, 64, 10, Blocks::kPairAlongK>,
                                    Tile<In, Out, 64, 128, 7, Blocks::kPairAlongK>> {
  static constexpr const auto& kTiles = k8BitTiles;
};

template <class Element, class Out, Scaling kScaling>
static constexpr KernelInfo info(std::string_view id) {
  using In = Scaled<Element, kScaling>;
  return {.id = id,
          .rung = "scaled_tiles",
          .idea = "8-bit operands with scales; tile and k-splits by shape",
          .role = Role::kLibrary,
          .precision = Precision::kFp8,
          .min_cc = 90,
          .in = kTypeOf<In>,
          .out = kTypeOf<Out>,
          .scaling = kScaling,
          .k_major = true,
          .accepts = accept_tensor,
          .launch = tensor_tiles::launch_menu<Menu<In, Out>, In>};
}

static constexpr KernelInfo kKernels[] = {
    info<__nv_fp8_e4m3, __nv_bfloat16, Scaling::kBlock>("ladder_fp8"),
    info<__nv_fp8_e4m3, float, Scaling::kBlock>("ladder_fp8_f32"),
    info<__nv_fp8_e4m3, __nv_bfloat16, Scaling::kTensor>("ladder_fp8_tensor"),
    info<__nv_fp8_e5m2, __nv_bfloat16, Scaling::kBlock>("ladder_fp8_e5m2"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::scaled_tiles
