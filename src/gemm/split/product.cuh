// SPDX-License-Identifier: Apache-2.0
// The product kernel of split operands, and its call: the split pre-pass of A and B, the product,
// and, with split-K, the sum of the k-splits.
#pragma once
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/sync.cuh"
#include "device/ring.cuh"
#include "device/schedule.cuh"
#include "device/vector.cuh"
#include "gemm/split/call.cuh"
#include "gemm/split/choice.cuh"
#include "gemm/split/copy.cuh"
#include "gemm/split/store.cuh"
#include "gemm/split/tile.cuh"
#include "gemm/tensor/tile_order.cuh"

#include <algorithm>
#include <array>

namespace ladder {

// If the warpgroups alternate slabs: adds the sums of both, each one half of the columns, and
// stores them.
template <class T>
__device__ __forceinline__ void store_both(Product<T>& product, typename T::Shared& s,
                                           const SplitTarget& x, int group, const TilePlace& place,
                                           bool plain) {
  constexpr int kHalf = kFloat4s<T> / 2;
  const int tid = static_cast<int>(threadIdx.x) % kWarpgroup;
  const auto sync = [] { ptx::barrier_sync(1, T::kWarpgroups * kWarpgroup); };
  // The branches differ only in indices, which must be constants for the sums to stay in registers.
  const auto give = [&](const float* sums) {
#pragma unroll
    for (int q = 0; q < kHalf; ++q) s.given[group][q][tid] = float4_of(sums + 4 * q);
  };
  const auto take = [&](float* sums) {
#pragma unroll
    for (int q = 0; q < kHalf; ++q) add4(sums + 4 * q, s.given[1 - group][q][tid]);
  };
  sync();  // the sums that the preceding tile exchanged have been read
  if (group == 0) {
    give(product.sums + 4 * kHalf);
  } else {
    give(product.sums);
  }
  sync();
  if (group == 0) {
    take(product.sums);
    store_split<T, 0, kHalf>(product, x, place.m * T::BM, place.n * T::BN, plain);
  } else {
    take(product.sums + 4 * kHalf);
    store_split<T, kHalf, 2 * kHalf>(product, x, place.m * T::BM, place.n * T::BN, plain);
  }
}

template <bool kParts>
using PartOrder = std::conditional_t<kParts, PartSchedule, Schedule>;

// Threads of the consumer warpgroups, which come first in a block. The producer warpgroup follows.
template <class T>
constexpr int kConsumers = T::kWarpgroups* kWarpgroup;

// begin() waits until the terms are complete. Work that needs no terms precedes it. proceeds(up)
// returns whether to compute the product, and the factor of the promotion if kCompensated. It waits
// for the verdict, which another warp makes meanwhile: little code should follow it before the main
// loop (docs/lab/guard-cost.md, "Cold instructions").
template <class T, bool kParts, bool kCompensated, class Begin, class Proceeds>
__device__ __forceinline__ bool consume(typename T::Shared& s, const SplitTarget& x,
                                        const Tiling& plan, const Exchange& exchange, Begin begin,
                                        Proceeds proceeds) {
  const int block = static_cast<int>(blockIdx.x),
            group = static_cast<int>(threadIdx.x) / kWarpgroup;
  const bool leads = threadIdx.x % 32 == 0;
  Product<T> product(T::kPingPong ? 0 : group);  // (WM,WN)
  auto ring_a = Ring<T::kUnitsA>::of_consumer();
  auto ring_b = Ring<T::kUnitsB>::of_consumer();
  PartOrder<kParts> order(plan, block);
  Work work{};
  bool more = order.next(work);
  TilePlace place = place_of<kBand>(plan, work.tile);
  begin();
  float up = 1.0F;
  bool decided = false;
  constexpr bool kTurns = kTakesTurns<T, kCompensated>;
  const Turns<kTurns> turns(group);
  int next_group = 0;  // of the warpgroups that alternate slabs
  for (; more; more = order.next(work), place = place_of<kBand>(plan, work.tile)) {
    const bool plain = !kParts && plain_scales<T>(x, place.m * T::BM, place.n * T::BN);
    if (!decided && !proceeds(up)) {
      turns.end(0);
      return false;
    }
    decided = true;
#pragma unroll
    for (float& sum : product.sums) sum = 0.0F;

      // Main loop
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step) {
      if constexpr (T::kPingPong) {
        const bool other = next_group != group;
        next_group ^= 1;
        if (other) {
          ring_a.advance();
          ring_b.advance();
          continue;
        }
      }
      ptx::mbarrier_wait(ptx::shared_address(&s.of_a.full[ring_a.stage()]), ring_a.parity());
#pragma unroll
      for (int half = 0; half < T::kHalves; ++half) {
        float partial[T::kPartials];  // (WM,kHalf)
        ptx::mbarrier_wait(ptx::shared_address(&s.of_b.full[ring_b.stage()]), ring_b.parity());
        turns.wait();
        multiply_terms<T, kTurns>(partial, s.a[ring_a.stage()], s.b[ring_b.stage()], product.row());
        turns.pass_on();
        ptx::wgmma_wait<0>();
#pragma unroll
        for (float& sum : partial) ptx::changed(sum);
        if (leads) ptx::mbarrier_arrive(ptx::shared_address(&s.of_b.empty[ring_b.stage()]));
        if (leads && half == T::kHalves - 1)
          ptx::mbarrier_arrive(ptx::shared_address(&s.of_a.empty[ring_a.stage()]));
        promote<T, kCompensated>(product.sums + half * T::kPartials, partial, up);
        ring_b.advance();
      }
      ring_a.advance();
    }

    // Epilogue
    if constexpr (kParts) {
      write_partial(product, exchange.gPartial, block, group);
    } else if constexpr (T::kPingPong) {
      store_both(product, s, x, group, place, plain);
    } else {
      if (work.end < plan.steps) {
        forward_partial(product, exchange, group);
        continue;
      }
      if (work.begin > 0) {
        int giver = block;
        do {
          accumulate_partial(product, exchange, --giver, group);
        } while (Schedule::begins_inside(plan, work.tile, giver));
      }
      store_split(product, x, place.m * T::BM, place.n * T::BN, plain);
    }
  }
  turns.end(next_group);
  return decided || proceeds(up);
}

