// SPDX-License-Identifier: Apache-2.0
// r17_stream_k: no SM idles in the last wave.
// NEW:     The last tiles are split along K (stream-K).
// WHY:     r16's 256 pairs of tiles at 4096 take 4 waves of 66 pairs of blocks, but fill 3.9: in
//          the last wave SMs idle.
// PREDICT: Blocks share the steps of the last one to two waves equally: 3% at 4096 and 8192, less
//          the time to forward partial sums.
// LIMITS:  As r16. Less than a wave of tiles is not split. Results do not depend on timing
//          (stream-K: Osama et al., PPoPP 2023).
// NEXT:    r18 multiplies FP32 operands.
#include "device/ptx/cluster.cuh"
#include "device/ptx/sync.cuh"
#include "device/tensor_product.cuh"

#include <span>

namespace ladder::r17_stream_k {

using product::kWarpgroup;
constexpr int kPair = 2;  // blocks of a cluster: tiles of neighbouring rows, with B in common
constexpr int kBand =
    8;  // rows of pairs whose tiles run one after the other: they share B through L2

template <class In_, class Out_, int BM_, int BN_, int STAGES_>
struct Tile {
  using In = In_;
  using Out = Out_;
  using Stage = product::Stage<In, BM_, BN_>;
  static constexpr int BM = BM_, BN = BN_, STAGES = STAGES_;
  static constexpr int WM = 64, kSums = BN / 2;  // rows of a warpgroup, sums per thread
  static constexpr int kConsumers = BM / WM, kThreads = (kConsumers + 1) * kWarpgroup;
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;

  struct Shared {
    Stage stage[STAGES];
    alignas(1024) char out[kConsumers][2][WM * 128];  // 64 columns of results on their way to C
    std::uint64_t full[STAGES], empty[STAGES];        // barriers: copied; read by both blocks
  };
  static_assert(BM % WM == 0 && Stage::kBoxes % kPair == 0,
                "each block of a pair copies half of B");
  static_assert(sizeof(Shared) <= product::kMaxShared, "a block's shared memory");
  static_assert(kConsumers * kConsumerRegisters + kProducerRegisters <= (kConsumers + 1) * 168,
                "a block launches with 168 registers per thread");
};

// Where this block's tile of a pair of tiles is in C. Bands of kBand pairs run column by column.
struct Place {
  int row, col;
};
template <class T>
__device__ __forceinline__ Place place_of(const product::Call<typename T::Out>& c, int pair) {
  const int band = pair / (kBand * c.tiles_n), at = pair - band * kBand * c.tiles_n;
  const int rows = min(kBand, (c.tiles_m + 1) / kPair - band * kBand);
  return {((band * kBand + at % rows) * kPair + ptx::cluster_rank()) * T::BM, at / rows * T::BN};
}

// A pair's work: whole tiles, then its share of the split ones' steps, from its end to its
// beginning. The first piece may begin a tile that the next pair completes; the last piece may
// complete a tile of the previous pair.
struct Work {
  int tile, begin, end;  // steps
};
struct Schedule {
  int whole, split, steps;  // tiles of either kind; steps per tile
  int tile = blockIdx.x / kPair, pairs = gridDim.x / kPair;
  unsigned begin = share(tile), end = share(tile + 1);  // of the split tiles' steps

