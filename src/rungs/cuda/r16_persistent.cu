// SPDX-License-Identifier: Apache-2.0
// r16_persistent: persistent blocks compute one tile after another.
// NEW:     Persistent blocks in pairs, multicast, deferred stores.
// WHY:     r15's tensor cores idle while a block starts, fills its first stages and stores its
//          tile; neighbouring blocks copy the same columns of B.
// PREDICT: The next tile's copies start before this tile is stored, and a 16-bit tile leaves in
//          full cache lines during the next tile's products: a tenth at 4096.
// LIMITS:  Hopper; bf16 or fp16 operands, results of the same type or f32. Any M, N, K up to 2^30,
//          leading dimensions, alpha, beta; rows that are no multiple of 16 bytes are copied first.
// NEXT:    r17 leaves no SM idle in the last wave.
#include "device/ptx/cluster.cuh"
#include "device/ptx/sync.cuh"
#include "device/tensor_product.cuh"

#include <span>

namespace ladder::r16_persistent {

using product::kWarpgroup;
constexpr int kPair = 2;  // blocks of a cluster: tiles of neighbouring rows, with B in common
constexpr int kBand = 8;  // rows of pairs whose tiles are adjacent in time: they share B in L2

template <class In, class Out, int BM, int BN, int STAGES>
struct Tile : product::TileOf<In, Out, BM, BN, STAGES> {
  using Base = product::TileOf<In, Out, BM, BN, STAGES>;
  static constexpr int kGroups = Base::kConsumers + 1;  // the first one copies
  static constexpr int kThreads = kGroups * kWarpgroup;
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;
  struct Shared {
    typename Base::Stage stage[STAGES];
    alignas(1024) char out[Base::kConsumers][2][64 * 128];  // 64 columns to be stored
    std::uint64_t full[STAGES], empty[STAGES];              // barriers: copied; read by both blocks
  };
  static_assert(Base::kBoxes % kPair == 0, "each block of a pair copies half of B");
  static_assert(Base::kConsumers * kConsumerRegisters + kProducerRegisters <= kGroups * 168,
                "a block launches with 168 registers per thread");
};

// Origin in C of this block's tile of a pair. Pairs run in bands of kBand, column by column.
struct Place {
  int row, col;
};
template <class T>
__device__ __forceinline__ Place place_of(const product::Call& c, int pair) {
  const int band = pair / (kBand * c.tiles_n), at = pair - band * kBand * c.tiles_n;
  const int rows = min(kBand, (c.tiles_m + 1) / kPair - band * kBand);
  return {((band * kBand + at % rows) * kPair + ptx::cluster_rank()) * T::BM, at / rows * T::BN};
}

template <class T>
__device__ __forceinline__ void produce(const product::Call& c, typename T::Shared& s, int pairs) {
  const int rank = ptx::cluster_rank();
  unsigned n = 0;  // stages filled
#pragma unroll 1
  for (int pair = blockIdx.x / kPair; pair < pairs; pair += gridDim.x / kPair) {
    const Place at = place_of<T>(c, pair);
#pragma unroll 1
    for (int step = 0; step < c.steps; ++step, ++n) {
      const unsigned i = n % T::STAGES;
      const std::uint32_t full = ptx::shared_address(&s.full[i]);
      const int parity = n / T::STAGES % 2 ^ 1, k = step * T::BK;  // the first phase is complete
      ptx::mbarrier_wait(ptx::shared_address(&s.empty[i]), parity);
      ptx::mbarrier_arrive_expect(full, T::kStageBytes);
      ptx::tma_load(ptx::shared_address(s.stage[i].a), c.a, full, k, at.row);
#pragma unroll
      for (int j = rank; j < T::kBoxes + rank; j += kPair) {  // every other box, to both blocks
        ptx::tma_load_multicast(ptx::shared_address(s.stage[i].b[j]), c.b, full, at.col + j * T::BK,
                                k, (1 << kPair) - 1);
      }
    }
  }
}

template <class T>
__device__ __forceinline__ void consume(const product::Call& c, typename T::Shared& s, int pairs) {
  using Out = typename T::Out;
  const int tid = threadIdx.x % kWarpgroup, group = threadIdx.x / kWarpgroup - 1, lane = tid % 32;
  float sums[T::kSums];                      // (WM,BN)
  std::uint32_t results[T::kSums / 2] = {};  // of the previous tile, two per register
  Place before{-1, 0};                       // its origin, until it is stored
  unsigned n = 0;                            // stages read

  // Starts a stage's products.
  const auto start = [&](bool add) {
    ptx::mbarrier_wait(ptx::shared_address(&s.full[n % T::STAGES]), n / T::STAGES % 2);
    product::multiply<T>(sums, s.stage[n++ % T::STAGES], group * T::WM, add);
  };
  // Releases, in both blocks, the stage that was read `ago` stages before the next one.
  const auto release = [&](unsigned ago) {
    const std::uint32_t empty = ptx::shared_address(&s.empty[(n - ago) % T::STAGES]);
    if (lane < kPair) ptx::mbarrier_arrive_at(empty, lane);
  };
  // Stores 64 columns of the previous tile to C through shared memory.
  const auto send = [&](int piece) {
    if (before.row < 0) return;
    product::store_box(c, s.out[group][piece % 2], results, piece, group, before.row, before.col);
  };

#pragma unroll 1
  for (int pair = blockIdx.x / kPair; pair < pairs; pair += gridDim.x / kPair) {
    // Main loop. A stage's products start before those of the previous stage have ended. The
    // previous tile is stored during the first ones.
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      if (step == 0 || step < c.steps) start(step > 0);
      send(step);
      ptx::wgmma_wait<1>();
      if (step > 0 && step < c.steps) release(2);
    }
#pragma unroll 1
    for (int step = 4; step < c.steps; ++step) {
      start(true);
      ptx::wgmma_wait<1>();
      release(2);
    }
    product::wait(sums);
    release(1);

    // Epilogue
    before.row = -1;
    const Place at = place_of<T>(c, pair);
    if (sizeof(Out) == 2 && c.by_map) {
      before = {at.row + group * T::WM, at.col};
      product::round<Out>(c.alpha, sums, results);
    } else {
      product::store<Out>(c, sums, at.row + group * T::WM, at.col);
    }
  }
#pragma unroll
  for (int piece = 0; piece < 4; ++piece) send(piece);
  if (tid == 0) ptx::bulk_wait_read<0>();
}

