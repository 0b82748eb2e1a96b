// SPDX-License-Identifier: Apache-2.0
// Sums over the lanes of a warp.
#pragma once

namespace ladder {

// Adds each of `sums` over the lanes that differ in the bits from `far` down to `near`, and calls
// store(index, sum) once for each sum and each combination of the other bits. While there are
// several sums a lane keeps half of them and gives away the others.
template <int kCount, class Store>
__device__ __forceinline__ void add_lanes(float (&sums)[kCount], int far, int near, Store store,
                                          int index = 0) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (kCount > 1) {
    if (far < near) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) store(index + i, sums[i]);
      return;
    }
    constexpr int kHalf = kCount / 2;
    const bool upper = (lane & far) != 0;
    float kept[kHalf];
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float given = upper ? sums[i] : sums[i + kHalf];
      kept[i] = (upper ? sums[i + kHalf] : sums[i]) + __shfl_xor_sync(0xFFFFFFFFU, given, far);
    }
    add_lanes(kept, far / 2, near, store, index + (upper ? kHalf : 0));
  } else {
    const int same = far < near ? 0 : 2 * far - near;  // the lanes that get the same sum
    for (; far >= near; far /= 2) sums[0] += __shfl_xor_sync(0xFFFFFFFFU, sums[0], far);
    if ((lane & same) == 0) store(index, sums[0]);
  }
}

}  // namespace ladder