// The policy of a product that always runs. guard.cuh has the other one.
struct Unguarded {
  static constexpr bool kGuards = false;
  static constexpr int kSharedBytes = 0;
  static constexpr bool copies_at_once = true;
  int least_blocks = 0;
  const int* gChoice = nullptr;
  __device__ __forceinline__ bool proceeds(const Decision& /*s*/, float& /*up*/) const {
    return true;
  }
};

template <class T, bool kParts, class Guard>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ SplitTarget x, const __grid_constant__ Tiling plan,
           const __grid_constant__ Exchange exchange, const __grid_constant__ Guard guard) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);
  init_rings<T>(map_a, map_b, s);
  __shared__ Decision s_decision;
  if constexpr (Guard::kGuards) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(ptx::shared_address(&s_decision.made), 1);
      ptx::fence_mbarrier_init();
    }
  }
  __syncthreads();
  const auto begin = [] {
    ptx::wait_for_prerequisites();
    ptx::launch_dependents();
  };
  const auto proceeds = [&](float& up) { return guard.proceeds(s_decision, up); };
  if (threadIdx.x < kConsumers<T>) {
    ptx::claim_registers<T::kConsumerRegisters>();
    if (consume<T, kParts, Guard::kGuards>(s, x, plan, exchange, begin, proceeds)) return;
    if constexpr (Guard::kGuards) {
      guard.sync_block();  // no thread waits for the pipelines' barriers any more
      const auto invalidate = [](std::uint32_t barrier) { ptx::mbarrier_invalidate(barrier); };
      if (threadIdx.x == 0) s.for_each_barrier(invalidate, invalidate);
      guard.compute_otherwise(s_decision.verdict.choice, x, shared);
    }
  } else {
    ptx::release_registers<T::kProducerRegisters>();
    const int thread = static_cast<int>(threadIdx.x) - kConsumers<T>;
    float up = 1.0F;  // for the consumers
    const auto copies = [&] {
      begin();
      return guard.copies_at_once || proceeds(up);
    };
    produce<T, PartOrder<kParts>>(map_a, map_b, s, plan, thread, copies, copies,
                                  [&] { return proceeds(up); });
    if constexpr (Guard::kGuards) {
      if (thread / 32 == kSpareWarp) {
        begin();
        guard.decide(s_decision, x);
        guard.clear_counts();
      }
      if (proceeds(up)) return;
      guard.sync_block();
      guard.copy_otherwise(s_decision.verdict.choice, shared, thread);
    }
  }
}

