// SPDX-License-Identifier: Apache-2.0
// The kernel of products of 8-bit, 16-bit and tf32 operands on tensor cores: one producer warp
// copies by TMA, warpgroups multiply, spare warps may store. Partial sums are added in an order
// fixed by the shape.
#pragma once
#include "device/ptx/dependent.cuh"
#include "device/ptx/library.cuh"
#include "device/ptx/sync.cuh"
#include "device/ring.cuh"
#include "gemm/tensor/scaled_product.cuh"
#include "gemm/tensor/tensor_cluster.cuh"
#include "gemm/tensor/tensor_exchange.cuh"
#include "gemm/tensor/tile_order.cuh"

#include <type_traits>

namespace ladder::tensor_tiles {

template <class In, class Out, int BM, int BN, int STAGES, Blocks kBlocks = Blocks::kAlone,
          int kNarrower = BN>
struct Tile : ClusterTile<In, Out, BM, BN, STAGES, kBlocks> {
  using Base = TensorTile<In, Out, BM, BN, STAGES>;
  static constexpr bool kSmall = Base::kSums <= 64;
  // A block computes few small tiles, so that no later tile's products hide a store.
  using Store = std::conditional_t<kSmall, DirectStore<Base>, TileStore<Base, kNarrower>>;
  // A block of a cluster with multicast and one small tile exits without waiting for its
  // neighbours.
  static constexpr bool kLeavesAlone = Tile::kSharing > 1 && kSmall;
  struct NoSums {};
  static constexpr int kThreads =
      (Base::kWarpgroups + 1) * kWarpgroup;  // warpgroup 0: producer, also stores C
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;

  struct Shared {
    typename Base::Stage stage[STAGES];
    typename Store::Buffers out[Base::kWarpgroups];
    std::conditional_t<Tile::kSplitsK, ClusterSums<Tile>, NoSums> sums;
    std::uint64_t full[STAGES],
        empty[STAGES];  // the copies have arrived; the consumers have read them
  };
  static_assert(sizeof(Shared) <= kMaxSharedBytes, "a block's shared memory");

  static constexpr int kNarrow = kNarrower;  // columns of the last tiles
  // Whether tiles may be split along k (stream-K): not if narrower tiles fill the last wave, if the
  // block exits alone, or if the cluster splits k.
  static constexpr bool kStreamK = kNarrower == BN && !kLeavesAlone && !Tile::kSplitsK;
};

// The plan as passed to the kernel.
struct StartPlan : TilePlan {
  FirstTiles first;
};

// How the sums are stored: by T::Store if possible; directly from registers; or, with split-K, as
// partial sums for add_parts.
enum class Finish : unsigned char { kStore, kDirect, kParts };
template <class T, Finish kFinish>
using Order = std::conditional_t<kFinish == Finish::kParts || T::kSplitsK, PartSchedule,
                                 std::conditional_t<T::kStreamK, Schedule, WholeSchedule>>;

template <class T, Finish kFinish>
__device__ __forceinline__ Order<T, kFinish> order_of(const StartPlan& plan, int rank) {
  if constexpr (T::kSplitsK) {
    return {plan, T::kCluster, rank, unit_of<T>()};
  } else {
    return {plan, unit_of<T>()};
  }
}

// Whether a block copies its first stage before any division and before the cluster synchronises. A
// large tile's stage holds products for a thousand clocks, during which the next stages' addresses
// are computed. A small tile needs all stages at once; its block computes the addresses first,
// while the preceding kernel still runs.
template <class T, Finish kFinish>
constexpr bool kStartsAtOnce = !T::kSmall && kFinish != Finish::kParts;

// Whether the schedule's current work is its last; false if the schedule does not know.
template <class Order>
__device__ __forceinline__ bool ends_with(const Order& schedule) {
  if constexpr (requires { schedule.at_last(); }) return schedule.at_last();
  return false;
}

// Staggers the epilogues of a block's two consumer warpgroups. Some stages before the end of its
// tile, the second warpgroup drains its products and waits until the first one has started all of
// its own. The tensor cores then compute products of one warpgroup during the other's epilogue.
// Without the stagger, both epilogues coincide and the tensor cores idle. The stagger affects only
// the timing of products, not their results. kOn = false: no stagger.
template <class T, bool kOn>
class Stagger {
 public:
  // No stagger for work with fewer steps than pipeline stages. With at least as many, the first
  // warpgroup reaches its next end only after the second one has released a stage behind this wait,
  // so that no warpgroup arrives at the barrier twice.
  __device__ __forceinline__ Stagger(int warpgroup, const Work& work, bool last) {
    const bool taken = kOn && work.end - work.begin >= T::STAGES;
    passes_on_ = taken && warpgroup == 0;
    due_ = taken && warpgroup == 1 ? work.end - (last ? T::STAGES : kAhead) : work.end;
  }

