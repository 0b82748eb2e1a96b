// SPDX-License-Identifier: Apache-2.0
// A warp's position in a pipeline: the next stage, and the parity of the barrier phase to wait for.
#pragma once
#include <cstdint>

namespace ladder {

template <int kStages>
class Ring {
 public:
  // A consumer waits for full barriers. A producer waits for empty barriers; its waits in the first
  // round succeed at once.
  __device__ __forceinline__ static Ring of_consumer() { return Ring(0); }
  __device__ __forceinline__ static Ring of_producer() { return Ring(1); }

  __device__ __forceinline__ int stage() const { return stage_; }
  __device__ __forceinline__ std::uint32_t parity() const { return parity_; }
  __device__ __forceinline__ void advance() {
    if (++stage_ == kStages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

 private:
  __device__ __forceinline__ explicit Ring(std::uint32_t parity) : parity_(parity) {}
  int stage_ = 0;
  std::uint32_t parity_;
};

}  // namespace ladder
