// SPDX-License-Identifier: Apache-2.0
// r16_persistent: blocks stay and compute one tile after another.
// NEW:     Persistent blocks in pairs, multicast, deferred stores.
// WHY:     r15's tensor cores idle while a block starts, fills its first stages and stores its
//          tile; neighbouring blocks copy the same columns of B.
// PREDICT: The next tile's copies start before this tile is stored, and a 16-bit tile leaves during
//          the next tile's products: 5 to 10% at 4096. Multicast takes a third off the L2 traffic.
// LIMITS:  Hopper; bf16 or fp16 operands, results of the same type or f32. Any M, N, K up to 2^30,
//          leading dimensions, alpha, beta; rows that are no multiple of 16 bytes are copied first.
// NEXT:    r17 leaves no SM idle in the last wave.
#include "device/ptx/cluster.cuh"
#include "device/ptx/sync.cuh"
#include "device/tensor_product.cuh"

#include <span>

namespace ladder::r16_persistent {

constexpr int kPair = 2;   // blocks of a cluster: tiles of neighbouring rows, with B in common
constexpr int kBand = 16;  // tile rows whose tiles run one after the other: they share B through L2

template <class In_, class Out_, int BM_, int BN_, int STAGES_>
struct Tile {
  using In = In_;
  using Out = Out_;
  using Stage = product::Stage<In, BM_, BN_>;
  static constexpr int BM = BM_, BN = BN_, STAGES = STAGES_;
  static constexpr int WM = 64, kSums = BN / 2;  // rows of a warpgroup, sums per thread
  static constexpr int kConsumers = BM / WM;     // warpgroups
  static constexpr int kThreads = (kConsumers + 1) * product::kWarpgroup;  // the first one copies
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;
  static constexpr bool kDefers =
      sizeof(Out) == 2;                            // a packed tile fits beside the next one's sums
  static constexpr int kPieces = kDefers ? 4 : 0;  // in which it leaves

