// SPDX-License-Identifier: Apache-2.0
// The producer of the kernels whose operands are words: one thread for each operand keeps that operand's ring of units full.
#pragma once
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ring.cuh"
#include "device/schedule.cuh"

#include <cstdint>

namespace ladder::split_detail {

// A ring's barriers: a unit is full, or read by all.
template <int kUnits>
struct RingBarriers {
  std::uint64_t (&full)[kUnits], (&empty)[kUnits];
};

// Has all units copied that this block's tiles need, in order: of each slab kPieces. line(tile): the first line of a tile;
// load(unit, barrier, line, piece, slab) starts the copy. The first unit comes alone: all blocks begin at the same time, and
// whatever else they ask for would only make it late.
template <int kPieces, class Order, int kUnits, class Line, class Load>
__device__ __forceinline__ void fill_ring(const Plan& plan, const RingBarriers<kUnits>& barriers, Line line,
                                          Load load) {
  auto ring = Ring<kUnits>::of_producer();
  bool first_unit = true;
  Order order(plan, static_cast<int>(blockIdx.x));
  for (Work work; order.next(work);) {
    const int first = line(work.tile);
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step) {
#pragma unroll 1
      for (int piece = 0; piece < kPieces; ++piece) {
        ptx::mbarrier_wait(ptx::shared_address(&barriers.empty[ring.stage()]), ring.parity());
        load(ring.stage(), ptx::shared_address(&barriers.full[ring.stage()]), first, piece, step);
        if (first_unit) ptx::mbarrier_wait(ptx::shared_address(&barriers.full[0]), 0);
        first_unit = false;
        ring.advance();
      }
    }
  }
}

}  // namespace ladder::split_detail
