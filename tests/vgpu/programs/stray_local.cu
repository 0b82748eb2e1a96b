// SPDX-License-Identifier: Apache-2.0
// Vectors of four values, truncated at the end of a row. Far beyond the row more values are set to
// zero than the vector has: the writes leave the thread's array, which local memory on hardware
// permits. The sum is correct all the same.
#include <vector>

#include "device_array.hpp"

__global__ void sum_rows(const float* rows, float* sums, int columns, int pitch, int padded) {
  const float* const row = rows + blockIdx.x * pitch;
  const int column = static_cast<int>(threadIdx.x) * 4;
  int4 vector{};
  if (column < pitch) vector = *reinterpret_cast<const int4*>(row + column);
  if (column < padded && column + 4 > columns) {
    float* end = reinterpret_cast<float*>(&vector) + 4;
    for (int beyond = column + 4 - columns; beyond > 0; --beyond) *--end = 0.0F;
  }
  const float* const values = reinterpret_cast<const float*>(&vector);
  float sum = 0.0F;
  for (int i = 0; i < 4; ++i) sum += values[(i + columns) % 4];
  atomicAdd(sums + blockIdx.x, sum);
}

// By generic addresses, on either side of the thread's local memory.
__device__ __noinline__ void put(int* at, int value) { *at = value; }
__device__ __noinline__ int get(const int* at) { return *at; }
__global__ void put_far(int* out, int distance) {
  int values[4] = {1, 2, 3, 4};
  put(values + 1, 5);
  put(values + distance, static_cast<int>(threadIdx.x));
  out[threadIdx.x] = get(values + distance) + get(values) + get(values + 1);
}

int main(int argc, char**) {
  constexpr int kRows = 5, kColumns = 18, kPitch = 20, kPadded = 128;
  std::vector<float> rows(kRows * kPitch, 100.0F);
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) rows[r * kPitch + c] = static_cast<float>(r + c);
  }
  float* const device = upload(rows);
  const DeviceArray<float> sums(kRows);
  sum_rows<<<kRows, 32>>>(device, sums.get(), kColumns, kPitch, kPadded);
  const std::vector<float> host = sums.read();
  if (argc > 1) {
    put_far<<<1, 32>>>(reinterpret_cast<int*>(device), 2000);
    require(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "beyond the thread's memory");
    return 0;
  }
  for (const int distance : {-200, 140}) {
    put_far<<<1, 32>>>(reinterpret_cast<int*>(device), distance);
    const std::vector<int> found = download(reinterpret_cast<const int*>(device), 32);
    for (int i = 0; i < 32; ++i)
      require(found[i] == i + 6, "what was written far away, and what is the thread's own");
  }
  for (int r = 0; r < kRows; ++r)
    require(host[r] == kColumns * r + kColumns * (kColumns - 1) / 2, "a row's sum");
}