  // Whether the warpgroup must drain its products, release all stages and wait() before this step.
  __device__ __forceinline__ bool due(int step) const { return kOn && step == due_; }
  __device__ __forceinline__ void wait() const { ptx::barrier_sync(kBarrier, 2 * kWarpgroup); }
  // Called after all products of the work have been started.
  __device__ __forceinline__ void pass_on() const {
    if (passes_on_) ptx::barrier_arrive(kBarrier, 2 * kWarpgroup);
  }

 private:
  // Stages before the end. Measured: 16-bit types are slower with more than one, except in the last
  // tile; TF32 is faster with three.
  static constexpr int kAhead = std::is_same_v<typename T::In, float> ? 3 : 1;
  static constexpr int kBarrier = 1 + T::kWarpgroups;  // lower ids: the warpgroups' own barriers
  static_assert(!kOn || T::kWarpgroups == 2);
  int due_;
  bool passes_on_;
};

template <class T, Finish kFinish>
using StaggerOf =
    Stagger<T, T::kWarpgroups == 2 && !T::kSmall && !T::kScaled && kFinish != Finish::kParts>;

// Producer warp: copies the first stage if the first tile's position is known without a division.
// The block copies the whole stage by itself, without multicast.
template <class T>
__device__ __forceinline__ void copy_first(const TensorMaps& maps, typename T::Shared& s,
                                           const FirstTiles& first) {
  const bool leads = ptx::elect_one();
  const std::uint32_t full = ptx::shared_address(&s.full[0]);
  if (leads) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();  // for all warps that wait for the copies, too
  if (!first.known || !leads) return;
  const TileOrigin at = first_origin<T>(first, unit_of<T>(), rank_in_cluster<T>());
  ptx::mbarrier_arrive_expect(full, T::kBytes);
  load_stage<T>(s.stage[0], maps, full, at.row, at.col, 0);
}

// Producer warp, from then on. If the first tile's position needs a division, this warp computes it
// while another warp initialises the barriers.
template <class T, Finish kFinish>
__device__ __forceinline__ void produce(const TensorMaps& maps, typename T::Shared& s,
                                        const StartPlan& plan) {
  const int rank = rank_in_cluster<T>();
  auto ring = Ring<T::STAGES>::of_producer();
  auto schedule = order_of<T, kFinish>(plan, rank);
  Work work{};  // empty if the first tile needs a division
  TileOrigin at;
  bool more = true;
  if constexpr (kStartsAtOnce<T, kFinish>) {
    at = first_origin<T>(plan.first, unit_of<T>(), rank);
    if (plan.first.known) {
      schedule.next(work);
      ++work.begin;
      ring.advance();
    }
  } else {
    more = schedule.next(work);
    at = origin_of<T>(plan, work.tile, rank);
    ptx::launch_dependents();
    ptx::wait_for_prerequisites();
  }
  wait_for_cluster<T>();
  if (threadIdx.x != 0) return;
  while (more) {
    const int boxes = (at.width + T::kBoxCols - 1) / T::kBoxCols,
              bytes = (T::BM + boxes * T::kBoxCols) * kSwizzleBytes;
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step) {
      const std::uint32_t full = ptx::shared_address(&s.full[ring.stage()]);
      ptx::mbarrier_wait(ptx::shared_address(&s.empty[ring.stage()]), ring.parity());
      ptx::mbarrier_arrive_expect(full, bytes);
      load_cluster<T>(s.stage[ring.stage()], maps, full, rank, at, step * T::BK, boxes);
      ring.advance();
    }
    more = schedule.next(work);
    at = origin_of<T>(plan, work.tile, rank);
  }
  // Neighbours arrive at this block's barriers, so that no block exits before they have done so.
  if constexpr (T::kSharing > 1) {
    if (T::kLeavesAlone && plan.once) return;
#pragma unroll 1
    for (int i = 0; i < T::STAGES; ++i, ring.advance()) {
      ptx::mbarrier_wait(ptx::shared_address(&s.empty[ring.stage()]), ring.parity());
    }
  }
}

