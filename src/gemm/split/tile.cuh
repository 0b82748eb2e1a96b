// SPDX-License-Identifier: Apache-2.0
// The tile of a product of split operands: which pairs of terms are multiplied, the pipeline stages
// that hold them, and in which order the warpgroups multiply.
//
// A unit is one pipeline stage of one operand: all terms of its rows (A) or columns (B) in one
// slab. A's units and B's halves have separate pipelines, so that each unit is released as soon as
// the last product has read it. Shared memory would hold only two stages of both operands.
#pragma once
#include "device/ptx/library.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/sync.cuh"
#include "device/ptx/tma.cuh"
#include "device/ptx/wgmma.cuh"
#include "gemm/split/terms.cuh"
#include "gemm/tensor/tensor_tile.cuh"

#include <cstdint>

namespace ladder {

// The products of terms, smallest first, because the truncation error is proportional to the sum.
// Two octal digits per product, the indices of A's term and B's, with the last product in the
// lowest digits. An integer, because device code must not index a host constexpr array.
template <int kTerms, int kProducts>
constexpr std::uint64_t kPairs = 0;
template <>
constexpr std::uint64_t kPairs<2, 3> = 0'10'01'00;  // without w1 w1
template <>
constexpr std::uint64_t kPairs<3, 6> = 0'20'11'02'10'01'00;  // without w1 w2, w2 w1, w2 w2
template <>
constexpr std::uint64_t kPairs<3, 9> = 0'22'21'12'20'11'02'10'01'00;

struct TermPair {
  int a, b;
};
template <class T>
__device__ __forceinline__ constexpr TermPair term_pair(int product) {
  const auto digits = static_cast<int>(T::kPairsOfTerms >> 6 * (T::kProducts - 1 - product));
  return {digits >> 3 & 7, digits & 7};
}

// All terms of kVectors rows or columns in one slab, in shared memory. The swizzle's period is 8
// vectors.
template <class Format, int kVectors>
struct TermUnit {
  alignas(1024) typename Format::Term vector[Format::kTerms][kVectors][Format::BK];

  // Starts the TMA loads, for vectors from `first` on. In the tensor map, the terms of a slab
  // follow one another along k.
  __device__ __forceinline__ void load(const CUtensorMap& map, std::uint32_t barrier, int first,
                                       int slab) {
    ptx::mbarrier_arrive_expect(barrier, sizeof(*this));
#pragma unroll
    for (int w = 0; w < Format::kTerms; ++w) {
      ptx::tma_load(ptx::shared_address(vector[w]), map, barrier,
                    (slab * Format::kTerms + w) * Format::BK, first);
    }
  }
};

// The barriers of a pipeline: a unit has arrived; all readers have released it.
template <int kUnits>
struct UnitBarriers {
  std::uint64_t full[kUnits], empty[kUnits];
};

// The pipelines of both operands.
template <class UnitA, int kUnitsA, class UnitB, int kUnitsB>
struct UnitRings {
  UnitA a[kUnitsA];
  UnitB b[kUnitsB];
  UnitBarriers<kUnitsA> of_a;
  UnitBarriers<kUnitsB> of_b;

