// SPDX-License-Identifier: Apache-2.0
// The kernel of rungs that split operands into words, and how a call of theirs runs: passes over A and B, the product,
// and where every tile is cut, the sum of its parts.
#pragma once
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ring.cuh"
#include "device/schedule.cuh"
#include "device/split_plan.cuh"
#include "device/split_store.cuh"
#include "device/split_tile.cuh"
#include "device/tensor_map.cuh"
#include "device/tma_operands.cuh"
#include "device/workspace.cuh"

#include <array>

namespace ladder {

namespace split_detail {

constexpr int kBand = 16;  // tile rows

// Warp 0 copies A, warp 1 copies B: each waits for its own ring alone.
template <class T, class Order>
__device__ __forceinline__ void produce(const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        typename T::Shared& s, const Plan& plan) {
  if (threadIdx.x == 0) {
    auto ring = Ring<T::UNITS_A>::of_producer();
    Order order(plan, static_cast<int>(blockIdx.x));
    for (Work work; order.next(work);) {
      const int row = place_of<kBand>(plan, work.tile).m * T::BM;
#pragma unroll 1
      for (int step = work.begin; step < work.end; ++step) {
        ptx::mbarrier_wait(ptx::shared_address(&s.empty_a[ring.stage()]), ring.parity());
        load_unit<T>(s.a[ring.stage()], map_a, ptx::shared_address(&s.full_a[ring.stage()]), row, step);
        ring.advance();
      }
    }
  } else if (threadIdx.x == 32) {
    auto ring = Ring<T::UNITS_B>::of_producer();
    Order order(plan, static_cast<int>(blockIdx.x));
    for (Work work; order.next(work);) {
      const int col = place_of<kBand>(plan, work.tile).n * T::BN;
#pragma unroll 1
      for (int step = work.begin; step < work.end; ++step) {
#pragma unroll 1
        for (int half = 0; half < T::kHalves; ++half) {
          ptx::mbarrier_wait(ptx::shared_address(&s.empty_b[ring.stage()]), ring.parity());
          load_unit<T>(s.b[ring.stage()], map_b, ptx::shared_address(&s.full_b[ring.stage()]),
                       col + half * T::kHalf, step);
          ring.advance();
        }
      }
    }
  }
}

template <class T, class Order, bool kParts, bool kCompensated>
__device__ __forceinline__ void consume(typename T::Shared& s, const SplitTarget& x, const Plan& plan,
                                        const Exchange& exchange) {
  const int block = static_cast<int>(blockIdx.x), group = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  const bool leads = threadIdx.x % 32 == 0;
  Product<T> product(group);  // (WM,WN)
  auto ring_a = Ring<T::UNITS_A>::of_consumer();
  auto ring_b = Ring<T::UNITS_B>::of_consumer();
  Order order(plan, block);
  for (Work work; order.next(work);) {
#pragma unroll
    for (float& sum : product.sums) sum = 0.0F;

      // Main loop
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step) {
      ptx::mbarrier_wait(ptx::shared_address(&s.full_a[ring_a.stage()]), ring_a.parity());
#pragma unroll
      for (int half = 0; half < T::kHalves; ++half) {
        float partial[T::kPartials];  // (WM,kHalf)
        ptx::mbarrier_wait(ptx::shared_address(&s.full_b[ring_b.stage()]), ring_b.parity());
        multiply_words<T>(partial, s.a[ring_a.stage()], s.b[ring_b.stage()], group);
        ptx::wgmma_wait<0>();
#pragma unroll
        for (float& sum : partial) ptx::changed(sum);
        if (leads) ptx::mbarrier_arrive(ptx::shared_address(&s.empty_b[ring_b.stage()]));
        if (leads && half == T::kHalves - 1)
          ptx::mbarrier_arrive(ptx::shared_address(&s.empty_a[ring_a.stage()]));
        promote<T, kCompensated>(product.sums + half * T::kPartials, partial);
        ring_b.advance();
      }
      ring_a.advance();
    }

    // Epilogue
    if constexpr (kParts) {
      write_partial(product, exchange.gPartial, block, group);
    } else {
      if (work.end < plan.steps) {
        hand_on(product, exchange, group);
        continue;
      }
      if (work.begin > 0) {
        int giver = block;
        Schedule::Cut begin;
        do {
          take_in(product, exchange, --giver, group);
          begin = Schedule::share(plan, giver);
        } while (begin.tile == work.tile - plan.whole_tiles && begin.step > 0);
      }
      const TilePlace place = place_of<kBand>(plan, work.tile);
      store_split(product, x, place.m * T::BM, place.n * T::BN);
    }
  }
}

template <class T, bool kParts, bool kCompensated>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
           const __grid_constant__ SplitTarget x, const __grid_constant__ Plan plan,
           const __grid_constant__ Exchange exchange) {
  using Order = std::conditional_t<kParts, PartSchedule, Schedule>;
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);
  if (threadIdx.x == 0) {
    constexpr int kConsumers = T::kWarpgroups * 4;  // warps
    for (auto& full : s.full_a) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    for (auto& full : s.full_b) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    for (auto& empty : s.empty_a) ptx::mbarrier_init(ptx::shared_address(&empty), kConsumers);
    for (auto& empty : s.empty_b) ptx::mbarrier_init(ptx::shared_address(&empty), kConsumers);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    produce<T, Order>(map_a, map_b, s, plan);
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T, Order, kParts, kCompensated>(s, x, plan, exchange);
  }
}

