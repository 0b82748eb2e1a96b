// SPDX-License-Identifier: Apache-2.0
// Products of 16-bit and tf32 operands on tensor cores. The planner chooses the tile by shape,
// whether the last tiles are narrower or split along k, and whether all tiles are split along k.
// Partial sums are added in an order fixed by the shape.
#include "device/ptx/dependent.cuh"
#include "device/ptx/sync.cuh"
#include "device/ptx/warp.cuh"
#include "device/ring.cuh"
#include "gemm/call.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/tensor/cluster_sums.cuh"
#include "gemm/tensor/stagger.cuh"
#include "gemm/tensor/tensor_cluster.cuh"
#include "gemm/tensor/tensor_exchange.cuh"
#include "gemm/tensor/tile_order.cuh"
#include "gemm/tensor/tma_operands.cuh"

#include <array>
#include <span>
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
    std::conditional_t<Tile::kAlongK, ClusterSums<Tile>, NoSums> sums;
    std::uint64_t full[STAGES],
        empty[STAGES];  // the copies have arrived; the consumers have read them
  };
  static_assert(sizeof(Shared) <= kMaxSharedBytes, "a block's shared memory");

  static constexpr int kNarrow = kNarrower;  // columns of the last tiles
  // Whether tiles may be split along k (stream-K): not if narrower tiles fill the last wave, if the
  // block exits alone, or if the cluster splits k.
  static constexpr bool kStreamK = kNarrower == BN && !kLeavesAlone && !Tile::kAlongK;
};

// The plan as passed to the kernel.
struct StartPlan : TilePlan {
  FirstTiles first;
};

// c_tail: the map of a narrow tile's last columns, see TileStore.
struct StreamMaps : TensorMaps {
  CUtensorMap c_tail;
};

// How the sums are stored: by T::Store if possible; directly from registers; or, with split-K, as
// partial sums for add_parts.
enum class Finish : unsigned char { kStore, kDirect, kParts };
template <class T, Finish kFinish>
using Order = std::conditional_t<kFinish == Finish::kParts || T::kAlongK, PartSchedule,
                                 std::conditional_t<T::kStreamK, Schedule, WholeSchedule>>;

// Index of the unit: a block, or the blocks of a cluster, which compute tiles together.
template <class T>
__device__ __forceinline__ int unit_of() {
  return static_cast<int>(blockIdx.x / T::kCluster);
}

