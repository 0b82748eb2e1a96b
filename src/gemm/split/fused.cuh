// SPDX-License-Identifier: Apache-2.0
// The product kernel with a fused split, and its call: the split pre-pass of the smaller operand,
// then the product. If C has few rows or columns, this reads the larger operand once. A pre-pass
// would read it, write its terms, and the product would read those.
#pragma once
#include "device/ptx/sync.cuh"
#include "device/schedule.cuh"
#include "gemm/split/call.cuh"
#include "gemm/split/copy.cuh"
#include "gemm/split/fused_guard.cuh"
#include "gemm/split/fused_tile.cuh"
#include "gemm/split/pass.cuh"
#include "gemm/split/store.cuh"

#include <utility>

namespace ladder {

// Undoes the scales and stores a warpgroup's part of the tile at (vector, col).
template <class T>
__device__ __forceinline__ void store_fused(Product<T>& product, const SumScales& scales,
                                            const SplitTarget& x, int vector, int col) {
  const int warp = static_cast<int>(threadIdx.x) % kWarpgroup / 32,
            first = vector + product.row() + warp * 16;
  const SplitRows rows{{first + row_of_half<T>(0), first + row_of_half<T>(1)},
                       {scales.exponent(0), scales.exponent(1)}};
  const bool plain_rows = rows.scale[0] >= -kMostPlain && rows.scale[0] <= kMostPlain &&
                          rows.scale[1] >= -kMostPlain && rows.scale[1] <= kMostPlain;
  const bool plain = plain_vectors<T::BN>(x.b, col) & (__all_sync(0xFFFFFFFFU, plain_rows) != 0);
  // For this tile, ptxas generates a slower loop if eight float4 per thread are stored at once
  // (14336 x 128 x 4096: 112 us instead of 107).
  constexpr int kAtOnce = T::kAlongK && T::BN == 128 ? 4 : kScalesAtOnce;
  store_scaled<0, kFloat4s<T>, kAtOnce>(product.sums, x, rows, col + Product<T>::lane_col(),
                                        col + T::BN, plain);
}

// Threads that count in a guarded product: all except the two warps that copy.
template <class T>
constexpr int kCounters = T::kWarpgroups* kWarpgroup + kWarpgroup / 2;

// Workspace of the fix-up: partial sums and their scales.
struct FusedExchange {
  Exchange sums;
  int2* gScales;  // (blocks, warpgroups, threads)
  int parts = 1;  // k-splits per tile; if more than one, add_fused_parts() adds and stores all
};

// Waits for the split pre-pass, which is needed before its terms are read or C is accessed. The raw
// operand may be read before: when this kernel starts, all blocks of the pre-pass have waited for
// the kernels that precede it.
template <class T>
__device__ __forceinline__ void begin_fused() {
  ptx::wait_for_prerequisites();
  if constexpr (T::kGuarded) ptx::launch_dependents();
}

template <class T>
__device__ __forceinline__ void consume_fused(typename T::Shared& s, const SplitTarget& x,
                                              const Tiling& plan, const FusedExchange& exchange,
                                              [[maybe_unused]] const FusedGuard& guard) {
  const int block = static_cast<int>(blockIdx.x),
            group = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  const int in_group = static_cast<int>(threadIdx.x) % kWarpgroup;
  const bool leads = threadIdx.x % 32 == 0;
  const auto scales_of = [&](int of) {
    return exchange.gScales + (of * T::kWarpgroups + group) * kWarpgroup + in_group;
  };
  Product<T> product(group);  // (WM,WN)
  static_assert(T::kHalves == 1,
                "one unit of terms per unit of the raw operand: both pipelines count alike");
  unsigned taken = 0;  // slabs multiplied so far
  RawFragment<T> fragment;
  std::uint32_t largest[2];
  if constexpr (T::kGuarded) s.lost_of_thread[threadIdx.x - kWarpgroup] = 0;
  // Loads the slab that is split next. The loads are issued before the preceding slab's products;
  // behind those they would wait.
  const auto load = [&](unsigned slab) {
    const unsigned unit = slab % T::kUnitsA;
    ptx::mbarrier_wait(ptx::shared_address(&s.of_a.full[unit]), slab / T::kUnitsA % 2);
    read_raw<T>(fragment, s.a[unit], group);
  };
  const auto find_largest_of = [&](unsigned slab) {
    largest_of<T>(largest, fragment);
    // The stage is free once all loads have arrived. The comparison with a value that never occurs
    // makes the arrival depend on them.
    constexpr std::uint32_t kNever = 0xFFFFFFFFU;
    if (leads && max(largest[0], largest[1]) != kNever)
      ptx::mbarrier_arrive(ptx::shared_address(&s.of_a.empty[slab % T::kUnitsA]));
  };
  Schedule order(plan, block);
  for (Work work; order.next_whole(work);) {
#pragma unroll
    for (float& sum : product.sums) sum = 0.0F;
    SumScales scales;
    load(taken);
    find_largest_of(taken);
    if (taken == 0) begin_fused<T>();

      // Main loop
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step) {
      int scale[2];
      TermFragment<T> split;
      if constexpr (T::kGuarded) {
        const unsigned missing = step + 1 == plan.steps ? guard.missing : 0;
        record_lost<T>(s, lost_of_raw<T>(largest, fragment, guard.level, missing));
      }
      scales.take<T>(largest, fragment, scale, product.sums);
      split_fragment<T>(split, fragment, scale);
      if constexpr (T::kGuarded) {
        if (scales.far()) record_lost<T>(s, T::BK);
        if (has_seconds<T>(split)) scales.compensate(kCompensation);
      }
      const bool more = step + 1 < work.end;
      if (more) load(taken + 1);
      float partial[T::kPartials];  // (WM,WN)
      const unsigned unit = taken % T::kUnitsB;
      ptx::mbarrier_wait(ptx::shared_address(&s.of_b.full[unit]), taken / T::kUnitsB % 2);
      multiply_fragment<T>(partial, split, s.b[unit]);
      ++taken;
      if (more) find_largest_of(taken);
      ptx::wgmma_wait<0>();
#pragma unroll
      for (float& sum : partial) ptx::changed(sum);
      if (leads) ptx::mbarrier_arrive(ptx::shared_address(&s.of_b.empty[unit]));
      promote_scaled<T>(product.sums, partial, scales);
    }

    // Epilogue
    if (exchange.parts > 1) {
      *scales_of(block) = scales.packed();
      write_partial(product, exchange.sums.gPartial, block, group);
      continue;
    }
    if (work.end < plan.steps) {
      *scales_of(block) = scales.packed();
      forward_partial(product, exchange.sums, group);
      continue;
    }
    if (work.begin > 0) {
      int giver = block;
      do {
        --giver;
        accumulate_partial<T>(exchange.sums, giver, group, [&](const float4* g) {
          scales.take_sums(__ldcg(scales_of(giver)), product.sums,
                           [&](int i) { return __ldcg(g + i / 4 * kWarpgroup); });
          if constexpr (T::kGuarded) {
            if (scales.far()) record_lost<T>(s, T::BK);
          }
        });
      } while (Schedule::begins_inside(plan, work.tile, giver));
    }
    const TilePlace place = place_of<kBand>(plan, work.tile);
    store_fused(product, scales, x, place.m * T::BM, place.n * T::BN);
  }
  if constexpr (T::kGuarded) {
    combine_lost<T, kCounters<T>>(s, false, s.lost_of_thread[threadIdx.x - kWarpgroup]);
    if (threadIdx.x / 32 == kWarpgroup / 32) decide<T>(s, guard);
  }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    fused_kernel(const __grid_constant__ CUtensorMap map_a,
                 const __grid_constant__ CUtensorMap map_b, const __grid_constant__ SplitTarget x,
                 const __grid_constant__ Tiling plan,
                 const __grid_constant__ FusedExchange exchange,
                 const __grid_constant__ FusedGuard guard) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);
  init_rings<T>(map_a, map_b, s);
  if constexpr (T::kGuarded) {
    if (threadIdx.x == 0) s.lost[0] = s.lost[1] = 0;
  }
  __syncthreads();
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    const auto always = [] { return true; };
    produce<T, Schedule>(
        map_a, map_b, s, plan, static_cast<int>(threadIdx.x), always,
        [] {
          begin_fused<T>();
          return true;
        },
        always);
    if constexpr (T::kGuarded) {
      constexpr unsigned kCopy = 64;  // threads of the warps that copy
      if (threadIdx.x >= kCopy) {
        begin_fused<T>();
        const unsigned lost =
            lost_of_terms<T, kWarpgroup - kCopy>(x.b, plan.steps, guard.level, threadIdx.x - kCopy);
        combine_lost<T, kCounters<T>>(s, true, lost);
      }
    }
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume_fused<T>(s, x, plan, exchange, guard);
  }
}

