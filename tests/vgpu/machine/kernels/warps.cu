// SPDX-License-Identifier: Apache-2.0
// Instructions that communicate between lanes, and barriers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

extern "C" __global__ void shuffles(const int* in, int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const int v = in[lane];
  int* const row = out + lane * 10;
  row[0] = __shfl_sync(~0u, v, 5);
  row[1] = __shfl_sync(~0u, v, lane * 7, 8);
  row[2] = __shfl_up_sync(~0u, v, 3);
  row[3] = __shfl_up_sync(~0u, v, 2, 16);
  row[4] = __shfl_down_sync(~0u, v, 9);
  row[5] = __shfl_down_sync(~0u, v, 1, 4);
  row[6] = __shfl_xor_sync(~0u, v, 16);
  row[7] = __shfl_xor_sync(~0u, v, 3, 8);
  int value, inside;
  asm("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 20, 31, -1; selp.s32 %1, 1, 0, p; }"
      : "=r"(value), "=r"(inside)
      : "r"(v));
  row[8] = value;
  row[9] = inside;
}

extern "C" __global__ void votes(const int* in, unsigned* out) {
  const unsigned lane = threadIdx.x;
  const bool p = in[lane] > 0;
  unsigned* const row = out + lane * 10;
  row[0] = __ballot_sync(~0u, p);
  row[1] = static_cast<unsigned>(__any_sync(~0u, p));
  row[2] = static_cast<unsigned>(__all_sync(~0u, p));
  row[3] = static_cast<unsigned>(__uni_sync(~0u, p));
  row[4] = __match_any_sync(~0u, in[lane]);
  int same;
  row[5] = __match_all_sync(~0u, in[lane] / 1000, &same);
  row[6] = static_cast<unsigned>(same);
  row[7] = __reduce_add_sync(~0u, static_cast<unsigned>(in[lane]));
  row[8] = static_cast<unsigned>(__reduce_min_sync(~0u, in[lane]));
  row[9] = __reduce_xor_sync(~0u, static_cast<unsigned>(in[lane]));
}

// Groups of lanes that reach one instruction at different times, each with its own mask.
extern "C" __global__ void divided_masks(unsigned* out) {
  const unsigned lane = threadIdx.x;
  const unsigned mask = lane < 16 ? 0xffffu : 0xffff0000u;
  unsigned v = lane;
  if (lane >= 16) {
    for (unsigned k = 0; k < lane; ++k) v += k;
  }
  out[lane] = __shfl_xor_sync(mask, v, 1) + __popc(__activemask() & mask);
  if (lane % 2 == 0) {
    __syncwarp(0x55555555);
    out[lane] += __ballot_sync(0x55555555, lane % 4 == 0);
  } else {
    __syncwarp(0xaaaaaaaa);
    out[lane] += 1;
  }
}

// One half waits in one branch for the other half, which is in another branch.
extern "C" __global__ void barrier_in_branches(int* out) {
  __shared__ int values[32];
  const int lane = static_cast<int>(threadIdx.x);
  if (lane < 16) {
    values[lane] = lane * 2;
    __syncwarp();
    out[lane] = values[lane + 16];
  } else {
    values[lane] = lane * 3;
    __syncwarp();
    out[lane] = values[lane - 16];
  }
}

extern "C" __global__ void tiles(const int* in, int* out) {
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = static_cast<int>(threadIdx.x);
  out[i] = cg::reduce(tile, in[i], cg::plus<int>());
  if (i % 3 == 0) {
    const auto active = cg::coalesced_threads();
    out[i] += 1000 * static_cast<int>(active.size());
  }
}

extern "C" __global__ void special_registers(unsigned* out) {
  unsigned v[8];
  asm("mov.u32 %0, %%laneid;" : "=r"(v[0]));
  asm("mov.u32 %0, %%warpid;" : "=r"(v[1]));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(v[2]));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(v[3]));
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(v[4]));
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(v[5]));
  v[6] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
  v[7] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * gridDim.x + 10000 * gridDim.y +
         100000 * gridDim.z;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  for (int k = 0; k < 8; ++k)
    out[(block * blockDim.x * blockDim.y * blockDim.z + thread) * 8 + k] = v[k];
}

extern "C" __global__ void clocks(long long* out) {
  const long long begin = clock64();
  float v = static_cast<float>(threadIdx.x);
  for (int k = 0; k < 100; ++k) v = v * 1.5F + 1;
  out[threadIdx.x] = clock64() - begin;
  if (v == 12345) out[threadIdx.x] = -1;
}