template <class T, Finish kFinish>
__device__ __forceinline__ void consume(const MapsOf<T>& maps, typename T::Shared& s,
                                        const Target<typename T::Out>& c, const StartPlan& plan,
                                        const Exchange& x, int group) {
  using Store = typename T::Store;
  const int unit = unit_of<T>(), rank = rank_in_cluster<T>();
  using Base = typename T::Base;
  std::conditional_t<T::kScaled, ScaledProduct<Base>, Product<Base>> product(group);  // (WM,WN)
  Store store(s.out[group], maps, group);
  auto ring = Ring<T::STAGES>::of_consumer();
  auto schedule = order_of<T, kFinish>(plan, rank);
  Work work;
  bool more = schedule.next(work);
  TileOrigin at = origin_of<T>(plan, work.tile, rank);

  // Computes one tile, or one share of it along k.
  const auto compute = [&](auto constant) {
    constexpr int kWidth = decltype(constant)::value;
    // Main loop. A stage's products start before those of the preceding stage have ended. The rest
    // of the preceding tile is stored while the first products run.
    int step = work.begin;
    [[maybe_unused]] int before = -1;  // the preceding stage
    const StaggerOf<T, kFinish> stagger(group, work, ends_with(schedule));
    const auto wait_for_stage = [&] {
      ptx::mbarrier_wait(ptx::shared_address(&s.full[ring.stage()]), ring.parity());
    };
    [[maybe_unused]] const auto advance = [&](auto set, auto meanwhile) {
      if (stagger.due(step)) {
        product.wait_for_all();
        if (before >= 0) release_stage<T>(s.empty[before]);
        before = -1;
        stagger.wait();
      }
      wait_for_stage();
      product.template multiply<decltype(set)::value, kWidth>(s.stage[ring.stage()],
                                                              step > work.begin);
      meanwhile();
      product.wait_for_all_but_last();
      if constexpr (T::kLeavesAlone) {
        // Stages that are not refilled are not released: a neighbour that exits without waiting may
        // no longer exist.
        if (plan.once && step + T::STAGES > work.end) before = -1;
      }
      if (before >= 0) release_stage<T>(s.empty[before]);
      before = ring.stage();
      ring.advance();
      ++step;
    };
    if constexpr (T::kScaled) {
      product.begin(maps.scales, at, work);
      if (step < work.end) wait_for_stage();
#pragma unroll 1
      while (step < work.end) {
        auto& now = s.stage[ring.stage()];
        auto& read = s.empty[ring.stage()];
        ring.advance();
        ++step;
        const auto next = [&] {  // the wait is hidden behind this stage's products
          if (step < work.end) wait_for_stage();
        };
        product.multiply(now, next, [&] { release_stage<T>(read); });
      }
    } else {
      constexpr int kMeanwhile = kFinish == Finish::kStore ? Store::kChunksLater : 0;
      // Only TF32 has fragments in registers: two consecutive wgmma groups need two sets of them.
      constexpr bool kTwoSets = T::kTf32;
      const std::integral_constant<int, kTwoSets ? kMeanwhile % 2 : 0> first;
      [[maybe_unused]] const std::integral_constant<int, kTwoSets ? 1 - kMeanwhile % 2 : 0> second;
#pragma unroll
      for (int h = 0; h < kMeanwhile; ++h) {
        if (step == work.end) {
          store.send(h);
        } else if ((kMeanwhile - h) % 2 == 0) {
          advance(first, [&] { store.send(h); });
        } else {
          advance(second, [&] { store.send(h); });
        }
      }
#pragma unroll 1
      while (step + kTwoSets < work.end) {
        advance(first, [] {});
        if constexpr (kTwoSets) advance(second, [] {});
      }
      if (kTwoSets && step < work.end) advance(first, [] {});
    }
    stagger.pass_on();
    [[maybe_unused]] const Work done = work;
    const TileOrigin here = at;
    more = schedule.next(work);  // while the last products run
    at = origin_of<T>(plan, work.tile, rank);
    product.wait();
    if constexpr (T::kScaled) {
      product.end();
    } else if constexpr (T::kLeavesAlone) {
      if (!plan.once) release_stage<T>(s.empty[before]);
    } else {
      release_stage<T>(s.empty[before]);
    }

    // Epilogue
    if constexpr (T::kSplitsK) {
      send_sums<T>(product, s.sums, rank);
      sync_cluster<T>();
      add_sums<T, kFinish == Finish::kStore>(s.sums, c, here.row, here.col, rank);
      return;
    }
    if constexpr (kFinish == Finish::kParts) {
      if (here.row + product.row() < c.m && here.col + product.col() < c.n) {
        write_partial(product, x.gPartial, unit, group);
      }
      return;
    }
    if constexpr (T::kStreamK) {
      if (done.end < plan.steps) {
        forward_partial(product, x, group);
        return;
      }
      if (done.begin > 0) {
        int giver = unit;
        do {
          accumulate_partial(product, x, --giver * T::kCluster + rank, group);
        } while (Schedule::begins_inside(plan, done.tile, giver));
      }
    }
    if constexpr (kFinish == Finish::kStore) {
      store.template take<kWidth>(product, c, here);
    } else if constexpr (kWidth == T::BN) {
      store_columns<0, T::BN>(product, c, here.row, here.col);
    } else {
      constexpr int kSideBySide = kInWholeBoxes<T, kWidth>;
      store_columns<0, kSideBySide>(product, c, here.row, here.col);
      store_columns<kSideBySide, kWidth>(product, c, here.row, here.rest);
    }
  };
  while (more) {
    if (T::kNarrow == T::BN || at.width == T::BN) {
      compute(std::integral_constant<int, T::BN>{});
    } else {
      compute(std::integral_constant<int, T::kNarrow>{});
    }
  }
  if constexpr (kFinish == Finish::kStore) {
    store.template finish<T::STAGES>([&](int i) { return product.own_rows(s.stage[i]); });
  }
}

