// SPDX-License-Identifier: Apache-2.0
// The producer of split operands: one thread per operand fills that operand's pipeline.
#pragma once
#include "device/ring.cuh"
#include "device/schedule.cuh"
#include "gemm/split/tile.cuh"

#include <cstdint>

namespace ladder {

// Copies all units of this block's tiles, in order, kPieces per slab. vector(tile) is the first row
// or column of a tile. load(unit, barrier, vector, piece, slab) starts a copy. begin() waits until
// the operand is complete, and returns whether to copy; the first tile's position is computed
// before. Once the pipeline is full, proceeds() returns whether to go on. If not, the copies that
// were started have ended on return. The first unit is copied alone: all blocks start at the same
// time, and further copies would only delay it.
template <int kPieces, class Order, int kUnits, class VectorOf, class Begin, class Proceeds,
          class Load>
__device__ __forceinline__ void fill_ring(const Tiling& plan, const UnitBarriers<kUnits>& barriers,
                                          VectorOf vector, Begin begin, Proceeds proceeds,
                                          Load load) {
  const auto wait_for = [&](int units) {
    for (int unit = 0; unit < units; ++unit)
      ptx::mbarrier_wait(ptx::shared_address(&barriers.full[unit]), 0);
  };
  auto ring = Ring<kUnits>::of_producer();
  int started = 0;
  Order order(plan, static_cast<int>(blockIdx.x));
  for (Work work; order.next(work);) {
    const int first = vector(work.tile);
    if (started == 0 && !begin()) return;
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step) {
#pragma unroll 1
      for (int piece = 0; piece < kPieces; ++piece) {
        if (started == kUnits && !proceeds()) return wait_for(kUnits);
        ptx::mbarrier_wait(ptx::shared_address(&barriers.empty[ring.stage()]), ring.parity());
        load(ring.stage(), ptx::shared_address(&barriers.full[ring.stage()]), first, piece, step);
        if (started == 0) ptx::mbarrier_wait(ptx::shared_address(&barriers.full[0]), 0);
        ++started;
        ring.advance();
      }
    }
  }
  if (!proceeds()) wait_for(started);
}

constexpr int kBand = 16;  // tile rows

// The block must synchronise afterwards.
template <class T>
__device__ __forceinline__ void init_rings(const CUtensorMap& map_a, const CUtensorMap& map_b,
                                           typename T::Shared& s) {
  if (threadIdx.x != 0) return;
  s.for_each_barrier([](std::uint32_t full) { ptx::mbarrier_init(full, 1); },
                     [](std::uint32_t empty) { ptx::mbarrier_init(empty, T::kReaders); });
  ptx::fence_mbarrier_init();
  ptx::prefetch_tensor_map(map_a);
  ptx::prefetch_tensor_map(map_b);
}

constexpr int kSpareWarp = 3;  // of the producer warpgroup: it does not copy

// By the producer warpgroup, of which this is thread `thread`: warp 0 copies A, warp 1 copies B.
// Each waits only for its own pipeline and its own operand. begin_a(), begin_b(), proceeds(): see
// fill_ring().
template <class T, class Order, class BeginA, class BeginB, class Proceeds>
__device__ __forceinline__ void produce(const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        typename T::Shared& s, const Tiling& plan, int thread,
                                        BeginA begin_a, BeginB begin_b, Proceeds proceeds) {
  if (thread == 0) {
    fill_ring<1, Order>(
        plan, s.of_a, [&](int tile) { return place_of<kBand>(plan, tile).m * T::BM; }, begin_a,
        proceeds,
        [&](int unit, std::uint32_t full, int vector, int /*piece*/, int slab) {
          s.a[unit].load(map_a, full, vector, slab);
        });
  } else if (thread == 32) {
    fill_ring<T::kHalves, Order>(
        plan, s.of_b, [&](int tile) { return place_of<kBand>(plan, tile).n * T::BN; }, begin_b,
        proceeds,
        [&](int unit, std::uint32_t full, int vector, int half, int slab) {
          s.b[unit].load(map_b, full, vector + half * T::kHalf, slab);
        });
  }
}

}  // namespace ladder