  // Calls each function with the shared addresses of its kind of barrier.
  template <class OnFull, class OnEmpty>
  __device__ __forceinline__ void for_each_barrier(OnFull on_full, OnEmpty on_empty) {
    for (auto& barrier : of_a.full) on_full(ptx::shared_address(&barrier));
    for (auto& barrier : of_b.full) on_full(ptx::shared_address(&barrier));
    for (auto& barrier : of_a.empty) on_empty(ptx::shared_address(&barrier));
    for (auto& barrier : of_b.empty) on_empty(ptx::shared_address(&barrier));
  }
};

// Common to all tiles of split operands: two consumer warpgroups and one producer warpgroup.
template <class Format_, int kProducts_, int BM_, int BN_, int kConsumerRegisters_,
          int kProducerRegisters_>
struct SplitShape {
  using Format = Format_;
  using In = typename Format::Term;
  using Out = float;
  using Term = typename Format::Term;
  static constexpr int BM = BM_, BN = BN_, BK = Format::BK;
  static constexpr int WM = 64, WN = BN;  // outputs per warpgroup
  static constexpr int kWarpgroups = 2;
  static constexpr int kSums = WM * WN / kWarpgroup;  // per thread
  static constexpr int kProducts = kProducts_;
  static constexpr std::uint64_t kPairsOfTerms = kPairs<Format::kTerms, kProducts>;
  static_assert(kPairsOfTerms != 0, "a list of products");
  static constexpr int kHalf = BN < 128 ? BN : 128;  // columns per promotion
  static constexpr int kHalves = BN / kHalf;
  static constexpr int kPartials = WM * kHalf / kWarpgroup;        // per thread
  static constexpr int kThreads = (kWarpgroups + 1) * kWarpgroup;  // warpgroup 0: producer
  static constexpr int kConsumerRegisters = kConsumerRegisters_,
                       kProducerRegisters = kProducerRegisters_;
  // Accumulators have the layout of 16-bit products, also for TF32 terms.
  static constexpr bool kTf32 = false, kScaled = false;
  static_assert(BN % kHalf == 0, "halves must cover the tile");
  static_assert(kWarpgroups * kConsumerRegisters + kProducerRegisters <= 3 * 168,
                "registers at launch: 65,536 over 384 threads, by eights");
  struct Stage {};  // required by Product; unused here
};

// Each consumer warpgroup computes 64 of the tile's BM rows. If those are 64 (kPingPong), the
// warpgroups alternate slabs, and the epilogue adds the sums of both.
template <class Format, int kProducts, int BM, int BN, int kUnitsA_, int kUnitsB_>
struct SplitTile : SplitShape<Format, kProducts, BM, BN, 232, 40> {
  using Shape = typename SplitTile::SplitShape;
  static constexpr bool kPingPong = BM == Shape::WM;
  static constexpr int kUnitsA = kUnitsA_, kUnitsB = kUnitsB_;
  static constexpr int kReaders = BM / Shape::WM * 4;  // warps that read a unit
  static constexpr int kStepBytes = 32;                // bytes of k per wgmma
  using UnitA = TermUnit<Format, Shape::BM>;
  using UnitB = TermUnit<Format, Shape::kHalf>;
  using Shared = UnitRings<UnitA, kUnitsA, UnitB, kUnitsB>;
};

template <class Format, int kProducts, int BN, int kUnitsA, int kUnitsB>
struct CooperativeTile : SplitTile<Format, kProducts, 128, BN, kUnitsA, kUnitsB> {
  static_assert(sizeof(typename CooperativeTile::Shared) <= kMaxSharedBytes,
                "a block's shared memory");
};

// For few tiles: half as many rows, so that more SMs have a tile. Per slab this tile reads 64 rows
// and 128 columns. 128 rows by 64 columns would exceed the shared-memory bandwidth, because wgmma
// reads its 64 rows again per 64 columns.
template <class Format, int kProducts, int kUnits_>
struct PingPongTile : SplitTile<Format, kProducts, 64, 128, kUnits_, kUnits_> {
  struct Shared : PingPongTile::SplitTile::Shared {
    // The sums that each warpgroup sends to the other: (float4 index, thread).
    float4 given[PingPongTile::kWarpgroups][PingPongTile::kSums / 8][kWarpgroup];
  };
  static_assert(sizeof(Shared) <= kMaxSharedBytes, "a block's shared memory");
};

// Multiplies one half of a slab for the tile's rows from `row` on, in one wgmma group. kLastApart:
// in two, of which the last product is the second. Overwrites `partial`.
template <class T, bool kLastApart>
__device__ __forceinline__ void multiply_terms(float (&partial)[T::kPartials],
                                               const typename T::UnitA& a,
                                               const typename T::UnitB& b, int row) {
  constexpr int kSlab = T::Format::kSlabBytes;
  ptx::wgmma_fence();
#pragma unroll
  for (int i = 0; i < T::kProducts; ++i) {
    const TermPair pair = term_pair<T>(i);
    const std::uint32_t at_a = ptx::shared_address(a.vector[pair.a][row]);
    const std::uint32_t at_b = ptx::shared_address(b.vector[pair.b]);
#pragma unroll
    for (int step = 0; step < kSlab; step += T::kStepBytes) {
      const auto matrix_a = ptx::matrix_descriptor<kSlab>(at_a + step, 8 * kSlab);
      const auto matrix_b = ptx::matrix_descriptor<kSlab>(at_b + step, 8 * kSlab);
      ptx::wgmma_shared<typename T::Term, false>(partial, matrix_a, matrix_b, i > 0 || step > 0);
    }
    if (kLastApart && i == T::kProducts - 2) ptx::wgmma_commit();
  }
  ptx::wgmma_commit();
}

// Promotion: adds a slab's partial sums to the FP32 accumulators, rounding to nearest. The tensor
// core truncates, so the sums that it computes alone must be short. kCompensated: the factor `up`
// compensates the mean truncation error.
template <class T, bool kCompensated>
__device__ __forceinline__ void promote(float* sums, const float (&partial)[T::kPartials],
                                        float up) {
#pragma unroll
  for (int i = 0; i < T::kPartials; ++i) {
    sums[i] = kCompensated ? __fmaf_rn(partial[i], up, sums[i]) : sums[i] + partial[i];
  }
}

// Measured: other products rarely start both warpgroups together, and the order then costs up to
// 5%. Tiles of two halves have no registers left for it.
template <class T, bool kGuarded>
constexpr bool kTakesTurns = T::kHalves == 1 && (kGuarded || T::kPingPong);

// A block's two consumer warpgroups start their products alternately. A warpgroup starts once only
// the last product of the other's preceding ones is under way. So the tensor cores multiply for one
// warpgroup during the other's promotion. Without an order, some blocks start both warpgroups at
// the same time, and keep doing so: the tensor cores then idle during both promotions
// (docs/lab/guard-cost.md, "The warpgroups' phase"). One object serves the whole of a kernel. No
// arrival at a barrier runs ahead of a wait: between two arrivals a warpgroup waits for the one of
// the other warpgroup, which follows the wait for the first of the two.
template <bool kOn>
class Turns {
 public:
  __device__ __forceinline__ explicit Turns(int warpgroup) : warpgroup_(warpgroup) {
    if (kOn && warpgroup_ == 1) arrive();  // the first turn is warpgroup 0's
  }
  __device__ __forceinline__ void wait() const {
    if (kOn) ptx::barrier_sync(kBarrier + warpgroup_, kThreads);
  }
  // Behind multiply_terms(), whose second wgmma group is the last product.
  __device__ __forceinline__ void pass_on() const {
    if (!kOn) return;
    ptx::wgmma_wait<1>();
    arrive();
  }
  // `next`: the warpgroup that has the turn after the last product.
  __device__ __forceinline__ void end(int next) const {
    if (kOn && warpgroup_ == next) ptx::barrier_sync(kBarrier + next, kThreads);
  }

 private:
  static constexpr int kBarrier = 3;  // and 4; 1 and 2 are of store_both() and the warpgroups
  static constexpr int kThreads = 2 * kWarpgroup;
  __device__ __forceinline__ void arrive() const {
    ptx::barrier_arrive(kBarrier + 1 - warpgroup_, kThreads);
  }
  int warpgroup_;
};

}  // namespace ladder