template <class T, class Guard>
Status launch_tile(const TensorPlan& chosen, const SplitTarget& x, const Exchange& exchange,
                   const Guard& guard, cudaStream_t stream) {
  using F = typename T::Format;
  CUtensorMap map_a, map_b;
  if (Status s = map_terms<F>(map_a, x.a, chosen.plan.steps, T::BM); !s) return s;
  if (Status s = map_terms<F>(map_b, x.b, chosen.plan.steps, T::kHalf); !s) return s;
  const auto launch = [&](auto run) {
    constexpr int kShared =
        std::max(static_cast<int>(sizeof(typename T::Shared)), Guard::kSharedBytes);
    const Tiling& plan = chosen.plan;
    return launch_dependent("product of split operands", run,
                            std::max(plan.blocks, guard.least_blocks), 1, T::kThreads, kShared,
                            stream, map_a, map_b, x, plan, exchange, guard);
  };
  if constexpr (T::kPingPong) {
    return launch(kernel<T, false, Guard>);
  } else {
    if (chosen.parts == 1) return launch(kernel<T, false, Guard>);
    if (Status s = launch(kernel<T, true, Guard>); !s) return s;
    const int adders = chosen.plan.whole_tiles * T::kWarpgroups * kFloat4s<T>;
    return launch_kernel("sum of k-splits", add_split_parts<T, kBand>, adders, kAddThreads, 0,
                         stream, x, exchange.gPartial, chosen.plan, chosen.parts, guard.gChoice);
  }
}

template <class... T>
struct TileList {
  static constexpr std::array kShapes{kSplitShape<T>...};
};
// The kernels without a guard.
template <class... T>
constexpr auto unguarded(TileList<T...> /*tiles*/) {
  return std::array{launch_tile<T, Unguarded>...};
}

// The planner's tiles, with as many pipeline stages as shared memory holds.
template <class F, int kProducts>
struct Menu {
  static constexpr int kBk = F::BK;
  static constexpr int kUnit = 128 * F::kTerms * F::kSlabBytes, kRest = 2048;  // bytes
  static constexpr int kUnits = (kMaxSharedBytes - kRest) / kUnit;
  template <int BN>
  using Tile =
      CooperativeTile<F, kProducts, BN, (BN == 256 ? kUnits / 3 + (F::kTerms == 2) : kUnits / 2),
                      (BN == 256 ? kUnits - kUnits / 3 - (F::kTerms == 2) : kUnits / 2)>;
  static constexpr int kGiven = 64 * 128 * 4;  // bytes of the sums that the warpgroups exchange
  using PingPong =
      PingPongTile<F, kProducts, (kMaxSharedBytes - kRest - kGiven) / (kUnit / 2 + kUnit)>;
  using All = TileList<Tile<256>, Tile<128>, PingPong, Tile<64>>;
  static_assert(All::kShapes == split_tiles(F::BK), "a kernel for each tile of the menu");
  static constexpr SplitCost kCost{kProducts, F::kTerms* F::kSlabBytes, F::kSlabBytes};
  static_assert(std::ranges::any_of(kSplitFormats,
                                    [](const SplitFormat& format) {
                                      return format.bk == F::BK && format.cost == kCost;
                                    }),
                "a row of the planner's formats");
};

// Tiling and workspace layout of one row-major product with terms of format F.
template <class F, int kProducts>
class SplitJob {
 public:
  using Tiles = Menu<F, kProducts>;

  SplitJob(const Problem& p, const Operands& o, int sms)
      : SplitJob(p, o, plan_split_tiles(p, Tiles::kCost, split_tiles(F::BK), sms)) {}
  SplitJob(const Problem& p, const Operands& o, const TensorPlan& chosen)
      : p_(p),
        o_(o),
        chosen_(chosen),
        a_(split_bytes<F>(p.m, p.k, along_a())),
        b_(split_bytes<F>(p.n, p.k, along_b())) {}