template <class T, Finish kFinish>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ MapsOf<T> maps,
           const __grid_constant__ Target<typename T::Out> c,
           const __grid_constant__ StartPlan plan, const __grid_constant__ Exchange x) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);
  const int warp = warp_in_block();
  constexpr bool kAtOnce = kStartsAtOnce<T, kFinish>;
  if constexpr (kAtOnce) {
    if (warp == 0) copy_first<T>(maps, s, plan.first);
  }
  if (threadIdx.x == 32) {
    for (auto& out : s.out) T::Store::init(out);
    init_stages<T, !kAtOnce>(s);
  }
  if (threadIdx.x == 64) {  // the first copies do not wait for the descriptors
    ptx::prefetch_tensor_map(maps.a);
    ptx::prefetch_tensor_map(maps.b);
  }
  __syncwarp();
  arrive_at_cluster<T>();
  if (warp < 4) {
    ptx::release_registers<T::kProducerRegisters>();
    if (warp == 0) {
      produce<T, kFinish>(maps, s, plan);
    } else {
      wait_for_cluster<T>();
      if constexpr (kFinish == Finish::kStore) {
        if (warp <= T::kWarpgroups && ptx::elect_one()) T::Store::serve(s.out[warp - 1], maps);
      }
    }
  } else {
    wait_for_cluster<T>();
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T, kFinish>(maps, s, c, plan, x, warp / 4 - 1);
  }
  __syncwarp();
  if constexpr (T::kSplitsK) {
    if (threadIdx.x < kWarpgroup) sync_cluster<T>();  // the barrier before add_sums()
  }
}

}  // namespace ladder::tensor_tiles