// Adds the k-splits of each tile and stores it. Each of kFusedAdders groups of threads adds a share
// of the k-splits; all scales are read first. In a guarded product, k-splits whose scales differ by
// more than SumScales::kFar would lose accuracy; the choice then becomes FP64.
constexpr int kFusedAdders = 4;
template <class T>
__global__ void __launch_bounds__(kAddThreads)
    add_fused_parts(const __grid_constant__ SplitTarget x, const __grid_constant__ Tiling plan,
                    const __grid_constant__ FusedExchange exchange, int* gChoice) {
  using Place = AddPlace<T, kFusedAdders>;
  __shared__ PartScales sScales[kFusedAdders][Place::kLanes];
  const auto me = Place::template here<kBand>(plan);
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  const int parts = exchange.parts, first = me.tile * parts;
  const int begin = parts * me.adder / kFusedAdders, end = parts * (me.adder + 1) / kFusedAdders;
  const int2* const gScales =
      exchange.gScales + (first * T::kWarpgroups + me.warpgroup) * kWarpgroup + me.tid;
  constexpr int kNextScales = T::kWarpgroups * kWarpgroup;
  PartScales scales = PartScales::none();
#pragma unroll 8
  for (int part = begin; part < end; ++part) scales.take(__ldcg(gScales + part * kNextScales));
  sScales[me.adder][me.lane] = scales;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kFusedAdders; ++i) scales.take(sScales[i][me.lane]);
  if constexpr (T::kGuarded) {
    if (scales.far()) atomicMax(gChoice + kWhichChoice, static_cast<int>(SplitChoice::kBinary64));
  }
  const float4* const g =
      float4s_of<T>(exchange.sums.gPartial, first, me.warpgroup, me.tid) + me.four * kWarpgroup;
  constexpr std::int64_t kNext = std::int64_t{T::kWarpgroups} * kFloat4s<T> * kWarpgroup;
  float4 sum{};