  // The terms of A or B are at `terms` already (packed_bytes() bytes), written by pass() of a job
  // with the same operand. This job's pass() skips that operand.
  void use_packed(bool of_a, char* terms) { (of_a ? packed_a_ : packed_b_) = terms; }
  std::int64_t packed_bytes(bool of_a) const { return (of_a ? a_ : b_).all(); }

  std::int64_t scratch_bytes() const {
    const Tiling& plan = chosen_.plan;
    const TileShape& tile = chosen_.shape;
    const std::int64_t pieces = chosen_.parts > 1 ? std::int64_t{plan.whole_tiles} * chosen_.parts
                                : plan.split_tiles > 0 ? plan.blocks
                                                       : 0;
    return own_terms() + pieces * tile.m * tile.n * 4;
  }
  // Number of flags required of CallMemory::flags().
  std::int64_t flags() const {
    constexpr std::int64_t kGroups = 2;  // consumer warpgroups per block
    return chosen_.plan.blocks * kGroups;
  }

  const TensorPlan& plan() const { return chosen_; }

  // Addresses of operands and workspace. If pass() counts: gCensus, m + n censuses, and gExtremes,
  // those of A and of B.
  SplitTarget target(char* scratch, Census* gCensus = nullptr,
                     SharedExtremes* gExtremes = nullptr) const {
    const bool counts = gExtremes != nullptr;
    char* const at_a = packed_a_ != nullptr ? packed_a_ : scratch;
    char* const at_b =
        packed_b_ != nullptr ? packed_b_ : scratch + (packed_a_ != nullptr ? 0 : a_.all());
    return {target_of<float>(p_, o_),
            split_operand(o_.a, p_.lda, p_.m, along_a(), at_a, a_, gCensus, gExtremes),
            split_operand(o_.b, p_.ldb, p_.n, along_b(), at_b, b_,
                          counts ? gCensus + p_.m : nullptr, counts ? gExtremes + 1 : nullptr),
            static_cast<int>(p_.k)};
  }
  Exchange exchange(char* scratch, unsigned* gFlags) const {
    return {reinterpret_cast<float*>(scratch + own_terms()), gFlags};
  }
  // Both enqueue. Errors: kLaunchFailed.
  template <Extra kExtra = Extra::kNone>
  Status pass(const SplitTarget& x, cudaStream_t stream, const GrowthSample& sample = {}) const {
    SplitPass pass{x.a, x.b, x.k, chosen_.plan.steps, sample, x.a.vectors, x.b.vectors};
    if (packed_a_ != nullptr) pass.a.vectors = 0;
    if (packed_b_ != nullptr) pass.b.vectors = 0;
    return split_operands<F, kExtra>(pass, stream);
  }
  Status product(const SplitTarget& x, char* scratch, unsigned* gFlags, cudaStream_t stream) const {
    constexpr auto kLaunch = unguarded(typename Tiles::All{});
    return kLaunch[chosen_.tile](chosen_, x, exchange(scratch, gFlags), {}, stream);
  }

 private:
  std::int64_t own_terms() const {
    return (packed_a_ != nullptr ? 0 : a_.all()) + (packed_b_ != nullptr ? 0 : b_.all());
  }
  bool along_a() const { return p_.op_a == Op::kNone; }
  bool along_b() const { return p_.op_b == Op::kTranspose; }

  Problem p_;
  Operands o_;
  TensorPlan chosen_;
  SplitBytes a_, b_;
  char *packed_a_ = nullptr, *packed_b_ = nullptr;
};

// C = alpha op(A) op(B) + beta C with terms of format F, any layout, for a problem that
// accept_split() accepts. Errors: kLaunchFailed.
template <class F, int kProducts>
Status launch_split(const Problem& original, const Operands& given, Stream stream) {
  return launch_row_major(original, given, stream, [&](const RowMajorCall& call) {
    return launch_job(SplitJob<F, kProducts>(call.p, call.o, call.device.sms), stream);
  });
}

}  // namespace ladder