template <class T>
__global__ void __cluster_dims__(kPair, 1, 1) __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ product::Call c, int pairs) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: the producer, or one of the consumers.
  if (threadIdx.x == 0) {
    product::init_barriers(s, kPair * T::kConsumers * 4);  // warps of both blocks
    ptx::prefetch_tensor_map(c.a);
    ptx::prefetch_tensor_map(c.b);
  }
  ptx::cluster_sync();  // the other block may now copy to here and arrive here
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) produce<T>(c, s, pairs);
    __syncwarp();
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(c, s, pairs);
  }
  ptx::cluster_sync();  // the other block no longer uses this one's shared memory
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  int sms = 0;
  if (Status s = sm_count(sms); !s) return s;
  CallMemory memory;
  product::Call c;
  Status s = product::describe(p, o, T::BM, T::BN, stream, memory, c);
  if (!s || c.steps == 0) return s;
  const int pairs = (c.tiles_m + 1) / kPair * c.tiles_n;
  return product::launch<T>("r16_persistent", kernel<T>, std::min(sms / kPair, pairs) * kPair,
                            stream, c, pairs);
}

template <class In, class Out>
static constexpr KernelInfo info(std::string_view id) {
  return product::info<In, Out>(id, "r16_persistent",
                                "persistent blocks, multicast in pairs, stores overlap products",
                                launch<Tile<In, Out, 128, 256, 4>>);
}
static constexpr KernelInfo kKernels[] = {
    info<__nv_bfloat16, __nv_bfloat16>("r16_persistent_bf16"),
    info<__nv_bfloat16, float>("r16_persistent_bf16_f32"),
    info<__half, __half>("r16_persistent_fp16"),
    info<__half, float>("r16_persistent_fp16_f32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r16_persistent