#pragma unroll 4
  for (int part = begin; part < end; ++part) {
    const int2 packed = __ldcg(gScales + part * kNextScales);
    const float4 four = __ldcg(g + part * kNext);
    const float low = scales.factor(packed, 0), high = scales.factor(packed, 1);
    sum.x = __fmaf_rn(four.x, low, sum.x), sum.y = __fmaf_rn(four.y, low, sum.y);
    sum.z = __fmaf_rn(four.z, high, sum.z), sum.w = __fmaf_rn(four.w, high, sum.w);
  }
  if (!me.add_groups(sum)) return;
  const int row = me.row + me.tid / 32 * 16, col = me.col + Product<T>::lane_col(me.tid);
  const SplitRows rows{{row + row_of_half<T>(0), row + row_of_half<T>(1)},
                       {scales.exponent(0), scales.exponent(1)}};
  store_added(x, sum, rows, col, me.four);
}

template <class T>
Status launch_fused(const SplitTarget& x, const Tiling& plan, const FusedExchange& exchange,
                    const FusedGuard& guard, cudaStream_t stream) {
  using F = typename T::Format;
  CUtensorMap map_a, map_b;
  const Status raw = T::kAlongK ? make_tensor_map(map_a, Type::kF32, x.a.g, x.a.vectors, x.k,
                                                  x.a.ld, T::BM, T::UnitA::kBox)
                                : make_tensor_map(map_a, Type::kF32, x.a.g, x.k, x.a.vectors,
                                                  x.a.ld, T::BK, T::UnitA::kBox);
  if (!raw) return raw;
  if (Status s = map_terms<F>(map_b, x.b, plan.steps, T::kHalf); !s) return s;
  constexpr int kShared = sizeof(typename T::Shared);
  if (Status s =
          launch_dependent("product with a fused split", fused_kernel<T>, plan.blocks, 1,
                           T::kThreads, kShared, stream, map_a, map_b, x, plan, exchange, guard);
      !s || exchange.parts == 1)
    return s;
  return launch_dependent(
      "sum of k-splits", add_fused_parts<T>,
      plan.split_tiles * T::kWarpgroups * kFloat4s<T> * AddPlace<T, kFusedAdders>::kSlices, 1,
      kAddThreads, 0, stream, x, plan, exchange, guard.gChoice);
}