template <class T, bool kCompensated>
Status launch_tile(const TensorPlan& chosen, const SplitTarget& x, const Exchange& exchange,
                   cudaStream_t stream) {
  using F = typename T::Format;
  const auto map = [&](CUtensorMap& to, const SplitOperand& operand, int lines) {
    const std::int64_t ld = std::int64_t{chosen.plan.steps} * F::kWords * F::BK;
    return make_tensor_map(to, F::kType, operand.gWords, operand.lines, ld, ld, lines, F::BK);
  };
  CUtensorMap map_a, map_b;
  if (Status s = map(map_a, x.a, T::BM); !s) return s;
  if (Status s = map(map_b, x.b, T::kHalf); !s) return s;
  const auto run = chosen.parts > 1 ? kernel<T, true, kCompensated> : kernel<T, false, kCompensated>;
  constexpr int kShared = sizeof(typename T::Shared);
  const cudaError_t error = allow_shared(reinterpret_cast<const void*>(run), kShared);
  if (error != cudaSuccess) return cuda_failure("cudaFuncSetAttribute", error);
  run<<<chosen.plan.blocks, T::kThreads, kShared, stream>>>(map_a, map_b, x, chosen.plan, exchange);
  if (chosen.parts > 1) {
    const int adders = chosen.plan.whole_tiles * T::kWarpgroups * kQuads<T>;
    add_split_parts<T, kBand>
        <<<adders, kAdders * kWarpgroup, 0, stream>>>(x, exchange.gPartial, chosen.plan, chosen.parts);
  }
  return launched("product of split operands");
}

// The tiles to choose from, the widest first, with as many units as fit.
template <class F, int kProducts, bool kCompensated>
struct Menu {
  static constexpr int kUnit = 128 * F::kWords * F::kSlabBytes;  // bytes
  static constexpr int kUnits = (kMaxSharedBytes - 2048) / kUnit;
  template <int BN>
  using Tile = SplitTile<F, kProducts, BN, (BN == 256 ? kUnits / 3 + (F::kWords == 2) : kUnits / 2),
                         (BN == 256 ? kUnits - kUnits / 3 - (F::kWords == 2) : kUnits / 2)>;
  static constexpr std::array kTiles{TileShape{128, 256, F::BK, 1}, TileShape{128, 128, F::BK, 1},
                                     TileShape{128, 64, F::BK, 1}};
  static constexpr std::array kLaunch{launch_tile<Tile<256>, kCompensated>,
                                      launch_tile<Tile<128>, kCompensated>,
                                      launch_tile<Tile<64>, kCompensated>};
};

}  // namespace split_detail

