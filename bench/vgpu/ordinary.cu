// SPDX-License-Identifier: Apache-2.0
// What many programs do besides multiplying matrices: sorting, counting, searching, prefix sums, a
// stencil, random numbers. `ordinary NAME` launches one of them; `ordinary nothing` only starts the
// runtime.
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

namespace {

constexpr int kThreads = 256;

// Bitonic sort of keys with their places, 512 per block, in shared memory.
__global__ void sort(const unsigned* in, unsigned* out, int) {
  __shared__ unsigned keys[2 * kThreads], places[2 * kThreads];
  const unsigned t = threadIdx.x, first = blockIdx.x * 2 * kThreads;
  for (unsigned i = t; i < 2 * kThreads; i += kThreads) keys[i] = in[first + i], places[i] = i;
  for (unsigned size = 2; size <= 2 * kThreads; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned low = 2 * t - (t & (stride - 1)), high = low + stride;
      const bool up = (low & size) == 0;
      if ((keys[low] > keys[high]) == up) {
        const unsigned key = keys[low], place = places[low];
        keys[low] = keys[high], places[low] = places[high];
        keys[high] = key, places[high] = place;
      }
    }
  }
  __syncthreads();
  for (unsigned i = t; i < 2 * kThreads; i += kThreads) out[first + i] = keys[i] ^ places[i];
}

// Counts of values modulo 256, by atomics on shared memory and then on global memory.
__global__ void count(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    for (unsigned value = in[i], k = 0; k < 4; ++k, value >>= 8)
      atomicAdd(&counts[value & 255], 1u);
  }
  __syncthreads();
  atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}

// The same with a byte for each thread and value modulo 64: neighbouring threads share words.
__global__ void count_in_bytes(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned char counts[64 * kThreads];
  for (int i = threadIdx.x; i < 16 * kThreads; i += kThreads)
    reinterpret_cast<unsigned*>(counts)[i] = 0;
  __syncthreads();
  const int place = (threadIdx.x & 63) * 4 + threadIdx.x / 64;
  const int first = blockIdx.x * kThreads + threadIdx.x;
  for (int i = first, k = 0; i < n && k < 255; i += gridDim.x * kThreads, ++k)
    ++counts[(in[i] & 63) * kThreads + place];
  __syncthreads();
  unsigned sum = 0;
  for (int i = 0; i < 64; ++i) sum += (i + 1) * counts[threadIdx.x % 64 * kThreads + i];
  out[first] = sum;
}

// Binary search of each value in the sorted squares, from divergent addresses in global memory.
__global__ void search(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const unsigned value = in[i];
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (in[middle] < value)
      low = middle + 1;
    else
      high = middle - (in[middle] == value);
  }
  out[i] = low;
}

// Prefix sums of 1024 numbers per block: four in each thread, the sums of threads in shared memory.
__global__ void scan(const uint4* in, uint4* out, int) {
  __shared__ unsigned sums[2 * kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  uint4 v = in[i];
  v.y += v.x, v.z += v.y, v.w += v.z;
  sums[t] = 0;
  sums[kThreads + t] = v.w;
  for (int distance = 1; distance < kThreads; distance *= 2) {
    __syncthreads();
    const unsigned sum = sums[kThreads + t] + sums[kThreads + t - distance];
    __syncthreads();
    sums[kThreads + t] = sum;
  }
  const unsigned before = sums[kThreads + t] - v.w;
  out[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
}

// Weighted sums of 17 neighbours in rows of 128, by blocks of 16 x 16 threads.
__global__ void stencil(const float* in, float* out, int) {
  constexpr int kRadius = 8, kWidth = 16;
  __shared__ float tile[kWidth][128 + 2 * kRadius];
  const int x = threadIdx.x % kWidth, y = threadIdx.x / kWidth;
  const float* const row = in + (blockIdx.x * kWidth + y) * 128;
  for (int i = x; i < 128 + 2 * kRadius; i += kWidth)
    tile[y][i] = i < kRadius || i >= 128 + kRadius ? 0 : row[i - kRadius];
  __syncthreads();
  for (int i = x; i < 128; i += kWidth) {
    float sum = 0;
    for (int k = -kRadius; k <= kRadius; ++k)
      sum += tile[y][i + kRadius + k] / static_cast<float>(1 << (k < 0 ? -k : k));
    out[(blockIdx.x * kWidth + y) * 128 + i] = sum;
  }
}

// Means of exponentials of normal random numbers (xorshift, Box-Muller).
__global__ void simulate(const unsigned* in, float* out, int) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  unsigned state = in[i] | 1;
  const auto next = [&state] {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return (static_cast<float>(state >> 8) + 0.5F) * 0x1p-24F;
  };
  float sum = 0;
  for (int k = 0; k < 64; ++k) {
    const float radius = sqrtf(-2 * logf(next()));
    float sine, cosine;
    __sincosf(6.2831853F * next(), &sine, &cosine);
    sum += __expf(0.1F * radius * sine) + __expf(0.1F * radius * cosine);
  }
  out[i] = sum / 128;
}

template <class In, class Out>
void launch(void (*kernel)(In*, Out*, int), int blocks, const unsigned* in, unsigned* out, int n) {
  kernel<<<blocks, kThreads>>>(reinterpret_cast<In*>(in), reinterpret_cast<Out*>(out), n);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc == 2 ? argv[1] : "";
  constexpr int kCount = 1 << 20;
  std::vector<unsigned> values(kCount);
  const bool sorted = std::strcmp(name, "search") == 0, numbers = std::strcmp(name, "stencil") == 0;
  for (unsigned i = 0; i < kCount; ++i) values[i] = sorted ? 16 * i : i * 2654435761u;
  if (numbers) std::memset(values.data(), 0, kCount * sizeof(unsigned));
  unsigned *in = nullptr, *out = nullptr;
  cudaMalloc(&in, kCount * sizeof(unsigned));
  cudaMalloc(&out, kCount * sizeof(unsigned));
  cudaMemcpy(in, values.data(), kCount * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, kCount * sizeof(unsigned));
  if (std::strcmp(name, "sort") == 0)
    launch(sort, kCount / 2 / kThreads, in, out, kCount);
  else if (std::strcmp(name, "count") == 0)
    launch(count, 64, in, out, kCount);
  else if (std::strcmp(name, "count_in_bytes") == 0)
    launch(count_in_bytes, 64, in, out, kCount);
  else if (std::strcmp(name, "search") == 0)
    launch(search, kCount / kThreads / 4, in, out, kCount);
  else if (std::strcmp(name, "scan") == 0)
    launch(scan, kCount / 4 / kThreads, in, out, kCount);
  else if (std::strcmp(name, "stencil") == 0)
    launch(stencil, kCount / 128 / 16, in, out, kCount);
  else if (std::strcmp(name, "simulate") == 0)
    launch(simulate, kCount / kThreads / 16, in, out, kCount);
  else if (std::strcmp(name, "nothing") != 0) {
    std::fprintf(stderr,
                 "ordinary: '%s': must be sort, count, count_in_bytes, search, scan, stencil, "
                 "simulate or nothing\n",
                 name);
    return 2;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::fprintf(stderr, "ordinary: %s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
