// SPDX-License-Identifier: Apache-2.0
// Staggers the epilogues of a block's two consumer warpgroups. Some stages before the end of its
// tile, the second warpgroup drains its products and waits until the first one has started all of
// its own. The tensor cores then compute products of one warpgroup during the other's epilogue.
// Without the stagger, both epilogues coincide and the tensor cores idle. The stagger affects only
// the timing of products, not their results.
#pragma once
#include "device/ptx/library.cuh"
#include "device/ptx/sync.cuh"
#include "device/schedule.cuh"
#include "gemm/tensor/tensor_tile.cuh"

#include <type_traits>

namespace ladder {

// Whether the schedule's current work is its last; false if the schedule does not know.
template <class Order>
__device__ __forceinline__ bool ends_with(const Order& schedule) {
  if constexpr (requires { schedule.at_last(); }) return schedule.at_last();
  return false;
}

// kOn = false: no stagger.
template <class T, bool kOn>
class Stagger {
 public:
  // No stagger for work with fewer steps than pipeline stages. With at least as many, the first
  // warpgroup reaches its next end only after the second one has released a stage behind this wait,
  // so that no warpgroup arrives at the barrier twice.
  __device__ __forceinline__ Stagger(int warpgroup, const Work& work, bool last) {
    const bool taken = kOn && work.end - work.begin >= T::STAGES;
    passes_on_ = taken && warpgroup == 0;
    due_ = taken && warpgroup == 1 ? work.end - (last ? T::STAGES : kAhead) : work.end;
  }

  // Whether the warpgroup must drain its products, release all stages and wait() before this step.
  __device__ __forceinline__ bool due(int step) const { return kOn && step == due_; }
  __device__ __forceinline__ void wait() const { ptx::barrier_sync(kBarrier, 2 * kWarpgroup); }
  // Called after all products of the work have been started.
  __device__ __forceinline__ void pass_on() const {
    if (passes_on_) ptx::barrier_arrive(kBarrier, 2 * kWarpgroup);
  }

 private:
  // Stages before the end. Measured: 16-bit types are slower with more than one, except in the last
  // tile; TF32 is faster with three.
  static constexpr int kAhead = std::is_same_v<typename T::In, float> ? 3 : 1;
  static constexpr int kBarrier = 1 + T::kWarpgroups;  // lower ids: the warpgroups' own barriers
  static_assert(!kOn || T::kWarpgroups == 2);
  int due_;
  bool passes_on_;
};

}  // namespace ladder
