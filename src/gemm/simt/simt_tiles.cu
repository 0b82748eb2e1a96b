// SPDX-License-Identifier: Apache-2.0
// SGEMM on CUDA cores by large tiles: producer and consumer warps as in r12, and besides: any
// layout, operands that are not aligned copied element by element or packed first, tiles split
// along k (stream-K), four chains of additions for a deep k, two groups of warps that split the k
// of a stage. The tiles are those of gemm/plan/large_tiles.inc.
#include "device/launch.cuh"
#include "device/launch_dependent.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/dependent.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/sync.cuh"
#include "device/runtime.cuh"
#include "device/schedule.cuh"
#include "device/vector.cuh"
#include "gemm/call.hpp"
#include "gemm/plan/large_plan.hpp"
#include "gemm/simt/copy_tile.cuh"
#include "gemm/simt/pack.cuh"
#include "gemm/simt/warp_sums.cuh"
#include "problem/accept.hpp"

#include <optional>
#include <span>

namespace ladder::simt_tiles {

template <int BM_, int BN_, int BK_, int WM_, int WN_, int WK_, int TM_, int TN_, int STAGES_,
          int kBlocksOfSm_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int WM = WM_, WN = WN_;  // outputs per warp
  static constexpr int WK = WK_;            // groups of warps, each with BK / WK steps of a stage
  static constexpr int TM = TM_, TN = TN_;  // outputs per thread, in pieces of 4 x 4
  static constexpr int STAGES = STAGES_;    // tiles in shared memory
  static constexpr int kLanesM = WM / TM, kLanesN = WN / TN;  // lanes of a warp, kLanesM x kLanesN
  static constexpr int kGroup = BM / WM * (BN / WN) * 32;     // threads
  static constexpr int kConsumers = kGroup * WK;
  static constexpr int kProducers = 128;  // a warpgroup, the unit of setmaxnreg
  static constexpr int kThreads = kConsumers + kProducers;
  static constexpr int kBlocksOfSm = kBlocksOfSm_;
  static constexpr int kRegisters = 65'536 / (kThreads * kBlocksOfSm) / 8 * 8;  // at launch
  static constexpr int kConsumerRegisters = 192,
                       kProducerRegisters =
                           (kThreads * kRegisters - kConsumers * kConsumerRegisters) / kProducers;
  static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles must divide the block tile");
  static_assert((kLanesM == 4 && kLanesN == 8) || (kLanesM == 8 && kLanesN == 4),
                "lane_m and lane_n split a lane's five bits into two and three");
  static_assert(TM % 4 == 0 && TN % 4 == 0,
                "a thread reads its operands and stores its outputs four at a time");
  static_assert(kConsumers % 128 == 0, "setmaxnreg is for whole warpgroups");
  static_assert(kProducerRegisters % 8 == 0, "the unit of setmaxnreg");
  static_assert(WK == 1 || WK == 2, "two groups exchange halves of their sums");
  static constexpr int kSteps = BK / WK;  // of k, of a warp per stage
  static constexpr int kOwn = TM / WK;    // rows of sums that a thread adds up and stores
  static_assert(kSteps == kRowsAtOnce, "the padding of shared memory is between groups");

  struct Stage {
    float a[shared_rows<BM, BK>()];
    float b[shared_rows<BN, BK>()];
    alignas(16) std::uint64_t full,
        empty;  // the copies have arrived; the consumers have read them
  };
  static constexpr int kPartial = BM * BN;  // elements
  static constexpr int kShared =
      sizeof(Stage) * STAGES + kPartial * sizeof(float);  // stages, kept sums
  static_assert((kShared + 1024) * kBlocksOfSm <= 233'472,
                "shared memory of an SM of compute capability 9.0");
  static constexpr int kBand = 2048 / BM;  // tile rows
};

// Synchronises the block after the barriers' initialisation. Warps first do what does not need the
// barriers.
template <class T>
__device__ __forceinline__ void barriers_are_there() {
  ptx::barrier_sync(1, T::kThreads);
}

