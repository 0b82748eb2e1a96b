// SPDX-License-Identifier: Apache-2.0
// A block's two consumer warpgroups start their products alternately. A warpgroup starts once only
// the last product of the other's preceding ones is under way. So the tensor cores multiply for one
// warpgroup during the other's promotion. Without an order, some blocks start both warpgroups at
// the same time, and keep doing so: the tensor cores then idle during both promotions
// (docs/lab/guard-cost.md, "The warpgroups' phase").
#pragma once
#include "device/ptx/library.cuh"
#include "device/ptx/sync.cuh"
#include "device/ptx/wgmma.cuh"
#include "gemm/tensor/tensor_tile.cuh"

namespace ladder {

// Measured: other products rarely start both warpgroups together, and the order then costs up to
// 5%. Tiles of two halves have no registers left for it.
template <class T, bool kGuarded>
constexpr bool kTakesTurns = T::kHalves == 1 && (kGuarded || T::kPingPong);

// For the whole of a kernel. No arrival at a barrier runs ahead of a wait: between two arrivals a
// warpgroup waits for the other's, which follows the wait for the first of the two.
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
