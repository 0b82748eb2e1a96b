// SPDX-License-Identifier: Apache-2.0
// The order in which a block's two consumer warpgroups start their products. A warpgroup starts
// once only the last product of the other's preceding ones is under way. So the tensor cores
// multiply for one warpgroup during the other's promotion. Without an order, some blocks start both
// warpgroups at the same time, and keep doing so: the tensor cores then idle during both promotions
// (docs/lab/guard-cost.md).
#pragma once
#include "device/ptx/library.cuh"
#include "device/ptx/sync.cuh"
#include "device/schedule.cuh"
#include "gemm/split/tile.cuh"

namespace ladder {

// Of one work item. The warpgroups multiply the same halves of slabs, or slabs in alternation
// (T::kPingPong).
template <class T>
class Turns {
 public:
  __device__ __forceinline__ Turns(int warpgroup, const Work& work)
      : warpgroup_(warpgroup), first_(work.begin), last_(work.end - 1) {}

  // Before a start, but for the first one of both warpgroups.
  __device__ __forceinline__ void wait(int step, int half) const {
    const bool opens = step == first_ && half == 0 && (T::kPingPong || warpgroup_ == 0);
    if (!opens) ptx::barrier_sync(kBarrier + warpgroup_, kThreads);
  }
  // Lets the other warpgroup start, but for behind the last products of both.
  __device__ __forceinline__ void pass_on(int step, int half) const {
    const bool closes =
        step == last_ && half == T::kHalves - 1 && (T::kPingPong || warpgroup_ == 1);
    if (!closes) ptx::barrier_arrive(kBarrier + 1 - warpgroup_, kThreads);
  }

 private:
  static constexpr int kBarrier = 2;  // and 3; 1 is store_both()'s
  static constexpr int kThreads = T::kWarpgroups * kWarpgroup;
  static_assert(T::kWarpgroups == 2);
  int warpgroup_, first_, last_;
};

}  // namespace ladder