  struct Shared {
    Stage stage[STAGES];
    std::uint64_t full[STAGES],
        empty[STAGES];  // barriers: copies have arrived; both blocks have read
  };
  static_assert(BM % WM == 0 && Stage::kBoxes % kPair == 0, "the pair copies half of B each");
  static_assert(sizeof(Shared) <= product::kMaxShared, "a block's shared memory");
  static_assert(kConsumers * kConsumerRegisters + kProducerRegisters <= (kConsumers + 1) * 168,
                "a block launches with 168 registers per thread");
};

// Tile `index` of this block, by bands of kBand tile rows and column by column in a band.
struct Place {
  int row, col;  // of C
};
template <class T>
__device__ __forceinline__ Place place_of(const product::Call<typename T::Out>& c, int index) {
  const int pairs_m = (c.tiles_m + kPair - 1) / kPair, band = index / (kBand / kPair * c.tiles_n);
  const int in_band = index % (kBand / kPair * c.tiles_n);
  const int rows = min(kBand / kPair, pairs_m - band * (kBand / kPair));
  const int pair = band * (kBand / kPair) + in_band % rows;
  return {(pair * kPair + ptx::cluster_rank()) * T::BM, in_band / rows * T::BN};
}
template <class Out>
__host__ __device__ __forceinline__ int tiles_of(
    const product::Call<Out>& c) {  // per block of a pair
  return (c.tiles_m + kPair - 1) / kPair * c.tiles_n;
}

template <class T>
__device__ __forceinline__ void produce(const product::Call<typename T::Out>& c,
                                        typename T::Shared& s) {
  using Stage = typename T::Stage;
  const int rank = ptx::cluster_rank();
  unsigned n = 0;  // stages filled
#pragma unroll 1
  for (int tile = blockIdx.x / kPair; tile < tiles_of(c); tile += gridDim.x / kPair) {
    const Place at = place_of<T>(c, tile);
#pragma unroll 1
    for (int step = 0; step < c.steps; ++step, ++n) {
      Stage& stage = s.stage[n % T::STAGES];
      const std::uint32_t full = ptx::shared_address(&s.full[n % T::STAGES]);
      const std::uint32_t empty = ptx::shared_address(&s.empty[n % T::STAGES]);
      ptx::mbarrier_wait(empty, n / T::STAGES % 2 ^ 1);  // the first phase is complete: empty
      ptx::mbarrier_arrive_expect(full, Stage::kBytes);
      ptx::tma_load(ptx::shared_address(stage.a), c.a, full, step * Stage::BK, at.row);
#pragma unroll
      for (int j = 0; j < Stage::kBoxes; j += kPair) {  // every other box, to both blocks
        ptx::tma_load_multicast(ptx::shared_address(stage.b[j + rank]), c.b, full,
                                at.col + (j + rank) * Stage::BK, step * Stage::BK,
                                (1 << kPair) - 1);
      }
    }
  }
}

template <class T>
__device__ __forceinline__ void consume(const product::Call<typename T::Out>& c,
                                        typename T::Shared& s) {
  using Out = typename T::Out;
  const int tid = threadIdx.x - product::kWarpgroup,
            row_of_group = tid / product::kWarpgroup * T::WM;
  float sums[T::kSums];                                            // (WM,BN)
  product::Pair<Out> results[T::kDefers ? T::kSums / 2 : 1] = {};  // of the previous tile
  Place before{c.m, 0};  // its place: outside of C, nothing to store
  if (c.steps == 0) {
    for (float& sum : sums) sum = 0.0F;
  }

  unsigned n = 0;  // stages read
  const auto start = [&](bool add) {
    ptx::mbarrier_wait(ptx::shared_address(&s.full[n % T::STAGES]), n / T::STAGES % 2);
    product::multiply<typename T::In, T::BM, T::BN>(sums, s.stage[n % T::STAGES], row_of_group,
                                                    add);
  };
  const auto release = [&](unsigned stage) {  // to both blocks
    if (tid % 32 < kPair)
      ptx::mbarrier_arrive_at(ptx::shared_address(&s.empty[stage % T::STAGES]), tid % 32);
  };
  const auto finish_previous = [&](bool any) {
    ptx::wgmma_wait<1>();
    if (any) release(n - 1);
    ++n;
  };
  const auto send = [&](int piece) {
    constexpr int kSums = T::kDefers ? T::kSums / T::kPieces : 0;
    product::for_each_pair(piece * kSums, (piece + 1) * kSums, [&](int i, int row, int col) {
      product::store_pair(c, before.row + row, before.col + col, results[i / 2]);
    });
  };

#pragma unroll 1
  for (int tile = blockIdx.x / kPair; tile < tiles_of(c); tile += gridDim.x / kPair) {
    // Main loop. A stage's products start before those of the previous stage have ended. The previous
    // tile leaves beside the first ones.
#pragma unroll
    for (int step = 0; step < T::kPieces; ++step) {
      if (step < c.steps) start(step > 0);
      send(step);
      if (step < c.steps) finish_previous(step > 0);
    }
#pragma unroll 1
    for (int step = T::kPieces; step < c.steps; ++step) {
      start(step > 0);
      finish_previous(step > 0);
    }
    product::wait(sums);
    if (c.steps > 0) release(n - 1);

    // Epilogue
    const Place at = place_of<T>(c, tile);
    if constexpr (T::kDefers) {
      if (c.beta == 0.0F) {
        before = {at.row + row_of_group, at.col};
#pragma unroll
        for (int i = 0; i < T::kSums; i += 2) {
          results[i / 2] = product::pair_of(c.alpha * sums[i], c.alpha * sums[i + 1], Out{});
        }
        continue;
      }
    }
    product::store(c, sums, at.row + row_of_group, at.col);
  }
#pragma unroll
  for (int piece = 0; piece < T::kPieces; ++piece) send(piece);
}

template <class T>
__global__ void __cluster_dims__(kPair, 1, 1) __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ product::Call<typename T::Out> c) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: the producer, or one of the consumers.
  if (threadIdx.x == 0) {
    for (auto& full : s.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    for (auto& empty : s.empty)
      ptx::mbarrier_init(ptx::shared_address(&empty), kPair * T::kConsumers * 4);  // warps
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_sync();  // the other block may now copy to here and arrive here
  if (threadIdx.x < product::kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) produce<T>(c, s);
    __syncwarp();
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(c, s);
  }
  ptx::cluster_sync();  // the other block no longer uses this one's shared memory
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  if (p.m == 0 || p.n == 0) return Status::ok();
  CallMemory memory;
  product::Call<typename T::Out> c;
  if (Status s = product::describe<typename T::In, T::BM, T::BN>(p, o, stream, memory, c); !s)
    return s;
  int sms = 0;
  if (Status s = sm_count(sms); !s) return s;
  constexpr int kShared = sizeof(typename T::Shared);
  const cudaError_t error = allow_shared(reinterpret_cast<const void*>(kernel<T>), kShared);
  if (error != cudaSuccess) return cuda_failure("cudaFuncSetAttribute", error);
  kernel<T><<<std::min(sms / kPair, tiles_of(c)) * kPair, T::kThreads, kShared, stream>>>(c);
  return launched("r16_persistent");
}

template <class T>
static constexpr KernelInfo info(std::string_view id) {
  return product::info<typename T::In, typename T::Out>(
      id, "r16_persistent", "blocks stay, pairs share copies, stores during the products",
      launch<T>);
}

template <class In, class Out>
using DefaultTile = Tile<In, Out, 128, 256, 4>;

static constexpr KernelInfo kKernels[] = {
    info<DefaultTile<__nv_bfloat16, __nv_bfloat16>>("r16_persistent_bf16"),
    info<DefaultTile<__nv_bfloat16, float>>("r16_persistent_bf16_f32"),
    info<DefaultTile<__half, __half>>("r16_persistent_fp16"),
    info<DefaultTile<__half, float>>("r16_persistent_fp16_f32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r16_persistent