// Tiling and workspace layout of a row-major product with terms of format F and one fused split.
// The larger operand is split in the product kernel ("raw"); if that is B, C^T is computed.
// kGuarded: the kernel's blocks decide whether the terms were accurate enough.
template <class F, int kProducts, bool kGuarded = false>
class FusedJob {
 public:
  FusedJob(const Problem& p, const Operands& o, int sms)
      : p_(p),
        o_(o),
        chosen_(plan_fused(p, sms)),
        terms_(split_bytes<F>(raw_is_a() ? p.n : p.m, p.k, along(!raw_is_a()))) {}

  std::int64_t scratch_bytes() const { return terms_.all() + sums_bytes() + scales_bytes(); }
  std::int64_t flags() const { return chosen_.plan.blocks * kGroups; }

  // Addresses of operands and workspace. `a` is the raw operand; `b` is split by the pre-pass.
  SplitTarget target(char* scratch) const {
    // The raw operand has no terms: the addresses that it receives for them are not used.
    const SplitOperand a = split_operand(o_.a, p_.lda, p_.m, along(true), scratch, terms_);
    const SplitOperand b = split_operand(o_.b, p_.ldb, p_.n, along(false), scratch, terms_);
    SplitTarget x{target_of<float>(p_, o_), raw_is_a() ? a : b, raw_is_a() ? b : a,
                  static_cast<int>(p_.k)};
    if (!raw_is_a()) {
      std::swap(x.c.m, x.c.n);
      x.c.ld = 1, x.col_step = p_.ldc;
    }
    return x;
  }
  // Both enqueue. Errors: kLaunchFailed.
  Status pass(const SplitTarget& x, cudaStream_t stream, const GrowthSample& sample = {}) const {
    SplitPass pass{x.a, x.b, x.k, chosen_.plan.steps, sample, x.a.vectors, x.b.vectors};
    pass.a.vectors = 0;
    constexpr Extra kExtra = kGuarded ? Extra::kSample : Extra::kNone;
    return split_operands<F, kExtra>(pass, stream);
  }
  Status product(const SplitTarget& x, char* scratch, unsigned* gFlags, cudaStream_t stream,
                 const FusedGuard& guard = {}) const {
    char* const sums = scratch + terms_.all();
    const FusedExchange exchange{{reinterpret_cast<float*>(sums), gFlags},
                                 reinterpret_cast<int2*>(sums + sums_bytes()),
                                 chosen_.parts};
    const auto wide = x.a.along_k ? launch_fused<Tile<128, true>> : launch_fused<Tile<128, false>>;
    const auto narrow = x.a.along_k ? launch_fused<Tile<64, true>> : launch_fused<Tile<64, false>>;
    return (is_wide() ? wide : narrow)(x, chosen_.plan, exchange, guard, stream);
  }

 private:
  static constexpr int kGroups = 2;  // consumer warpgroups per block
  template <int BN, bool kAlongK>
  using Tile = FusedTile<F, kProducts, BN, kAlongK, kGuarded>;
  static_assert(kSplitShape<Tile<128, true>> == kWideFusedTile &&
                    kSplitShape<Tile<64, true>> == kNarrowFusedTile,
                "the tiles of the plan");

  std::int64_t forwarding_blocks() const {
    return chosen_.plan.split_tiles > 0 ? chosen_.plan.blocks : 0;
  }
  std::int64_t sums_bytes() const {
    return forwarding_blocks() * chosen_.shape.m * chosen_.shape.n * 4;
  }
  std::int64_t scales_bytes() const { return forwarding_blocks() * kGroups * kWarpgroup * 8; }
  bool raw_is_a() const { return chosen_.raw_is_a; }
  bool is_wide() const { return chosen_.shape == kWideFusedTile; }
  bool along(bool of_a) const { return of_a ? p_.op_a == Op::kNone : p_.op_b == Op::kTranspose; }

  Problem p_;
  Operands o_;
  FusedPlan chosen_;
  SplitBytes terms_;
};

}  // namespace ladder