// Arrives at a stage's full barrier: asynchronously when this thread's cp.async copies have
// arrived, and per warp for stores.
template <class Stage, class CopyA, class CopyB>
__device__ __forceinline__ void arrive(std::uint32_t stage) {
  ptx::cp_async_arrive(stage + offsetof(Stage, full));
  if constexpr (CopyA::kStores || CopyB::kStores) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(stage + offsetof(Stage, full));
  }
}

// Copies the consumers' stages in order, and one stage more, which they prefetch but do not use.
template <class T, class CopyA, class CopyB>
__device__ __forceinline__ void produce(const Source& a, const Source& b, int depth,
                                        const Tiling& plan, char* shared) {
  using Stage = typename T::Stage;
  const int tid = static_cast<int>(threadIdx.x) - T::kConsumers;
  const std::uint32_t first = __shfl_sync(0xffffffffU, ptx::shared_address(shared), 0);
  const std::uint32_t last = __shfl_sync(0xffffffffU, first + (T::STAGES - 1) * sizeof(Stage), 0);
  std::uint32_t stage = first;
  std::uint32_t parity = 1;  // initially, all stages are empty
  const auto advance = [&] {
    arrive<Stage, CopyA, CopyB>(stage);
    parity ^= stage == last;
    stage = stage == last ? first : stage + sizeof(Stage);
  };
  Schedule schedule(plan, static_cast<int>(blockIdx.x));
  bool first_tile = true;
  for (Work work; schedule.next(work);) {
    const TilePlace place = place_of<T::kBand>(plan, work.tile);
    const int k0 = work.begin * T::BK, end = min(depth, work.end * T::BK);
    int left = end - k0;
    CopyA copy_a(a, place.m * T::BM, k0, left, tid);
    CopyB copy_b(b, place.n * T::BN, k0, left, tid);
    if (first_tile) barriers_are_there<T>();
    first_tile = false;
#pragma unroll 1
    for (; left >= T::BK; left -= T::BK) {
      ptx::mbarrier_wait(stage + offsetof(Stage, empty), parity);
      copy_b.whole(stage + offsetof(Stage, b), left);
      copy_a.whole(stage + offsetof(Stage, a), left);
      advance();
    }
    if (left > 0) {
      ptx::mbarrier_wait(stage + offsetof(Stage, empty), parity);
      copy_b.part(stage + offsetof(Stage, b), left);
      copy_a.part(stage + offsetof(Stage, a), left);
      advance();
    }
  }
  ptx::mbarrier_wait(stage + offsetof(Stage, empty), parity);
  advance();
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  ptx::launch_dependents();
}

struct Target {
  float* gC;
  bool aligned;  // takes 128-bit stores
};