// Polls the clock until `ticks` have passed. out[thread]: the number of polls.
extern "C" __global__ void waits(long long* out, long long ticks) {
  const long long begin = clock64();
  long long polls = 0;
  while (clock64() - begin < ticks) ++polls;
  out[threadIdx.x] = polls;
}

__device__ long long global_timer() {
  long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// Two blocks of two warps. Warp 0 of block 0 runs for long; all others read their clocks after it.
// out[2 * block + warp]: clock64; out[4 + block]: %globaltimer.
extern "C" __global__ void ordered_clocks(long long* out, volatile int* done) {
  const int warp = static_cast<int>(threadIdx.x) / 32, block = static_cast<int>(blockIdx.x);
  if (block == 1) {
    while (*done == 0) {
    }
  } else if (warp == 0) {
    float v = static_cast<float>(threadIdx.x);
    for (int k = 0; k < 5000; ++k) v = v * 1.5F + 1;
    out[0] = clock64();
    if (v == 12345) out[0] = -1;
  }
  __syncthreads();
  if (block == 1 || warp == 1) out[2 * block + warp] = clock64();
  __syncthreads();
  if (threadIdx.x == 0) {
    out[4 + block] = global_timer();
    *done = 1;
  }
}

extern "C" __global__ void reversed(const int* in, int* out, int n) {
  extern __shared__ int buffer[];
  const int i = static_cast<int>(threadIdx.x);
  buffer[i] = in[blockIdx.x * n + i];
  __syncthreads();
  out[blockIdx.x * n + i] = buffer[n - 1 - i];
}

extern "C" __global__ void reductions(const int* in, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[3 * i] = __syncthreads_count(in[i] > 0);
  out[3 * i + 1] = __syncthreads_and(in[i] > -1000);
  out[3 * i + 2] = __syncthreads_or(in[i] == 77);
}

// Threads that exit are not waited for.
extern "C" __global__ void early_exit(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 0) return;
  atomicAdd(&sum, 1);
  __syncthreads();
  out[threadIdx.x] = sum;
}

// Producers fill a buffer and consumers empty it, with named barriers of 64 threads: warps 0 and 1
// alternately.
extern "C" __global__ void producer_consumer(const int* in, int* out, int rounds) {
  __shared__ int buffer[32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.sync 2, 64;" ::: "memory");  // it is empty
      buffer[lane] = in[r * 32 + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");  // it is full
    }
  } else {
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.arrive 2, 64;" ::: "memory");
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[r * 32 + lane] = buffer[31 - lane];
    }
  }
}

// The first warp writes a word late, the second one copies it; in `meet` they synchronise in
// between.
static __device__ void hand_on(volatile int* word, int* out, bool meet) {
  const bool first = threadIdx.x < 32;
  if (first) {
    for (int i = 0; i < 20; ++i) word[blockIdx.x] = -i;
    word[blockIdx.x] = 1;
  }
  if (meet) __syncthreads();
  if (!first && threadIdx.x == 32) out[blockIdx.x] = word[blockIdx.x];
}
extern "C" __global__ void hands_on_at_once(int* word, int* out) { hand_on(word, out, false); }
extern "C" __global__ void hands_on_later(int* word, int* out) { hand_on(word, out, true); }

// Of each two blocks one signals the other that its second warp has written a word; in `meet` its
// warps synchronise before.
static __device__ void tell(volatile int* word, volatile int* flag, int* out, bool meet) {
  const int from = static_cast<int>(blockIdx.x) / 2;
  if (blockIdx.x % 2 == 0) {
    if (threadIdx.x >= 32) {
      for (int i = 0; i < 20; ++i) word[from] = -i;
      word[from] = 1;
      __threadfence();
    }
    if (meet) __syncthreads();
    if (threadIdx.x == 0) flag[from] = 1;
  } else if (threadIdx.x == 0) {
    while (flag[from] == 0) {
    }
    __threadfence();
    out[from] = word[from];
  }
}
extern "C" __global__ void tells_at_once(int* word, int* flag, int* out) {
  tell(word, flag, out, false);
}
extern "C" __global__ void tells_later(int* word, int* flag, int* out) {
  tell(word, flag, out, true);
}

// Each lane's group are the lanes with its label. ptxas parts them by WARPSYNC.EXCLUSIVE.
extern "C" __global__ void labelled(const int* labels, const int* in, int* out) {
  const unsigned i = threadIdx.x;
  if (labels[i] == 4) return;
  const auto group =
      cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), labels[i]);
  const int most = cooperative_groups::reduce(group, in[i], cooperative_groups::greater<int>());
  const int sum = cooperative_groups::reduce(group, in[i], cooperative_groups::plus<int>());
  out[2 * i] = most;
  out[2 * i + 1] = sum;
}
