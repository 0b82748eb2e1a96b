// SPDX-License-Identifier: Apache-2.0
// r14_wgmma: warpgroups multiply straight from shared memory.
// NEW:     wgmma, tensor maps, the 128-byte swizzle.
// WHY:     r13's warps move every operand through registers: copies, ldmatrix, rounding and
//          addresses share issue slots with mma.sync, which itself reaches some 60% of the tensor
//          cores' rate.
// PREDICT: One thread copies, and one instruction of a warpgroup multiplies 64 x 256 x 16: hardly
//          anything is left to issue. Four times r13; the barrier after each stage still costs.
// LIMITS:  Hopper; bf16 or fp16 operands, results of the same type or f32. Any M, N, K up to 2^30,
//          leading dimensions, alpha, beta; rows that are no multiple of 16 bytes are copied first.
// NEXT:    r15 gives the copies a warp of their own.
#include "device/tensor_product.cuh"

#include <span>

namespace ladder::r14_wgmma {

template <class In, class Out, int BM, int BN, int STAGES>
struct Tile : product::TileOf<In, Out, BM, BN, STAGES> {
  using Base = product::TileOf<In, Out, BM, BN, STAGES>;
  static constexpr int kThreads = Base::kConsumers * product::kWarpgroup;
  struct Shared {
    typename Base::Stage stage[STAGES];
    std::uint64_t full[STAGES];  // barriers: the stage's copies have arrived
  };
  static_assert(STAGES >= 2, "one stage is read while another is filled");
};

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1) kernel(const __grid_constant__ product::Call c) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: a warpgroup with its own 64 rows of the tile. Thread 0 copies as well.
  const int tid = threadIdx.x, block = blockIdx.x;
  const int row0 = block / c.tiles_n * T::BM, col0 = block % c.tiles_n * T::BN;
  const int row_of_group = tid / product::kWarpgroup * T::WM;
  const auto load = [&](int step) {
    const int i = step % T::STAGES;
    product::load<T>(c, s.stage[i], ptx::shared_address(&s.full[i]), row0, col0, step);
  };
  if (tid == 0) {
    for (auto& full : s.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    ptx::fence_mbarrier_init();
    for (int step = 0; step < min(T::STAGES, c.steps); ++step) load(step);
  }
  __syncthreads();
  float sums[T::kSums];  // (WM,BN)

  // Main loop
#pragma unroll 1
  for (int step = 0; step < c.steps; ++step) {
    const int i = step % T::STAGES;
    ptx::mbarrier_wait(ptx::shared_address(&s.full[i]), step / T::STAGES % 2);
    product::multiply<T>(sums, s.stage[i], row_of_group, step > 0);
    product::wait(sums);
    __syncthreads();  // all warpgroups have read the stage
    if (tid == 0 && step + T::STAGES < c.steps) load(step + T::STAGES);
  }

  // Epilogue
  product::store<typename T::Out>(c, sums, row0 + row_of_group, col0);
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  CallMemory memory;
  product::Call c;
  Status s = product::describe(p, o, T::BM, T::BN, stream, memory, c);
  if (!s || c.steps == 0) return s;
  return product::launch<T>("r14_wgmma", kernel<T>, c.tiles_m * c.tiles_n, stream, c);
}

template <class In, class Out>
static constexpr KernelInfo info(std::string_view id) {
  return product::info<In, Out>(id, "r14_wgmma",
                                "warpgroups multiply from shared memory, tensor maps copy",
                                launch<Tile<In, Out, 128, 256, 4>>);
}
static constexpr KernelInfo kKernels[] = {
    info<__nv_bfloat16, __nv_bfloat16>("r14_wgmma_bf16"),
    info<__nv_bfloat16, float>("r14_wgmma_bf16_f32"),
    info<__half, __half>("r14_wgmma_fp16"),
    info<__half, float>("r14_wgmma_fp16_f32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r14_wgmma