template <class T>
__device__ __forceinline__ void consume(const Problem& p, const Target& c, const Tiling& plan,
                                        const Exchange& x, char* shared) {
  using Stage = typename T::Stage;
  // Position of this warp and lane
  const WarpPlace<T> me;
  const int c_row = me.row + me.lane_row, c_col = me.col + me.lane_col;
  const int group = T::WK == 1 ? 0 : static_cast<int>(threadIdx.x) / T::kGroup;

  // Every shared address in the main loop is a stage's uniform address plus a constant.
  const auto uniform = [](std::uint32_t value) { return __shfl_sync(0xffffffffU, value, 0); };
  const std::uint32_t first = uniform(ptx::shared_address(shared));
  const std::uint32_t end = uniform(ptx::shared_address(shared) + T::STAGES * sizeof(Stage));
  const std::uint32_t at_a = (c_row + group * group_stride<T::BM>()) * sizeof(float),
                      at_b = offsetof(Stage, b) +
                             (c_col + group * group_stride<T::BN>()) * sizeof(float);
  float rA[2][T::TM], rB[2][T::TN];  // this step of k and the next
  const auto read_fragments = [&](std::uint32_t stage, int kk, int to) {
#pragma unroll
    for (int j = 0; j < T::TN; j += 4) {
      ptx::load_shared4(&rB[to][j],
                        stage + at_b + (kk * (T::BN + kRowPadding) + j * T::kLanesN) * 4);
    }
#pragma unroll
    for (int i = 0; i < T::TM; i += 4) {
      ptx::load_shared4(&rA[to][i],
                        stage + at_a + (kk * (T::BM + kRowPadding) + i * T::kLanesM) * 4);
    }
  };

  float* const sKept = reinterpret_cast<float*>(shared + T::STAGES * sizeof(Stage));
  std::uint32_t stage = first, parity = 0;
  Schedule schedule(plan, static_cast<int>(blockIdx.x));
  Work work;
  schedule.next(work);
  barriers_are_there<T>();
  ptx::mbarrier_wait(stage + offsetof(Stage, full), parity);
  read_fragments(stage, 0, 0);
  do {
    float rC[T::TM][T::TN] = {};  // (TM,TN)

    // Main loop
#pragma unroll 1
    for (int step = work.end - work.begin; step > 0; --step) {
      std::uint32_t next = stage + sizeof(Stage);
      if (next == end) next = first, parity ^= 1;
      bool ready = false;
#pragma unroll
      for (int kk = 0; kk < T::kSteps; ++kk) {
        if (kk == T::kSteps - 2)
          ready = ptx::mbarrier_try_wait(next + offsetof(Stage, full), parity);
        if (kk == T::kSteps - 1) {
          ptx::mbarrier_arrive(stage + offsetof(Stage, empty));
          if (!ready) ptx::mbarrier_wait(next + offsetof(Stage, full), parity);
          read_fragments(next, 0, 0);
        } else {
          read_fragments(stage, kk + 1, (kk + 1) % 2);
        }
#pragma unroll
        for (int i = 0; i < T::TM; ++i) {
#pragma unroll
          for (int j = 0; j < T::TN;
               ++j) {  // alternating direction, which reuses an operand register at once
            const int jj = i % 2 == 0 ? j : T::TN - 1 - j;
            rC[i][jj] += rA[kk % 2][i] * rB[kk % 2][jj];
          }
        }
      }
      stage = next;
    }

    // Epilogue
    const bool begins = work.begin == work.first, ends = work.end == work.last;
    if constexpr (T::WK == 1) {
      if (!begins) add_kept<T>(rC, sKept);
      if (!ends) keep<T>(rC, sKept);
    } else {
      add_groups<T>(rC, sKept, group, begins, ends);
    }
    if (!ends) continue;
    const bool ends_tile = work.end == plan.steps;
    if (work.first > 0) accumulate_others<T>(rC, x, plan, work.tile, ends_tile);
    if (!ends_tile) {
      forward_partial<T>(rC, x);
      continue;
    }
    const TilePlace place = place_of<T::kBand>(plan, work.tile);
    const int first_row = group * (T::WM / T::WK);
    const int row0 = place.m * T::BM + c_row + first_row, col0 = place.n * T::BN + c_col;
    const float alpha = p.alpha, beta = p.beta;
    if (c.aligned) {
      store_tile<T>(rC, [&](int i, int j, const float* r) {
        const int row = row0 + i, col = col0 + j;
        float* g = c.gC + row * p.ldc + col;
        const bool inside = row < p.m && col < p.n;
        float4 old{};
        if (beta != 0.0F && inside) old = load4(g);
        const float4 v{alpha * r[0] + beta * old.x, alpha * r[1] + beta * old.y,
                       alpha * r[2] + beta * old.z, alpha * r[3] + beta * old.w};
        if (inside) store4(g, v);
      });
    } else {
      store_rows<T>(rC, p, c.gC, place, first_row, kept_by_warp<T>(sKept));
    }
  } while (schedule.next(work));
}

template <class T, bool kAlongA, bool kAlongB, bool kAligned>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksOfSm)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Source a,
           const __grid_constant__ Source b, const __grid_constant__ Target c,
           const __grid_constant__ Tiling plan, const __grid_constant__ Exchange x) {
  using CopyA = CopyOf<T::BM, T::BK, T::kProducers, kAlongA, kAligned>;
  using CopyB = CopyOf<T::BN, T::BK, T::kProducers, kAlongB, kAligned>;
  extern __shared__ float4 shared4[];
  char* const shared = reinterpret_cast<char*>(shared4);
  if (threadIdx.x < T::STAGES) {
    constexpr int kArrivals =
        T::kProducers + (CopyA::kStores || CopyB::kStores ? T::kProducers / 32 : 0);
    auto& s = reinterpret_cast<typename T::Stage*>(shared)[threadIdx.x];
    ptx::mbarrier_init(ptx::shared_address(&s.full), kArrivals);
    ptx::mbarrier_init(ptx::shared_address(&s.empty), T::kConsumers);
    ptx::fence_mbarrier_init();
  }
  ptx::wait_for_prerequisites();
  if (threadIdx.x >= T::kConsumers) {
    ptx::release_registers<T::kProducerRegisters>();
    produce<T, CopyA, CopyB>(a, b, static_cast<int>(p.k), plan, shared);
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(p, c, plan, x, shared);
  }
}

