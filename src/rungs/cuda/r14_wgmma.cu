// SPDX-License-Identifier: Apache-2.0
// r14_wgmma: warpgroups multiply straight from shared memory.   NEW: wgmma, tensor maps, the 128-byte swizzle
// WHY: r13's warps bring every operand through registers: copies, ldmatrix, rounding and addresses share issue slots
//      with mma.sync, which itself reaches some 60% of the tensor cores' rate.
// PREDICT: one thread copies, an instruction of a warpgroup multiplies 64 x 256 x 16: hardly anything left to issue.
//          Twice r13 in tf32, four times in 16 bits; the barrier after each stage still costs.
// LIMITS: Hopper. bf16, fp16 (results of the same type or f32), tf32. Any m, n, k up to 2^30, alpha, beta; lines not on
//         16 bytes are copied first.                                NEXT: r15 gives the copies a warp of their own
#include "device/ptx/mbarrier.cuh"
#include "device/ring.cuh"
#include "device/tma_operands.cuh"

#include <span>

namespace ladder::r14_wgmma {

template <class In, class Out, int BM, int BN, int STAGES>
struct Tile : TensorTile<In, Out, BM, BN, STAGES> {
  using Base = TensorTile<In, Out, BM, BN, STAGES>;
  static constexpr int kThreads = Base::kWarpgroups * kWarpgroup;

  struct Shared {
    typename Base::Stage stage[STAGES];
    std::uint64_t full[STAGES];  // barriers: the stage's copies have landed
  };
  static_assert(sizeof(Shared) <= kMaxSharedBytes, "a block's shared memory");
  static_assert(STAGES >= 2, "one stage is read while another is filled");
};

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ TensorMaps maps,
           const __grid_constant__ Target<typename T::Out> c, int tiles_n, int steps) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: one of two warpgroups, each with its own part of the tile's sums; thread 0 copies as
  // well.
  const int tid = static_cast<int>(threadIdx.x);
  const int block = static_cast<int>(blockIdx.x);
  const int row0 = block / tiles_n * T::BM, col0 = block % tiles_n * T::BN;
  const auto load = [&](int stage, int step) {
    const std::uint32_t full = ptx::shared_address(&s.full[stage]);
    ptx::mbarrier_arrive_expect(full, T::kBytes);
    load_stage<T>(s.stage[stage], maps, full, row0, col0, step * T::BK);
  };
  if (tid == 0) {
    for (auto& full : s.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    ptx::fence_mbarrier_init();
    for (int step = 0; step < min(T::STAGES, steps); ++step) load(step, step);
  }
  __syncthreads();

  // Tensors and shapes
  Product<T> product(tid / kWarpgroup);  // (WM,WN)
  auto ring = Ring<T::STAGES>::of_consumer();

  // Main loop
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    ptx::mbarrier_wait(ptx::shared_address(&s.full[ring.stage()]), ring.parity());
    product.multiply(s.stage[ring.stage()], step > 0);
    product.wait();
    __syncthreads();  // all have read the stage
    if (tid == 0 && step + T::STAGES < steps) load(ring.stage(), step + T::STAGES);
    ring.advance();
  }

  // Epilogue
  store_tile(product, c, row0, col0);
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  if (!reads_ab(p)) return scale_only<typename T::Out>(p, o, stream);
  TensorLaunch<T> l;
  if (Status s = prepare<T>(p, o, stream, l); !s) return s;
  constexpr int kShared = sizeof(typename T::Shared);
  const cudaError_t error = allow_shared(reinterpret_cast<const void*>(kernel<T>), kShared);
  if (error != cudaSuccess) return cuda_failure("cudaFuncSetAttribute", error);
  kernel<T>
      <<<l.tiles_m * l.tiles_n, T::kThreads, kShared, stream>>>(l.maps, l.c, l.tiles_n, l.steps);
  return launched("r14_wgmma");
}

template <class T>
static constexpr KernelInfo info(std::string_view id) {
  return tensor_kernel<typename T::In, typename T::Out>(
      id, "r14_wgmma", "warpgroups multiply from shared memory, tensor maps copy", launch<T>);
}

template <class In, class Out>
using WideTile = Tile<In, Out, 128, 256, 4>;
using Tf32Tile = Tile<float, float, 256, 128, 4>;

static constexpr KernelInfo kKernels[] = {
    info<WideTile<__nv_bfloat16, __nv_bfloat16>>("r14_wgmma_bf16"),
    info<WideTile<__nv_bfloat16, float>>("r14_wgmma_bf16_f32"),
    info<WideTile<__half, __half>>("r14_wgmma_fp16"),
    info<WideTile<__half, float>>("r14_wgmma_fp16_f32"),
    info<Tf32Tile>("r14_wgmma_tf32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r14_wgmma