// C = alpha op(A) op(B) + beta C in words of format F, any layout, for a problem that accept_split() takes. Errors:
// kLaunchFailed.
template <class F, int kProducts, bool kCompensated = false>
Status launch_split(const Problem& original, const Operands& given, Stream stream) {
  using namespace split_detail;
  const auto [p, swapped] = as_row_major(original);
  const Operands o = swapped ? Operands{given.b, given.a, given.c} : given;
  if (!reads_ab(p)) return scale_only<float>(p, o, stream);
  int sms = 0;
  cudaError_t error = sm_count(sms);
  if (error != cudaSuccess) return cuda_failure("SM count", error);
  using Tiles = Menu<F, kProducts, kCompensated>;
  const SplitCost cost{kProducts, F::kWords * F::kSlabBytes, F::kSlabBytes};
  const TensorPlan chosen = plan_split_tiles(p, cost, Tiles::kTiles, sms);

  const bool a_along_k = p.op_a == Op::kNone, b_along_k = p.op_b == Op::kTranspose;
  const SplitBytes bytes_a = split_bytes<F>(p.m, p.k, a_along_k),
                   bytes_b = split_bytes<F>(p.n, p.k, b_along_k);
  const Plan& plan = chosen.plan;
  const TileShape& tile = Tiles::kTiles[chosen.tile];
  const std::int64_t pieces = chosen.parts > 1     ? std::int64_t{plan.whole_tiles} * chosen.parts
                              : plan.cut_tiles > 0 ? plan.blocks
                                                   : 0;
  const std::int64_t partials = pieces * tile.m * tile.n * 4;
  char* const memory = static_cast<char*>(
      Workspace::scratch(stream, static_cast<std::size_t>(bytes_a.all() + bytes_b.all() + partials), error));
  if (memory == nullptr) return cuda_failure("workspace", error);
  constexpr std::size_t kGroups = 2;  // warpgroups of a block
  unsigned* const gReady = Workspace::flags(stream, static_cast<std::size_t>(plan.blocks) * kGroups, error);
  if (gReady == nullptr) return cuda_failure("workspace", error);

  const auto operand = [&](const float* g, std::int64_t ld, std::int64_t lines, bool along_k, char* at,
                           const SplitBytes& bytes) {
    const bool quads = reinterpret_cast<std::uintptr_t>(g) % sizeof(float4) == 0 && ld % 4 == 0;
    return SplitOperand{g,
                        ld,
                        static_cast<int>(lines),
                        along_k,
                        quads,
                        at,
                        reinterpret_cast<int*>(at + bytes.words),
                        reinterpret_cast<std::uint32_t*>(at + bytes.words + bytes.exponents)};
  };
  const SplitTarget x{target_of<float>(p, o), operand(o.a, p.lda, p.m, a_along_k, memory, bytes_a),
                      operand(o.b, p.ldb, p.n, b_along_k, memory + bytes_a.all(), bytes_b),
                      static_cast<int>(p.k)};
  if (Status s = split_operand<F>(x.a, x.k, stream); !s) return s;
  if (Status s = split_operand<F>(x.b, x.k, stream); !s) return s;
  const Exchange exchange{reinterpret_cast<float*>(memory + bytes_a.all() + bytes_b.all()), gReady};
  return Tiles::kLaunch[chosen.tile](chosen, x, exchange, stream);
}

// Hopper's tensor cores, sizes that fit ints.
inline Status accept_split(const Problem& p, const Device& device) {
  if (Status s = accept_cuda(device, 90); !s) return s;
  if (device.cc / 10 != 9) {
    return {Code::kUnsupportedDevice,
            "needs Hopper's wgmma (compute capability 9.0), " + device.name + " has none"};
  }
  if (std::max({p.m, p.n, p.k}) <= kMaxExtent / 4) return Status::ok();
  return {Code::kUnsupportedProblem, "takes sizes of at most 2^28, not " + to_string(p)};
}

}  // namespace ladder