static Status accepts(const Problem&, const Device& device) { return accept_hopper(device); }

template <class T, bool kAligned>
static auto choose(bool along_a, bool along_b) {
  if (along_a) return along_b ? kernel<T, true, true, kAligned> : kernel<T, true, false, kAligned>;
  return along_b ? kernel<T, false, true, kAligned> : kernel<T, false, false, kAligned>;
}

template <class T>
static Status launch_tiles(const Problem& p, const Operands& o, const LargePlan& plan,
                           Stream stream) {
  const Tiling& tiling = plan.tiling;
  const int depth = static_cast<int>(p.k);
  const auto source = [&](const float* g, std::int64_t ld, std::int64_t size, bool along_k) {
    return Source{g, ld, static_cast<int>(size), along_k,
                  has_aligned_rows(g, ld) && (along_k ? depth : size) % 4 == 0};
  };
  Source a = source(o.a, p.lda, p.m, p.op_a == Op::kNone),
         b = source(o.b, p.ldb, p.n, p.op_b == Op::kTranspose);
  const std::int64_t partials = std::int64_t{tiling.blocks} * T::kPartial,
                     packed_a = !plan.packs || a.aligned ? 0 : packed_elements(a, depth),
                     packed_b = !plan.packs || b.aligned ? 0 : packed_elements(b, depth);
  CallMemory memory;
  if (Status s = memory.take(stream, (partials + packed_a + packed_b) * 4,
                             std::int64_t{tiling.blocks} * (T::kConsumers / 32));
      !s)
    return s;
  const Exchange exchange{reinterpret_cast<float*>(memory.scratch()), memory.flags()};
  float* const gPacked = exchange.gPartial + partials;
  if (Status s = pack(a, packed_a > 0 ? gPacked : nullptr, b,
                      packed_b > 0 ? gPacked + packed_a : nullptr, depth, stream);
      !s)
    return s;
  return launch_dependent("large tiles",
                          a.aligned && b.aligned ? choose<T, true>(a.along_k, b.along_k)
                                                 : choose<T, false>(a.along_k, b.along_k),
                          tiling.blocks, 1, T::kThreads, T::kShared, stream, p, a, b,
                          Target{o.c, has_aligned_rows(o.c, p.ldc) && p.n % 4 == 0}, tiling,
                          exchange);
}

// In the order of kLargeTiles.
static constexpr Status (*kLaunch[])(const Problem&, const Operands&, const LargePlan&, Stream){
#define LADDER_LARGE_TILE(BM, BN, WK, STAGES, blocks, step, from_memory, tile) \
  launch_tiles<Tile<BM, BN, kLargeStep * WK, 64, 64, WK, 16, 8, STAGES, blocks>>,
#include "gemm/plan/large_tiles.inc"
#undef LADDER_LARGE_TILE
};

static Status launch(const Problem& original, const Operands& given, Stream stream) {
  constexpr int kLeastExtent = 64;  // of a tile
  RowMajorCall call;
  if (Status s = row_major_call(original, given, call); !s) return s;
  std::optional<Status> failed;
  const Status launched =
      launch_parts(call.p, call.o, kLeastExtent, kLeastExtent,
                   [&](const Problem& part, const Operands& o, dim3) {
                     if (failed) return;
                     const LargePlan plan = plan_large_tiles(part, call.at, call.device.sms);
                     if (const Status s = kLaunch[plan.tile](part, o, plan, stream); !s) failed = s;
                   });
  return failed.value_or(launched);
}

static constexpr KernelInfo kKernels[] = {
    library_kernel("ladder_large_tiles", "simt_tiles",
                   "CUDA cores: large tiles, the last ones by stream-K", Precision::kIeee, kHopper,
                   accepts, launch),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::simt_tiles
