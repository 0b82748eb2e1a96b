// SPDX-License-Identifier: Apache-2.0
// Of a block's two warpgroups the second one lets the first one end its tile first: it ends its
// products some stages before its own end and waits there until the first one has started all of
// its own. So the tensor cores have products of one while the other hands its sums over; without
// that both come to their ends together, and nothing is multiplied meanwhile. It waits for products
// only: what becomes of sums is the same.
#pragma once
#include "device/ptx/sync.cuh"
#include "device/ptx/warp.cuh"
#include "device/tensor_tile.cuh"
#include "gemm/tensor/tile_order.cuh"

#include <type_traits>

namespace ladder {

// Whether nothing follows what the schedule gave last, if it knows.
template <class Order>
__device__ __forceinline__ bool ends_with(const Order& schedule) {
  if constexpr (std::is_same_v<Order, WholeSchedule>) {
    return schedule.at_last();
  } else {
    return false;
  }
}

// kOn = false: they take none.
template <class T, bool kOn>
class WarpgroupTurns {
 public:
  // Of a piece of work that has fewer steps than the ring has stages they take none: with as many,
  // the first warpgroup comes to its next end only when the second one has released a stage behind
  // this wait, and a barrier is never arrived at twice.
  __device__ __forceinline__ WarpgroupTurns(int warpgroup, const Work& work, bool last) {
    const bool taken = kOn && work.end - work.begin >= T::STAGES;
    passes_on_ = taken && warpgroup == 0;
    due_ = taken && warpgroup == 1 ? work.end - (last ? T::STAGES : kAhead) : work.end;
  }

  // Whether the warpgroup has to let its products end, release all stages and wait() before it goes
  // on to this step.
  __device__ __forceinline__ bool due(int step) const { return kOn && step == due_; }
  __device__ __forceinline__ void wait() const { ptx::barrier_sync(kBarrier, 2 * kWarpgroup); }
  // All products of the piece have been started.
  __device__ __forceinline__ void pass_on() const {
    if (passes_on_) ptx::barrier_arrive(kBarrier, 2 * kWarpgroup);
  }

 private:
  // Stages. Measured: 16-bit types lose by more than one, but behind the last tile, where nothing
  // follows; tf32 gains by three.
  static constexpr int kAhead = std::is_same_v<typename T::In, float> ? 3 : 1;
  static constexpr int kBarrier = 1 + T::kWarpgroups;  // those before are the warpgroups' own
  static_assert(!kOn || T::kWarpgroups == 2);
  int due_;
  bool passes_on_;
};

}  // namespace ladder
