// SPDX-License-Identifier: Apache-2.0
// r15_warp_specialized: one warp copies, warpgroups multiply.
// NEW:     Full and empty barriers, setmaxnreg.
// WHY:     In r14 both warpgroups synchronise after each stage, and the tensor cores idle until
//          thread 0 and both have continued.
// PREDICT: Warpgroups wait for data only and drift apart, so that one multiplies while the other
//          issues; a tenth faster than r14.
// LIMITS:  Hopper; bf16 or fp16 operands, results of the same type or f32. Any M, N, K up to 2^30,
//          leading dimensions, alpha, beta; rows that are no multiple of 16 bytes are copied first.
// NEXT:    r16 keeps the blocks and stores during the products.
#include "device/ptx/sync.cuh"
#include "device/tensor_product.cuh"

#include <span>

namespace ladder::r15_warp_specialized {

template <class In_, class Out_, int BM_, int BN_, int STAGES_>
struct Tile {
  using In = In_;
  using Out = Out_;
  static constexpr int BM = BM_, BN = BN_, STAGES = STAGES_;
  static constexpr int WM = 64;                                            // rows of a warpgroup
  static constexpr int kConsumers = BM / WM;                               // warpgroups
  static constexpr int kThreads = (kConsumers + 1) * product::kWarpgroup;  // the first one copies
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;

  struct Shared {
    product::Stage<In, BM, BN> stage[STAGES];
    std::uint64_t full[STAGES],
        empty[STAGES];  // barriers: copies have arrived; consumers have read
  };
  static_assert(BM % WM == 0, "warpgroups must cover the tile");
  static_assert(sizeof(Shared) <= product::kMaxShared, "a block's shared memory");
  static_assert(kConsumers * kConsumerRegisters + kProducerRegisters <= (kConsumers + 1) * 168,
                "a block launches with 168 registers per thread");
};

template <class T>
__device__ __forceinline__ void produce(const product::Call<typename T::Out>& c,
                                        typename T::Shared& s, int row0, int col0) {
#pragma unroll 1
  for (int step = 0; step < c.steps; ++step) {
    auto& stage = s.stage[step % T::STAGES];
    const std::uint32_t full = ptx::shared_address(&s.full[step % T::STAGES]);
    const std::uint32_t empty = ptx::shared_address(&s.empty[step % T::STAGES]);
    ptx::mbarrier_wait(empty, step / T::STAGES % 2 ^ 1);  // the first phase is complete: empty
    ptx::mbarrier_arrive_expect(full, stage.kBytes);
    ptx::tma_load(ptx::shared_address(stage.a), c.a, full, step * stage.BK, row0);
    for (int j = 0; j < stage.kBoxes; ++j) {
      ptx::tma_load(ptx::shared_address(stage.b[j]), c.b, full, col0 + j * stage.BK,
                    step * stage.BK);
    }
  }
}

template <class T>
__device__ __forceinline__ void consume(const product::Call<typename T::Out>& c,
                                        typename T::Shared& s, int row0, int col0) {
  const int tid = threadIdx.x - product::kWarpgroup,
            row_of_group = tid / product::kWarpgroup * T::WM;
  float sums[T::BN / 2];  // (WM,BN)

  // Main loop
#pragma unroll 1
  for (int step = 0; step < c.steps; ++step) {
    const int i = step % T::STAGES;
    ptx::mbarrier_wait(ptx::shared_address(&s.full[i]), step / T::STAGES % 2);
    product::multiply<typename T::In, T::BM, T::BN>(sums, s.stage[i], row_of_group, step > 0);
    product::wait(sums);
    if (tid % 32 == 0) ptx::mbarrier_arrive(ptx::shared_address(&s.empty[i]));
  }

  // Epilogue
  product::store(c, sums, row0 + row_of_group, col0);
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ product::Call<typename T::Out> c) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: the producer, or one of the consumers.
  const int block = blockIdx.x, row0 = block / c.tiles_n * T::BM, col0 = block % c.tiles_n * T::BN;
  if (threadIdx.x == 0) {
    for (auto& full : s.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    for (auto& empty : s.empty)
      ptx::mbarrier_init(ptx::shared_address(&empty), T::kConsumers * 4);  // warps
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < product::kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) produce<T>(c, s, row0, col0);
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(c, s, row0, col0);
  }
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  CallMemory memory;
  product::Call<typename T::Out> c;
  Status s = product::describe<typename T::In, T::BM, T::BN>(p, o, stream, memory, c);
  if (!s || c.steps == 0) return s;
  constexpr int kShared = sizeof(typename T::Shared);
  const cudaError_t error = allow_shared(reinterpret_cast<const void*>(kernel<T>), kShared);
  if (error != cudaSuccess) return cuda_failure("cudaFuncSetAttribute", error);
  kernel<T><<<c.tiles_m * c.tiles_n, T::kThreads, kShared, stream>>>(c);
  return launched("r15_warp_specialized");
}

template <class T>
static constexpr KernelInfo info(std::string_view id) {
  return product::info<typename T::In, typename T::Out>(
      id, "r15_warp_specialized", "one warp copies, warpgroups multiply", launch<T>);
}

template <class In, class Out>
using DefaultTile = Tile<In, Out, 128, 256, 4>;

static constexpr KernelInfo kKernels[] = {
    info<DefaultTile<__nv_bfloat16, __nv_bfloat16>>("r15_warp_specialized_bf16"),
    info<DefaultTile<__nv_bfloat16, float>>("r15_warp_specialized_bf16_f32"),
    info<DefaultTile<__half, __half>>("r15_warp_specialized_fp16"),
    info<DefaultTile<__half, float>>("r15_warp_specialized_fp16_f32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r15_warp_specialized