  __device__ __forceinline__ unsigned share(int pair) const {
    return static_cast<std::uint64_t>(split) * steps * pair / pairs;
  }
  __device__ __forceinline__ bool next(Work& work) {
    if (tile < whole) {
      work = {tile, 0, steps};
      tile += pairs;
      return true;
    }
    if (begin == end) return false;
    const unsigned index = (end - 1) / steps, first = index * steps,
                   from = max(begin, first) - first;
    work = {whole + static_cast<int>(index), static_cast<int>(from), static_cast<int>(end - first)};
    end = first + from;
    return true;
  }
};

// Partial sums on their way to the next pair, per block and warpgroup: 64 x BN sums and a flag.
struct Partials {
  float4* g;        // (blocks,consumers,kSums/4,kWarpgroup)
  unsigned* ready;  // (blocks,consumers)
  int whole, split;
};
template <class T>
__device__ __forceinline__ void forward(const Partials& x, int slot, int tid,
                                        const float (&sums)[T::kSums]) {
  float4* const g = x.g + slot * (T::kSums / 4 * kWarpgroup) + tid;
#pragma unroll
  for (int i = 0; i < T::kSums / 4; ++i)
    __stcg(g + i * kWarpgroup, *reinterpret_cast<const float4*>(&sums[4 * i]));
}
template <class T>
__device__ __forceinline__ void publish(const Partials& x, int slot, int tid) {
  __threadfence();
  ptx::barrier_sync(1 + slot % T::kConsumers, kWarpgroup);
  if (tid == 0) ptx::store_relaxed(x.ready + slot, 1);
}
template <class T>
__device__ __forceinline__ void receive(const Partials& x, int slot, int tid,
                                        float (&sums)[T::kSums]) {
  const float4* const g = x.g + slot * (T::kSums / 4 * kWarpgroup) + tid;
  while (ptx::load_acquire(x.ready + slot) == 0) {
  }
#pragma unroll
  for (int i = 0; i < T::kSums / 4; ++i)
    *reinterpret_cast<float4*>(&sums[4 * i]) = __ldcg(g + i * kWarpgroup);
  ptx::barrier_sync(1 + slot % T::kConsumers, kWarpgroup);
  if (tid == 0) ptx::store_relaxed(x.ready + slot, 0);  // for the next launch
}

template <class T>
__device__ __forceinline__ void produce(const product::Call<typename T::Out>& c,
                                        typename T::Shared& s, Schedule schedule) {
  const int rank = ptx::cluster_rank();
  unsigned n = 0;  // stages filled
#pragma unroll 1
  for (Work work; schedule.next(work);) {
    const Place at = place_of<T>(c, work.tile);
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step, ++n) {
      auto& stage = s.stage[n % T::STAGES];
      const std::uint32_t full = ptx::shared_address(&s.full[n % T::STAGES]);
      const std::uint32_t empty = ptx::shared_address(&s.empty[n % T::STAGES]);
      ptx::mbarrier_wait(empty, n / T::STAGES % 2 ^ 1);  // the first phase is complete: empty
      ptx::mbarrier_arrive_expect(full, stage.kBytes);
      const int k = step * stage.BK;
      ptx::tma_load(ptx::shared_address(stage.a), c.a, full, k, at.row);
#pragma unroll
      for (int j = rank; j < stage.kBoxes + rank; j += kPair) {  // every other box, to both blocks
        ptx::tma_load_multicast(ptx::shared_address(stage.b[j]), c.b, full, at.col + j * stage.BK,
                                k, (1 << kPair) - 1);
      }
    }
  }
}

template <class T>
__device__ __forceinline__ void consume(const product::Call<typename T::Out>& c,
                                        typename T::Shared& s, Schedule schedule,
                                        const Partials& partials) {
  using Out = typename T::Out;
  const int tid = threadIdx.x % kWarpgroup, group = threadIdx.x / kWarpgroup - 1, lane = tid % 32;
  float sums[T::kSums];                      // (WM,BN)
  std::uint32_t results[T::kSums / 2] = {};  // of the previous tile, two per register
  Place before{-1, 0};                       // its place, if it has not left yet
  unsigned n = 0;                            // stages read
  bool unpublished = false;

  // Starts a stage's products.
  const auto start = [&](bool add) {
    ptx::mbarrier_wait(ptx::shared_address(&s.full[n % T::STAGES]), n / T::STAGES % 2);
    product::multiply<typename T::In, T::BM, T::BN>(sums, s.stage[n++ % T::STAGES], group * T::WM,
                                                    add);
  };
  // The stage `ago` stages before the next one has been read. Tells both blocks.
  const auto release = [&](unsigned ago) {
    const std::uint32_t empty = ptx::shared_address(&s.empty[(n - ago) % T::STAGES]);
    if (lane < kPair) ptx::mbarrier_arrive_at(empty, lane);
  };
  // Sends 64 columns of the previous tile to C through shared memory.
  const auto send = [&](int piece) {
    if (before.row < 0) return;
    const std::uint32_t buffer = ptx::shared_address(s.out[group][piece % 2]);
    if (tid == 0) ptx::bulk_wait_read<1>();
    ptx::barrier_sync(1 + group, kWarpgroup);
    const int row = tid / 32 * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int bytes = (i * 32 + lane / 16 * 16) ^ row % 8 * 16;  // the swizzle
      ptx::store_matrix4(buffer + row * 128 + bytes, results + piece * 16 + i * 4);
    }
    ptx::barrier_sync(1 + group, kWarpgroup);
    if (tid > 0) return;
    ptx::fence_proxy_async();  // for all threads of the barrier
    ptx::tma_store(c.out, buffer, before.col + piece * 64, before.row);
    ptx::bulk_commit();
  };

