// SPDX-License-Identifier: Apache-2.0
// Steps back to the multiple of 16 before x. A thread whose four elements are not all inside does
// them one by one.
__global__ void twice(const float* x, float* y, int count, int back) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x) - back;
  if (i >= 0 && i + 4 <= count) {
    float4 v = *reinterpret_cast<const float4*>(x + i);
    v.x += v.x, v.y += v.y, v.z += v.z, v.w += v.w;
    *reinterpret_cast<float4*>(y + i) = v;
    return;
  }
  for (int j = i < 0 ? 0 : i; j < i + 4 && j < count; ++j) y[j] = 2 * x[j];
}

void launch(const float* x, float* y, int count) {
  const int back = static_cast<int>(reinterpret_cast<size_t>(x) / 4 % 4);
  const int threads = (count + back + 3) / 4;
  twice<<<(threads + 255) / 256, 256>>>(x, y, count, back);
}
