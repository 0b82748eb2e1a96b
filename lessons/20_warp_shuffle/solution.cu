// SPDX-License-Identifier: Apache-2.0
// A tree in each warp's registers, then one over the warps.
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr unsigned kAll = 0xffffffff;

__global__ void sum(const float* x, float* sums, int count) {
  __shared__ float s[WARPS];
  const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
  const int lane = t % 32, warp = t / 32;
  float v = i < count ? x[i] : 0.0f;
  for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(kAll, v, distance);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  if (warp != 0) return;
  v = lane < WARPS ? s[lane] : 0.0f;
  for (int distance = WARPS / 2; distance > 0; distance /= 2)
    v += __shfl_down_sync(kAll, v, distance);
  if (lane == 0) sums[blockIdx.x] = v;
}

void launch(const float* x, float* sums, int count) {
  sum<<<(count + THREADS - 1) / THREADS, THREADS>>>(x, sums, count);
}
