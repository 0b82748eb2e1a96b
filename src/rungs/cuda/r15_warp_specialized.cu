// SPDX-License-Identifier: Apache-2.0
// r15_warp_specialized: a warp that copies, warpgroups that multiply.  NEW: full and empty barriers, setmaxnreg
// WHY: in r14 both warpgroups meet after each stage, and the tensor cores idle until thread 0 and both have gone on.
// PREDICT: warpgroups wait for data only and drift apart, so that one multiplies while the other turns round; a tenth
//          more than r14.
// LIMITS: Hopper. bf16, fp16 (results of the same type or f32), tf32. Any m, n, k up to 2^30, alpha, beta; lines not on
//         16 bytes are copied first.                                NEXT: r16 keeps the blocks and stores meanwhile
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ring.cuh"
#include "device/tma_operands.cuh"

#include <span>

namespace ladder::r15_warp_specialized {

template <class In, class Out, int BM, int BN, int STAGES>
struct Tile : TensorTile<In, Out, BM, BN, STAGES> {
  using Base = TensorTile<In, Out, BM, BN, STAGES>;
  static constexpr int kThreads =
      (Base::kWarpgroups + 1) * kWarpgroup;  // the first warpgroup copies
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;
  static_assert(Base::kWarpgroups * kConsumerRegisters + kProducerRegisters <= 3 * 168,
                "registers at launch: 65,536 over 384 threads, by eights");

  struct Shared {
    typename Base::Stage stage[STAGES];
    std::uint64_t full[STAGES],
        empty[STAGES];  // barriers: the copies have landed; the consumers have read them
  };
  static_assert(sizeof(Shared) <= kMaxSharedBytes, "a block's shared memory");
};

template <class T>
__device__ __forceinline__ void produce(const TensorMaps& maps, typename T::Shared& s, int row0,
                                        int col0, int steps) {
  if (threadIdx.x != 0) return;
  auto ring = Ring<T::STAGES>::of_producer();
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const std::uint32_t full = ptx::shared_address(&s.full[ring.stage()]);
    ptx::mbarrier_wait(ptx::shared_address(&s.empty[ring.stage()]), ring.parity());
    ptx::mbarrier_arrive_expect(full, T::kBytes);
    load_stage<T>(s.stage[ring.stage()], maps, full, row0, col0, step * T::BK);
    ring.advance();
  }
}

template <class T>
__device__ __forceinline__ void consume(typename T::Shared& s, const Target<typename T::Out>& c,
                                        int row0, int col0, int steps) {
  // Tensors and shapes
  Product<T> product(static_cast<int>(threadIdx.x) / kWarpgroup - 1);  // (WM,WN)
  auto ring = Ring<T::STAGES>::of_consumer();

  // Main loop
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    ptx::mbarrier_wait(ptx::shared_address(&s.full[ring.stage()]), ring.parity());
    product.multiply(s.stage[ring.stage()], step > 0);
    product.wait();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::shared_address(&s.empty[ring.stage()]));
    ring.advance();
  }

  // Epilogue
  store_tile(product, c, row0, col0);
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ TensorMaps maps,
           const __grid_constant__ Target<typename T::Out> c, int tiles_n, int steps) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: a producer or a consumer.
  const int block = static_cast<int>(blockIdx.x);
  const int row0 = block / tiles_n * T::BM, col0 = block % tiles_n * T::BN;
  if (threadIdx.x == 0) {
    for (auto& full : s.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    for (auto& empty : s.empty) ptx::mbarrier_init(ptx::shared_address(&empty), T::kWarpgroups * 4);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    produce<T>(maps, s, row0, col0, steps);
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(s, c, row0, col0, steps);
  }
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
  return launched("r15_warp_specialized");
}

template <class T>
static constexpr KernelInfo info(std::string_view id) {
  return tensor_kernel<typename T::In, typename T::Out>(
      id, "r15_warp_specialized", "a warp that copies, warpgroups that multiply", launch<T>);
}

template <class In, class Out>
using WideTile = Tile<In, Out, 128, 256, 4>;
using Tf32Tile = Tile<float, float, 256, 128, 4>;

static constexpr KernelInfo kKernels[] = {
    info<WideTile<__nv_bfloat16, __nv_bfloat16>>("r15_warp_specialized_bf16"),
    info<WideTile<__nv_bfloat16, float>>("r15_warp_specialized_bf16_f32"),
    info<WideTile<__half, __half>>("r15_warp_specialized_fp16"),
    info<WideTile<__half, float>>("r15_warp_specialized_fp16_f32"),
    info<Tf32Tile>("r15_warp_specialized_tf32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r15_warp_specialized