#pragma unroll 1
  for (Work work; schedule.next(work);) {
    const int steps = work.end - work.begin, slot = blockIdx.x * T::kConsumers + group;
    const bool continues = work.begin > 0;
    if (continues) receive<T>(partials, slot - kPair * T::kConsumers, tid, sums);
      // Main loop. A stage's products start before those of the previous stage have ended. The
      // previous tile leaves beside the first ones.
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      if (step == 0 || step < steps) start(continues || step > 0);
      send(step);
      if (step == 1 && unpublished) publish<T>(partials, slot, tid), unpublished = false;
      ptx::wgmma_wait<1>();
      if (step > 0 && step < steps) release(2);
    }
#pragma unroll 1
    for (int step = 4; step < steps; ++step) {
      start(true);
      ptx::wgmma_wait<1>();
      release(2);
    }
    product::wait(sums);
    release(1);

    // Epilogue
    before.row = -1;
    if (work.end < c.steps) {
      forward<T>(partials, slot, tid, sums);
      unpublished = true;
      continue;
    }
    const Place at = place_of<T>(c, work.tile);
    if (sizeof(Out) == 2 && c.by_map) {
      before = {at.row + group * T::WM, at.col};
#pragma unroll
      for (int i = 0; i < T::kSums; i += 2) {
        const auto pair = product::pair_of(c.alpha * sums[i], c.alpha * sums[i + 1], Out{});
        results[i / 2] = *reinterpret_cast<const std::uint32_t*>(&pair);
      }
    } else {
      product::store(c, sums, at.row + group * T::WM, at.col);
    }
  }
#pragma unroll
  for (int piece = 0; piece < 4; ++piece) send(piece);
  if (tid == 0) ptx::bulk_wait_read<0>();
}

template <class T>
__global__ void __cluster_dims__(kPair, 1, 1) __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ product::Call<typename T::Out> c,
           const __grid_constant__ Partials partials) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: the producer, or one of the consumers.
  if (threadIdx.x == 0) {
    for (auto& full : s.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    for (auto& empty : s.empty)
      ptx::mbarrier_init(ptx::shared_address(&empty), kPair * T::kConsumers * 4);
    ptx::fence_mbarrier_init();
    ptx::prefetch_tensor_map(c.a);
    ptx::prefetch_tensor_map(c.b);
  }
  ptx::cluster_sync();  // the other block may now copy to here and arrive here
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) produce<T>(c, s, {partials.whole, partials.split, c.steps});
    __syncwarp();
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(c, s, {partials.whole, partials.split, c.steps}, partials);
  }
  ptx::cluster_sync();  // the other block no longer uses this one's shared memory
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  int sms = 0;
  if (Status s = sm_count(sms); !s) return s;
  CallMemory memory;
  product::Call<typename T::Out> c;
  const std::int64_t slots = sms * T::kConsumers,
                     bytes = slots * T::kSums * kWarpgroup * sizeof(float);
  Status s = product::describe<typename T::In, T::BM, T::BN>(p, o, stream, memory, c, bytes, slots);
  if (!s || c.steps == 0) return s;
  // The last full wave and the rest are split.
  const int tiles = (c.tiles_m + 1) / kPair * c.tiles_n, pairs = std::min(sms / kPair, tiles);
  const int split = tiles % pairs > 0 ? tiles % pairs + pairs : 0;
  const Partials partials{reinterpret_cast<float4*>(memory.scratch()), memory.flags(),
                          tiles - split, split};
  constexpr int kShared = sizeof(typename T::Shared);
  const cudaError_t error = allow_shared(reinterpret_cast<const void*>(kernel<T>), kShared);
  if (error != cudaSuccess) return cuda_failure("cudaFuncSetAttribute", error);
  kernel<T><<<pairs * kPair, T::kThreads, kShared, stream>>>(c, partials);
  return launched("r17_stream_k");
}

template <class T>
static constexpr KernelInfo info(std::string_view id) {
  return product::info<typename T::In, typename T::Out>(id, "r17_stream_k",
                                                        "no SM idles in the last wave", launch<T>);
}

template <class In, class Out>
using DefaultTile = Tile<In, Out, 128, 256, 4>;

static constexpr KernelInfo kKernels[] = {
    info<DefaultTile<__nv_bfloat16, __nv_bfloat16>>("r17_stream_k_bf16"),
    info<DefaultTile<__nv_bfloat16, float>>("r17_stream_k_bf16_f32"),
    info<DefaultTile<__half, __half>>("r17_stream_k_fp16"),
    info<DefaultTile<__half, float>>("r17_stream_k_fp16_f32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r17_stream_k
