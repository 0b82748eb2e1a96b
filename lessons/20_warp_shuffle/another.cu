// SPDX-License-Identifier: Apache-2.0
// A butterfly: every lane has the sum at the end. One warp per block, eight numbers per lane.
constexpr int EACH = 8;

__global__ void sum(const float* x, float* sums, int count) {
  const int lane = threadIdx.x;
  float v = 0.0f;
  for (int e = 0; e < EACH; ++e) {
    const int i = blockIdx.x * 32 * EACH + e * 32 + lane;
    if (i < count) v += x[i];
  }
  for (int bit = 1; bit < 32; bit *= 2) v += __shfl_xor_sync(0xffffffff, v, bit);
  if (lane == 0) sums[blockIdx.x] = v;
}

void launch(const float* x, float* sums, int count) {
  const int per_block = 32 * EACH;
  sum<<<(count + per_block - 1) / per_block, 32>>>(x, sums, count);
}
