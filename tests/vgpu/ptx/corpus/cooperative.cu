// SPDX-License-Identifier: Apache-2.0
// The toolkit's own abstractions: cooperative groups, cuda::barrier, asynchronous copies,
// pipelines, atomic_ref.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void groups(float* out, const float* in, int n) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  float x = cg::reduce(tile, in[block.thread_rank()], cg::plus<float>());
  if (x > 1) {
    const auto active = cg::coalesced_threads();
    x += active.shfl(x, 0) + static_cast<float>(active.size());
  }
  extern __shared__ float stage[];
  cg::memcpy_async(block, stage, in, sizeof(float) * n);
  cg::wait(block);
  out[block.thread_rank()] = stage[n - 1] + x + static_cast<float>(cg::this_grid().size());
}
__global__ void barriers(float* out, const float4* in) {
  __shared__ float4 stage[256];
  __shared__ alignas(Barrier) unsigned char place[sizeof(Barrier)];
  Barrier& barrier = *reinterpret_cast<Barrier*>(place);
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&stage[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<16>(16), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = stage[threadIdx.x ^ 1].x;
}
__global__ void stages(float* out, const float* in, int n) {
  __shared__ float buffer[2][128];
  auto pipeline = cuda::make_pipeline();
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    pipeline.producer_acquire();
    cuda::memcpy_async(&buffer[i & 1][threadIdx.x], &in[i * 128 + threadIdx.x], sizeof(float),
                       pipeline);
    pipeline.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipeline);
    sum += buffer[i & 1][threadIdx.x ^ 1];
    pipeline.consumer_release();
  }
  cuda::atomic_ref<float, cuda::thread_scope_device> total(out[0]);
  total.fetch_add(sum, cuda::memory_order_relaxed);
}
