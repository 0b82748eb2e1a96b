// SPDX-License-Identifier: Apache-2.0
// malloc, free, new and delete in kernels. Correct without an argument; else one misuse: twice,
// bad, past, freed, leak.
#include <cstdint>
#include <cstring>

#include "require.hpp"

__device__ int destroyed;
struct Pair {
  int first, second;
  __device__ Pair() : first(7), second(8) {}
  __device__ ~Pair() { atomicAdd(&destroyed, 1); }
};
__device__ int* kept[64];
__device__ Pair* pairs[4];

__global__ void take() {
  int* const mine = static_cast<int*>(malloc(100 * sizeof(int)));
  for (int i = 0; i < 100; ++i) mine[i] = static_cast<int>(threadIdx.x) + i;
  kept[threadIdx.x] = mine;
}
__global__ void give(int* sums, int* misaligned) {
  const int* const mine = kept[63 - threadIdx.x];
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += mine[i];
  sums[63 - threadIdx.x] = sum;
  if (reinterpret_cast<std::uintptr_t>(mine) % 16 != 0) *misaligned = 1;
  free(kept[63 - threadIdx.x]);
  free(nullptr);
}
__global__ void exhaust(int* count, std::size_t bytes) {
  void* last = nullptr;
  *count = 0;
  while (void* const block = malloc(bytes)) {
    std::memcpy(block, &last, sizeof last);
    last = block;
    ++*count;
  }
  while (last != nullptr) {
    void* next;
    std::memcpy(&next, last, sizeof next);
    free(last);
    last = next;
  }
}
__global__ void divergent(int* wrong) {  // only some lanes call
  int* mine = nullptr;
  if (threadIdx.x % 3 == 1) mine = static_cast<int*>(malloc(threadIdx.x * sizeof(int)));
  if ((mine != nullptr) != (threadIdx.x % 3 == 1)) *wrong = 1;
  if (mine != nullptr) mine[threadIdx.x - 1] = 1;
  free(mine);
}
__global__ void create(int n) { pairs[threadIdx.x] = new Pair[n]; }
__global__ void destroy(int* sum, int n) {
  for (int i = 0; i < n; ++i)
    atomicAdd(sum, pairs[threadIdx.x][i].first + pairs[threadIdx.x][i].second);
  delete[] pairs[threadIdx.x];
}

__global__ void frees_twice() {
  free(kept[5]);
  free(kept[5]);
}
__global__ void frees_bad() { free(kept[5] + 1); }
__global__ void writes_past() { kept[5][100] = 1; }
__global__ void reads_freed(int* out) {
  free(kept[5]);
  *out = *kept[5];
}

int main(int argc, char** argv) {
  constexpr std::size_t kHeap = 4 << 20;
  const auto named = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  int *numbers, host[64];
  require(cudaMalloc(&numbers, sizeof host));
  require(cudaMemset(numbers, 0, sizeof host));
  require(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1));  // 4 MB at least
  take<<<1, 64>>>();
  if (named("twice")) frees_twice<<<1, 1>>>();
  if (named("bad")) frees_bad<<<1, 1>>>();
  if (named("past")) writes_past<<<1, 1>>>();
  if (named("freed")) reads_freed<<<1, 1>>>(numbers);
  if (named("leak")) return 0;
  if (argc > 1) {
    require(cudaDeviceSynchronize() != cudaSuccess, "the misuse is found");
    return 0;
  }
  require(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 * kHeap), cudaErrorInvalidValue,
          "too late");
  std::size_t limit = 0;
  require(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  require(limit == kHeap, "the least heap");

  int* misaligned;
  require(cudaMalloc(&misaligned, sizeof(int)));
  require(cudaMemset(misaligned, 0, sizeof(int)));
  give<<<1, 64>>>(numbers, misaligned);
  require(cudaMemcpy(host, numbers, sizeof host, cudaMemcpyDeviceToHost),
          "blocks live from launch to launch");
  for (int i = 0; i < 64; ++i) require(host[i] == 4950 + 100 * i, "a block's contents");

  for (int round = 0; round < 3; ++round) {  // all memory is free again
    exhaust<<<1, 1>>>(numbers, 16000);
    require(cudaMemcpy(host, numbers, sizeof(int), cudaMemcpyDeviceToHost));
    require(host[0] > 40 && host[0] <= static_cast<int>(kHeap / 16000),
            "a null pointer when the heap is full");
  }
  exhaust<<<1, 1>>>(numbers, std::size_t{1} << 60);
  require(cudaMemcpy(host, numbers, sizeof(int), cudaMemcpyDeviceToHost), "more than there can be");
  require(host[0] == 0, "nothing of that size");

  divergent<<<2, 96>>>(misaligned);
  create<<<1, 4>>>(5);
  require(cudaMemset(numbers, 0, sizeof(int)));
  destroy<<<1, 4>>>(numbers, 5);
  require(cudaMemcpy(host, numbers, sizeof(int), cudaMemcpyDeviceToHost), "new and delete");
  require(host[0] == 4 * 5 * 15, "constructors");
  require(cudaMemcpyFromSymbol(host, destroyed, sizeof(int)));
  require(host[0] == 4 * 5, "destructors");
  require(cudaMemcpy(host, misaligned, sizeof(int), cudaMemcpyDeviceToHost));
  require(host[0] == 0, "alignment, and lanes that do not call");
  require(cudaFree(numbers));
  require(cudaFree(misaligned));
}