template <class T, Finish kFinish>
__device__ __forceinline__ Order<T, kFinish> order_of(const StartPlan& plan, int rank) {
  if constexpr (T::kAlongK) {
    return {plan, unit_of<T>(), rank, T::kCluster};
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

template <class T, Finish kFinish>
using StaggerOf = Stagger<T, T::kWarpgroups == 2 && !T::kSmall && kFinish != Finish::kParts>;

// Producer warp: copies the first stage if the first tile's position is known without a division.
// The block copies the whole stage by itself, without multicast.
template <class T>
__device__ __forceinline__ void copy_first(const StreamMaps& maps, typename T::Shared& s,
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
__device__ __forceinline__ void produce(const StreamMaps& maps, typename T::Shared& s,
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
    const int boxes = (at.width + T::BK - 1) / T::BK,
              bytes = (T::BM + boxes * T::BK) * kSwizzleBytes;
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
__device__ __forceinline__ void consume(const StreamMaps& maps, typename T::Shared& s,
                                        const Target<typename T::Out>& c, const StartPlan& plan,
                                        const Exchange& x, int group) {
  using Store = typename T::Store;
  const int unit = unit_of<T>(), rank = rank_in_cluster<T>();
  Product<typename T::Base> product(group);  // (WM,WN)
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
    int step = work.begin, before = -1;  // the preceding stage
    const StaggerOf<T, kFinish> stagger(group, work, ends_with(schedule));
    const auto advance = [&](auto set, auto meanwhile) {
      if (stagger.due(step)) {
        product.wait_for_all();
        if (before >= 0) release_stage<T>(s.empty[before]);
        before = -1;
        stagger.wait();
      }
      ptx::mbarrier_wait(ptx::shared_address(&s.full[ring.stage()]), ring.parity());
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
    stagger.pass_on();
    [[maybe_unused]] const Work done = work;
    const TileOrigin here = at;
    more = schedule.next(work);  // while the last products run
    at = origin_of<T>(plan, work.tile, rank);
    product.wait();
    if constexpr (T::kLeavesAlone) {
      if (!plan.once) release_stage<T>(s.empty[before]);
    } else {
      release_stage<T>(s.empty[before]);
    }

    // Epilogue
    if constexpr (T::kAlongK) {
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
      store_tile(product, c, here.row, here.col);
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
    kernel(const __grid_constant__ StreamMaps maps,
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
  if (threadIdx.x == 64) prefetch_maps(maps);
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
  if constexpr (T::kAlongK) {
    if (threadIdx.x < kWarpgroup) sync_cluster<T>();  // the barrier before add_sums()
  }
}

template <class T>
static Status launch_tile(const Problem& p, const Operands& o, const TensorPlan& chosen,
                          Stream stream) {
  StartPlan plan{chosen.plan, first_tiles(chosen.plan, T::kBand)};
  plan.once = plan.whole_tiles <= plan.blocks && plan.split_tiles == 0;
  constexpr int kPartial = T::BM * T::BN;
  const std::int64_t blocks = plan.blocks * T::kCluster;
  const std::int64_t pieces = chosen.parts > 1       ? std::int64_t{plan.whole_tiles} * chosen.parts
                              : plan.split_tiles > 0 ? blocks
                                                     : 0;
  TensorLaunch<T> l;
  if (Status s = prepare<T>(p, o, stream, l, pieces * kPartial * 4, blocks * T::kWarpgroups); !s)
    return s;
  const Exchange x{reinterpret_cast<float*>(l.memory.scratch()), l.memory.flags()};
  StreamMaps maps{l.maps, {}};
  if constexpr (T::Store::kTail > 0) {
    if (l.by_map) {
      if (Status s = make_tensor_map(maps.c_tail, kTypeOf<typename T::Out>, o.c, p.m, p.n, p.ldc,
                                     T::Store::kRows, T::Store::kTail);
          !s) {
        return s;
      }
    }
  }
  const auto launch = [&](auto* run, const auto& c, std::size_t shared) {
    return launch_dependent("tensor_tiles", run, blocks, T::kCluster, T::kThreads, shared, stream,
                            maps, c, plan, x);
  };
  if constexpr (T::kCluster == 1) {
    if (chosen.parts > 1) {
      // Partial sums are FP32 whatever the type of C: one kernel per type of operands.
      using Sums = Tile<typename T::In, float, T::BM, T::BN, T::STAGES>;
      const Target<float> extent{nullptr, l.c.ld, l.c.m, l.c.n, 1.0F, 0.0F, false};
      if (Status s = launch(kernel<Sums, Finish::kParts>, extent, sizeof(typename Sums::Shared));
          !s)
        return s;
      constexpr int kManyParts = 32;
      const auto add = chosen.parts < kManyParts ? add_parts<T, 4> : add_parts<T, 16>;
      const int slices = chosen.parts < kManyParts ? 1 : 4;
      return launch_dependent(
          "add_parts", add, plan.whole_tiles * T::kWarpgroups * kFloat4s<T> * slices, 1,
          kAddThreads, 0, stream, l.c, x.gPartial, static_cast<const Tiling&>(plan), chosen.parts);
    }
  }
  return launch(l.by_map ? kernel<T, Finish::kStore> : kernel<T, Finish::kDirect>, l.c,
                sizeof(typename T::Shared));
}

// The kernels of a menu's tiles, in the menu's order.
template <class T>
constexpr TileShape kShapeOf{T::kPairM,
                             T::kPairN,
                             T::BK,
                             T::kCluster,
                             T::kNarrow == T::BN ? 0 : T::kNarrow,
                             T::kAlongK ? T::kCluster : 1};
template <class... T>
struct Kernels {
  static constexpr std::array kShapes{kShapeOf<T>...};
  static constexpr std::array kLaunch{launch_tile<T>...};
};
template <class In, class Out>
struct Menu
    : Kernels<Tile<In, Out, 128, 256, 4>, Tile<In, Out, 128, 128, 7>, Tile<In, Out, 64, 128, 9>,
              Tile<In, Out, 64, 64, 13>, Tile<In, Out, 128, 256, 4, Blocks::kPairAlongM, 232>,
              Tile<In, Out, 128, 256, 4, Blocks::kPairAlongM, 192>,
              Tile<In, Out, 64, 128, 9, Blocks::kPairAlongM>,
              Tile<In, Out, 128, 128, 7, Blocks::kFourAlongN>,
              Tile<In, Out, 64, 64, 12, Blocks::kPairAlongK>,
              Tile<In, Out, 128, 256, 4, Blocks::kPairAlongM>> {
  static constexpr const auto& kTiles = k16BitTiles;
};
template <>
struct Menu<float, float>
    : Kernels<Tile<float, float, 256, 128, 4>, Tile<float, float, 128, 128, 7>,
              Tile<float, float, 128, 64, 9>, Tile<float, float, 256, 128, 4, Blocks::kPairAlongN>,
              Tile<float, float, 128, 64, 9, Blocks::kPairAlongN>> {
  static constexpr const auto& kTiles = kTf32Tiles;
};

template <class In, class Out>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  if (!reads_ab(p)) return scale_only<Out>(p, o, stream);
  RowMajorCall call;
  if (Status s = row_major_call(p, o, call); !s) return s;
  using Tiles = Menu<In, Out>;
  static_assert(Tiles::kShapes == Tiles::kTiles, "a kernel for each tile of the menu");
  const TensorPlan chosen = plan_tensor(p, sizeof(In), call.at, call.device);
  return Tiles::kLaunch[chosen.tile](p, o, chosen, stream);
}

static Status accepts(const Problem& p, const Device& device) {
  if (Status s = accept_hopper(device); !s) return s;
  return accept_for_tensor_maps(p);
}

template <class In, class Out>
static constexpr KernelInfo info(std::string_view id, Precision precision) {
  return {.id = id,
          .rung = "tensor_tiles",
          .idea = "tensor cores; tile, k-splits and narrow last tiles by shape",
          .role = Role::kLibrary,
          .precision = precision,
          .min_cc = 90,
          .in = kTypeOf<In>,
          .out = kTypeOf<Out>,
          .accepts = accepts,
          .launch = launch<In, Out>};
}

static constexpr KernelInfo kKernels[] = {
    info<__nv_bfloat16, __nv_bfloat16>("ladder_bf16", Precision::kBf16),
    info<__nv_bfloat16, float>("ladder_bf16_f32", Precision::kBf16),
    info<__half, __half>("ladder_fp16", Precision::kFp16),
    info<__half, float>("ladder_fp16_f32", Precision::kFp16),
    info<float, float>("ladder_tf32", Precision::kTf32),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::tensor_tiles
