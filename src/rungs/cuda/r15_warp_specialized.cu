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

template <class In, class Out, int BM, int BN, int STAGES>
struct Tile : product::TileOf<In, Out, BM, BN, STAGES> {
  using Base = product::TileOf<In, Out, BM, BN, STAGES>;
  static constexpr int kGroups = Base::kConsumers + 1;  // the first one copies
  static constexpr int kThreads = kGroups * product::kWarpgroup;
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;
  struct Shared {
    typename Base::Stage stage[STAGES];
    std::uint64_t full[STAGES], empty[STAGES];  // barriers: copied; read
  };
  static_assert(Base::kConsumers * kConsumerRegisters + kProducerRegisters <= kGroups * 168,
                "a block launches with 168 registers per thread");
};

template <class T>
__device__ __forceinline__ void produce(const product::Call& c, typename T::Shared& s, int row0,
                                        int col0) {
#pragma unroll 1
  for (int step = 0; step < c.steps; ++step) {
    const int i = step % T::STAGES;
    const int parity = step / T::STAGES % 2 ^ 1;  // the first phase is complete: empty
    ptx::mbarrier_wait(ptx::shared_address(&s.empty[i]), parity);
    product::load<T>(c, s.stage[i], ptx::shared_address(&s.full[i]), row0, col0, step);
  }
}

template <class T>
__device__ __forceinline__ void consume(const product::Call& c, typename T::Shared& s, int row0,
                                        int col0) {
  const int tid = threadIdx.x - product::kWarpgroup,
            row_of_group = tid / product::kWarpgroup * T::WM;
  float sums[T::kSums];  // (WM,BN)

  // Main loop
#pragma unroll 1
  for (int step = 0; step < c.steps; ++step) {
    const int i = step % T::STAGES;
    ptx::mbarrier_wait(ptx::shared_address(&s.full[i]), step / T::STAGES % 2);
    product::multiply<T>(sums, s.stage[i], row_of_group, step > 0);
    product::wait(sums);
    if (tid % 32 == 0) ptx::mbarrier_arrive(ptx::shared_address(&s.empty[i]));
  }

  // Epilogue
  product::store<typename T::Out>(c, sums, row0 + row_of_group, col0);
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1) kernel(const __grid_constant__ product::Call c) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: the producer, or one of the consumers.
  const int block = blockIdx.x, row0 = block / c.tiles_n * T::BM, col0 = block % c.tiles_n * T::BN;
  if (threadIdx.x == 0) product::init_barriers(s, T::kConsumers * 4);  // warps
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
  product::Call c;
  Status s = product::describe(p, o, T::BM, T::BN, stream, memory, c);
  if (!s || c.steps == 0) return s;
  return product::launch<T>("r15_warp_specialized", kernel<T>, c.tiles_m * c.tiles_n, stream, c);
}

template <class In, class Out>
static constexpr KernelInfo info(std::string_view id) {
  return product::info<In, Out>(id, "r15_warp_specialized", "one warp copies, warpgroups multiply",
                                launch<Tile<In, Out, 128, 256, 4>>);
}
static constexpr KernelInfo kKernels[] = {
    info<__nv_bfloat16, __nv_bfloat16>("r15_warp_specialized_bf16"),
    info<__nv_bfloat16, float>("r15_warp_specialized_bf16_f32"),
    info<__half, __half>("r15_warp_specialized_fp16"),
    info<__half, float>("r15_warp_specialized_fp16_f32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r15_warp_specialized
