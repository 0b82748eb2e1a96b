// SPDX-License-Identifier: Apache-2.0
// Prints the runtime's answers to launches with clusters, and the special registers of their
// blocks. clusters.h200 is the output on an H200; the virtual GPU must print the same.
#include <cuda_runtime.h>

#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

__global__ void anywhere(int* out) {
  int rank = 0, blocks = 0, cluster = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
  if (threadIdx.x == 0 && out != nullptr) {
    out[blockIdx.y * gridDim.x + blockIdx.x] = 10000 * cluster + 100 * blocks + rank;
  }
}
__global__ void __cluster_dims__(2, 1, 1) pairs(int* out) {
  int rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0 && out != nullptr) out[blockIdx.x] = rank;
}
__global__ void large(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 1;
  if (out != nullptr) *out = tile[0];
}

namespace {

void answer(const std::string& call, cudaError_t error) {
  std::printf("%-60s %s, last %d\n", call.c_str(), cudaGetErrorName(error),
              static_cast<int>(cudaGetLastError()));
}

std::string text(dim3 d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

struct Launch {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  Launch(dim3 grid, dim3 cluster, unsigned threads = 32, std::size_t shared = 0) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
};

void launch(const char* name, void (*kernel)(int*), dim3 grid, dim3 cluster) {
  const Launch l(grid, cluster);
  const cudaError_t error = cudaLaunchKernelEx(&l.config, kernel, static_cast<int*>(nullptr));
  answer(std::string(name) + ", grid " + text(grid) + ", cluster " + text(cluster), error);
  cudaDeviceSynchronize();
}

void show(const char* name, const int* out, int count) {
  std::vector<int> host(static_cast<std::size_t>(count));
  if (cudaMemcpy(host.data(), out, host.size() * sizeof(int), cudaMemcpyDeviceToHost) !=
      cudaSuccess)
    return;
  std::printf("%s:", name);
  for (const int value : host) std::printf(" %d", value);
  std::printf("\n");
}

}  // namespace

int main() {
  for (const dim3 cluster : {dim3(1), dim3(2), dim3(3), dim3(4, 2), dim3(8), dim3(16),
                             dim3(2, 2, 2), dim3(1, 1, 4), dim3(0)}) {
    launch("anywhere", anywhere, dim3(48, 4, 4), cluster);
  }
  launch("anywhere", anywhere, dim3(7), dim3(2));
  launch("anywhere", anywhere, dim3(4, 3), dim3(1, 2));
  launch("pairs", pairs, dim3(8), dim3(2));
  launch("pairs", pairs, dim3(8), dim3(4));
  launch("pairs", pairs, dim3(8), dim3(1));
  pairs<<<7, 32>>>(nullptr);
  answer("pairs<<<7, 32>>>", cudaPeekAtLastError());
  pairs<<<8, 32>>>(nullptr);
  answer("pairs<<<8, 32>>>", cudaPeekAtLastError());
  answer("non-portable",
         cudaFuncSetAttribute(anywhere, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  launch("anywhere", anywhere, dim3(48), dim3(16));
  launch("anywhere", anywhere, dim3(48), dim3(12));
  launch("anywhere", anywhere, dim3(96), dim3(32));

  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  const Launch four(dim3(8, 2), dim3(4, 2));
  answer("cluster 4x2", cudaLaunchKernelEx(&four.config, anywhere, out));
  show("ranks of 4x2", out, 16);
  pairs<<<8, 32>>>(out);
  show("ranks of pairs", out, 8);

  cudaFuncAttributes attributes{};
  answer("attributes of pairs", cudaFuncGetAttributes(&attributes, pairs));
  std::printf("must be set %d, required %d x %d x %d, non-portable %d\n",
              attributes.clusterDimMustBeSet, attributes.requiredClusterWidth,
              attributes.requiredClusterHeight, attributes.requiredClusterDepth,
              attributes.nonPortableClusterSizeAllowed);
  answer("attributes of anywhere", cudaFuncGetAttributes(&attributes, anywhere));
  std::printf("must be set %d, required %d x %d x %d, non-portable %d\n",
              attributes.clusterDimMustBeSet, attributes.requiredClusterWidth,
              attributes.requiredClusterHeight, attributes.requiredClusterDepth,
              attributes.nonPortableClusterSizeAllowed);
  int blocks = -1;
  const Launch any(dim3(64), dim3(1));
  answer("potential size of large",
         cudaOccupancyMaxPotentialClusterSize(&blocks, large, &any.config));
  std::printf("%d\n", blocks);
  answer("potential size of anywhere",
         cudaOccupancyMaxPotentialClusterSize(&blocks, anywhere, &any.config));
  std::printf("%d\n", blocks);
  return 0;
}
