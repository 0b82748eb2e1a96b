// SPDX-License-Identifier: Apache-2.0
// The runtime's answers to launches with clusters, and the special registers of their blocks, as an
// H200 has them.
#include <vector>

#include "device_array.hpp"

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

__global__ void specified(int* out) { out[blockIdx.x] = __clusterDimIsSpecified() ? 1 : 0; }
__global__ void __cluster_dims__(1, 1, 1) specified_as_one(int* out) {
  out[blockIdx.x] = __clusterDimIsSpecified() ? 1 : 0;
}

namespace {

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

constexpr cudaError_t kBad = cudaErrorInvalidClusterSize;

void launch(void (*kernel)(int*), dim3 grid, dim3 cluster, cudaError_t expected = cudaSuccess,
            int line = __builtin_LINE()) {
  const Launch l(grid, cluster);
  fails(cudaLaunchKernelEx(&l.config, kernel, static_cast<int*>(nullptr)), expected, line);
  require(cudaDeviceSynchronize());
}

}  // namespace

int main() {
  for (const dim3 cluster :
       {dim3(1), dim3(2), dim3(3), dim3(4, 2), dim3(8), dim3(2, 2, 2), dim3(1, 1, 4)}) {
    launch(anywhere, dim3(48, 4, 4), cluster);
  }
  launch(anywhere, dim3(48, 4, 4), dim3(16), kBad);
  launch(anywhere, dim3(48, 4, 4), dim3(0), kBad);
  launch(anywhere, dim3(7), dim3(2), kBad);
  launch(anywhere, dim3(4, 3), dim3(1, 2), kBad);
  launch(pairs, dim3(8), dim3(2));
  launch(pairs, dim3(8), dim3(4), kBad);
  launch(pairs, dim3(8), dim3(1), kBad);
  pairs<<<7, 32>>>(nullptr);
  fails(cudaPeekAtLastError(), kBad);
  pairs<<<8, 32>>>(nullptr);
  succeeds(cudaPeekAtLastError());
  succeeds(cudaFuncSetAttribute(anywhere, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  launch(anywhere, dim3(48), dim3(16));
  launch(anywhere, dim3(48), dim3(12));
  launch(anywhere, dim3(96), dim3(32), kBad);

  const DeviceArray<int> ranks(16), ranks_of_pairs(8);
  const Launch four(dim3(8, 2), dim3(4, 2));
  succeeds(cudaLaunchKernelEx(&four.config, anywhere, ranks.get()));
  require(ranks.read() == std::vector{800, 801, 802, 803, 10800, 10801, 10802, 10803,  //
                                      804, 805, 806, 807, 10804, 10805, 10806, 10807},
          "ranks of 4x2");
  pairs<<<8, 32>>>(ranks_of_pairs.get());
  require(ranks_of_pairs.read() == std::vector{0, 1, 0, 1, 0, 1, 0, 1}, "ranks of pairs");
  const DeviceArray<int> is_specified(2);
  specified<<<2, 1>>>(is_specified.get());
  require(is_specified.read() == std::vector{0, 0}, "no cluster dimension");
  specified_as_one<<<2, 1>>>(is_specified.get());
  require(is_specified.read() == std::vector{1, 1}, "a cluster dimension of one");

  const auto has = [](void (*kernel)(int*), int set, int width, int height, int non_portable) {
    cudaFuncAttributes f{};
    succeeds(cudaFuncGetAttributes(&f, kernel));
    require(f.clusterDimMustBeSet == set && f.requiredClusterWidth == width &&
                f.requiredClusterHeight == height && f.requiredClusterDepth == height &&
                f.nonPortableClusterSizeAllowed == non_portable,
            "attributes");
  };
  has(pairs, 1, 2, 1, 0);
  has(anywhere, 0, 0, 0, 1);
  int blocks = -1;
  const Launch any(dim3(64), dim3(1));
  succeeds(cudaOccupancyMaxPotentialClusterSize(&blocks, large, &any.config));
  require(blocks == 8, "the potential size of large");
  succeeds(cudaOccupancyMaxPotentialClusterSize(&blocks, anywhere, &any.config));
  require(blocks == 16, "the potential size of anywhere");
}
