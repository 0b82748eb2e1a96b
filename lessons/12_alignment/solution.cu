// SPDX-License-Identifier: Apache-2.0
// The first thread does the head, the last one the tail, all others four elements each.
__global__ void twice(const float* x, float* y, int count, int head) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int quads = (count - head) / 4;
  if (thread < quads) {
    const int i = head + 4 * thread;
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(y + i) = float4{2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
  }
  if (thread == 0) {
    for (int j = 0; j < head; ++j) y[j] = 2 * x[j];
    for (int j = head + 4 * quads; j < count; ++j) y[j] = 2 * x[j];
  }
}

void launch(const float* x, float* y, int count) {
  const int misaligned = static_cast<int>(reinterpret_cast<size_t>(x) % 16 / 4);
  int head = misaligned == 0 ? 0 : 4 - misaligned;
  if (head > count) head = count;
  const int threads = (count + 3) / 4 + 1;
  twice<<<(threads + 127) / 128, 128>>>(x, y, count, head);
}
