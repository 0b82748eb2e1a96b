// SPDX-License-Identifier: Apache-2.0
// Products of 16-bit and tf32 operands on tensor cores.
#include "gemm/tensor/tensor_launch.cuh"

#include <span>

namespace ladder::tensor_tiles {

template <class In, class Out>
struct Menu
    : Kernels<Tile<In, Out, 128, 256, 4>, Tile<In, Out, 128, 128, 7>, Tile<In, Out, 64, 128, 9>,
              Tile<In, Out, 64, 64, 13>, Tile<In, Out, 128, 256, 4, Blocks::kPairAlongM, 232>,
              Tile<In, Out, 128, 256, 4, Blocks::kPairAlongM, 192>,
              Tile<In, Out, 64, 128, 9, Blocks::kPairAlongM>,
              Tile<In, Out, 128, 128, 7, Blocks::kFourAlongN>,
              Tile<In, Out, 64, 64, 12, Blocks::kPairAlongK>,
              Tile<In, Out, 128, 256, 4, Blocks::kPairAlongM>> {
  static constexpr const auto& kTiles = k16BitTiles;
};
template <>
struct Menu<float, float>
    : Kernels<Tile<float, float, 256, 128, 4>, Tile<float, float, 128, 128, 7>,
              Tile<float, float, 128, 64, 9>, Tile<float, float, 256, 128, 4, Blocks::kPairAlongN>,
              Tile<float, float, 128, 64, 9, Blocks::kPairAlongN>> {
  static constexpr const auto& kTiles = kTf32Tiles;
};

template <class In, class Out>
static constexpr KernelInfo info(std::string_view id, Precision precision) {
  return {.id = id,
          .rung = "tensor_tiles",
          .idea = "tensor cores; tile, k-splits and narrow last tiles by shape",
          .role = Role::kLibrary,
          .precision = precision,
          .min_cc = 90,
          .in = kTypeOf<In>,
          .out = kTypeOf<Out>,
          .accepts = accept_tensor,
          .launch = launch_menu<Menu<In, Out>, In>};
}

static constexpr KernelInfo kKernels[] = {
    info<__nv_bfloat16, __nv_bfloat16>("ladder_bf16", Precision::kBf16),
    info<__nv_bfloat16, float>("ladder_bf16_f32", Precision::kBf16),
    info<__half, __half>("ladder_fp16", Precision::kFp16),
    info<__half, float>("ladder_fp16_f32", Precision::kFp16),
    info<float, float>("ladder_tf32", Precision::kTf32),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::tensor_tiles
