// SPDX-License-Identifier: Apache-2.0
// r17_stream_k: no SM idles in the last wave.
// NEW:     The last tiles are split along K (stream-K: Osama et al., PPoPP 2023).
// WHY:     r16's 256 pairs of tiles at 4096 fill 3.9 of the 4 waves of 66 pairs of blocks.
// PREDICT: Equal shares of the last one to two waves' steps: 3% at 4096 and 8192, less forwarding.
// LIMITS:  As r16. Splits nothing where forwarding would take longer than SMs idle, as at 4096, and
//          nothing of less than a wave. Results do not depend on timing.
// NEXT:    r18 multiplies FP32 operands.
#include "device/ptx/cluster.cuh"
#include "device/ptx/sync.cuh"
#include "device/tensor_product.cuh"

#include <span>

namespace ladder::r17_stream_k {

using product::kWarpgroup;
constexpr int kPair = 2;  // blocks of a cluster: tiles of neighbouring rows, with B in common
constexpr int kBand = 8;  // rows of pairs whose tiles are adjacent in time: they share B in L2
constexpr std::int64_t kForward = 16;  // steps that forwarding a tile's partial sums takes

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

// A pair's work: whole tiles, then its share of the split tiles' steps, last steps first. The next
// pair may complete the first piece's tile; the last piece may complete one of the previous pair.
struct Schedule {
  int whole, split, steps;           // tiles of either kind; steps per tile
  int tile = 0, begin = 0, end = 0;  // the current piece: its tile and steps
  int pair = blockIdx.x / kPair, pairs = gridDim.x / kPair;
  unsigned first = share(pair), last = share(pair + 1);  // of the split tiles' steps, not yet taken

  __device__ __forceinline__ unsigned share(int pair) const {
    return static_cast<std::uint64_t>(split) * steps * pair / pairs;
  }
  __device__ __forceinline__ bool next() {
    if (pair < whole) {
      tile = pair, begin = 0, end = steps, pair += pairs;
      return true;
    }
    if (first == last) return false;
    const int index = (last - 1) / steps, before = index * steps;
    const unsigned from = max(first, static_cast<unsigned>(before));
    tile = whole + index, begin = static_cast<int>(from) - before;
    end = static_cast<int>(last) - before, last = from;
    return true;
  }
};

// Partial sums that are forwarded to the next pair, per block and warpgroup ("slot").
struct Partials {
  float4* g;         // (slots,kSums/4,kWarpgroup)
  unsigned* gReady;  // (slots), flags
  int whole, split;  // tiles
};

template <class T>
__device__ __forceinline__ void produce(const product::Call& c, typename T::Shared& s,
                                        Schedule work) {
  const int rank = ptx::cluster_rank();
  unsigned n = 0;  // stages filled
  while (work.next()) {
    const Place at = place_of<T>(c, work.tile);
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step, ++n) {
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
__device__ __forceinline__ void consume(const product::Call& c, typename T::Shared& s,
                                        Schedule work, const Partials& x) {
  using Out = typename T::Out;
  const int tid = threadIdx.x % kWarpgroup, group = threadIdx.x / kWarpgroup - 1, lane = tid % 32;
  float sums[T::kSums];                                 // (WM,BN)
  std::uint32_t results[T::kSums / 2] = {};             // of the previous tile, two per register
  Place before{-1, 0};                                  // its origin, until it is stored
  unsigned n = 0;                                       // stages read
  const int slot = blockIdx.x * T::kConsumers + group;  // of partial sums
  const int from = slot - kPair * T::kConsumers;        // the previous pair's
  bool unpublished = false;

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
  const auto gPartial = [&](int of) { return x.g + of * (T::kSums / 4 * kWarpgroup) + tid; };
  const auto set_flag = [&](int of, unsigned value) {  // after all threads' accesses to its sums
    ptx::barrier_sync(1 + group, kWarpgroup);
    if (tid == 0) ptx::store_relaxed(x.gReady + of, value);
  };

  while (work.next()) {
    const int steps = work.end - work.begin;
    const bool continues = work.begin > 0;
    if (continues) {
      while (ptx::load_acquire(x.gReady + from) == 0) continue;
#pragma unroll
      for (int i = 0; i < T::kSums / 4; ++i)
        reinterpret_cast<float4*>(sums)[i] = __ldcg(gPartial(from) + i * kWarpgroup);
      set_flag(from, 0);  // for the next launch
    }
    // Main loop, as r16's: the previous tile is stored during the first steps.
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      if (step == 0 || step < steps) start(continues || step > 0);
      send(step);
      if (step == 1 && unpublished) {
        __threadfence();
        set_flag(slot, 1);
        unpublished = false;
      }
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
#pragma unroll
      for (int i = 0; i < T::kSums / 4; ++i)
        __stcg(gPartial(slot) + i * kWarpgroup, reinterpret_cast<float4*>(sums)[i]);
      unpublished = true;
      continue;
    }
    const Place at = place_of<T>(c, work.tile);
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
    kernel(const __grid_constant__ product::Call c, const __grid_constant__ Partials x) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: the producer, or one of the consumers.
  if (threadIdx.x == 0) {
    product::init_barriers(s, kPair * T::kConsumers * 4);  // warps of both blocks
    ptx::prefetch_tensor_map(c.a);
    ptx::prefetch_tensor_map(c.b);
  }
  ptx::cluster_sync();  // the other block may now copy to here and arrive here
  const Schedule schedule{x.whole, x.split, c.steps};
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) produce<T>(c, s, schedule);
    __syncwarp();
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(c, s, schedule, x);
  }
  ptx::cluster_sync();  // the other block no longer uses this one's shared memory
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  int sms = 0;
  if (Status s = sm_count(sms); !s) return s;
  CallMemory memory;
  product::Call c;
  const std::int64_t slots = sms * T::kConsumers, bytes = slots * T::kSums * kWarpgroup * 4;
  Status s = product::describe(p, o, T::BM, T::BN, stream, memory, c, bytes, slots);
  if (!s || c.steps == 0) return s;
  // The last full wave and the rest are split, if more steps would be idle than forwarding takes.
  const int tiles = (c.tiles_m + 1) / kPair * c.tiles_n, pairs = std::min(sms / kPair, tiles);
  const int rest = tiles % pairs, idle = rest > 0 ? pairs - rest : 0;
  const int split = idle * std::int64_t{c.steps} > kForward * pairs ? rest + pairs : 0;
  const Partials x{reinterpret_cast<float4*>(memory.scratch()), memory.flags(), tiles - split,
                   split};
  return product::launch<T>("r17_stream_k", kernel<T>, pairs * kPair, stream, c, x);
}

template <class In, class Out>
static constexpr KernelInfo info(std::string_view id) {
  return product::info<In, Out>(id, "r17_stream_k", "no SM idles in the last wave",
                                launch<Tile<In, Out, 128, 256, 4>>);
}
static constexpr KernelInfo kKernels[] = {
    info<__nv_bfloat16, __nv_bfloat16>("r17_stream_k_bf16"),
    info<__nv_bfloat16, float>("r17_stream_k_bf16_f32"),
    info<__half, __half>("r17_stream_k_fp16"),
    info<__half, float>("r17_stream_k_fp16_f32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r17_stream_k
