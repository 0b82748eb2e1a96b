// SPDX-License-Identifier: Apache-2.0
// Small kernels: branches, barriers of warps and blocks, fences, and exchanges between lanes.
#include "micro.cuh"

#include <cooperative_groups.h>

namespace micro {

// Lanes leave a loop one after the other.
__global__ void break_partly(int* x) {
  const int t = thread_number();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 40; ++i) {
    sum += x[i];
    if (i == t % 37) break;
    sum ^= i;
  }
  x[1024 + t] = sum;
}

__global__ void trip_counts(int* x) {
  const int t = thread_number();
  int sum = t;
#pragma unroll 1
  for (int i = 0; i < t % 23; ++i) sum = sum * 3 + x[i];
  x[1024 + t] = sum;
}

__global__ void nested_branches(int* x) {
  const int t = thread_number();
  int sum = 0;
  if (t % 2 == 0) {
    if (t % 4 == 0) {
      sum = x[t] * 3;
    } else {
      sum = x[t + 1] + x[t + 2];
    }
  } else if (t % 3 == 0) {
    sum = x[t + 3] - 1;
  }
  x[1024 + t] = sum;
}

__global__ void early_exit(int* x) {
  const int t = thread_number();
  if (t % 5 == 0) return;
  x[1024 + t] = x[t] + 1;
  if (t % 7 == 0) return;
  x[2048 + t] = x[t] + 2;
}

__global__ void exchange(int* x) {
  const int t = thread_number();
  int v = x[t & 63];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  const unsigned even = __ballot_sync(0xffffffff, v % 2 == 0);
  x[1024 + t] = v + __popc(even) + __any_sync(0xffffffff, v == 3);
}

__global__ void named_barriers(int* x) {
  const int t = thread_number();
  const auto half = static_cast<int>(threadIdx.x / 64);
  __shared__ int s[kThreads];
  s[threadIdx.x] = x[t & 63];
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  x[1024 + t] = s[threadIdx.x ^ 1];
}

__global__ void exchange_more(int* x) {
  const int t = thread_number();
  const unsigned v = static_cast<unsigned>(x[t & 63]);
  const unsigned reduced = __reduce_add_sync(0xffffffff, v) ^ __reduce_max_sync(0xffffffff, v);
  const unsigned same = __match_any_sync(0xffffffff, v & 3);
  const int up = __shfl_up_sync(0xffffffff, t, 3) + __shfl_sync(0xffffffff, t, t & 7);
  x[1024 + t] = static_cast<int>(reduced + __popc(same)) + up + __all_sync(0xffffffff, v != 3);
}

// Masks from memory, all lanes active.
__global__ void warp_barriers(int* x) {
  const int t = thread_number();
  for (int i = 0; i < 4; ++i) __syncwarp(static_cast<unsigned>(x[i] - 1 - i));
  x[1024 + t] = t;
}

enum class Fence { kBlock, kDevice, kSystem, kProxy };
template <Fence kFence>
__global__ void fences(int* x) {
  const int t = thread_number();
  x[1024 + t] = 1;
  if constexpr (kFence == Fence::kBlock) __threadfence_block();
  if constexpr (kFence == Fence::kDevice) __threadfence();
  if constexpr (kFence == Fence::kSystem) __threadfence_system();
  if constexpr (kFence == Fence::kProxy) asm volatile("fence.proxy.async;" ::: "memory");
  x[2048 + t] = 2;
}

__global__ void counting_barriers(int* x) {
  const int t = thread_number();
  const int count = __syncthreads_count(x[t] & 1);
  x[1024 + t] = count + __syncthreads_and(x[t + 1] & 1) + 2 * __syncthreads_or(x[t + 2] & 1);
}

__global__ void elections(int* x) {
  unsigned leads;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(leads));
  x[1024 + thread_number()] = static_cast<int>(leads);
}

__global__ void naps(int* x) {
  __nanosleep(0);
  x[1024 + thread_number()] = 1;
}

__global__ void exchange_in_branch(int* x) {
  const int t = thread_number();
  int v = x[t];
  if (t % 32 < 16) {
    v = __shfl_xor_sync(0xffff, v, 1);
    v += __reduce_add_sync(0xffff, v);
  }
  x[1024 + t] = v;
}

// Machine code yields in loops that may wait for another thread; this loop does not wait.
__global__ void yields(int* x) {
  const int t = thread_number();
  while (atomicExch(&x[2048 + t], 1) == -1) {
  }
  x[1024 + t] = t;
}

// Each half of a warp executes a shuffle of its own, with a distance known only at run time.
__global__ void collectives(int* x) {
  const int t = thread_number();
  int v = x[t];
  if (t % 32 < 16) {
    v += __shfl_xor_sync(0xffff, v, x[5] & 3);
  } else {
    v += __shfl_xor_sync(0xffff0000, v, x[6] & 3);
  }
  x[1024 + t] = v;
}

__global__ void jump_table(int* x) {
  const int t = thread_number();
  int v = x[t];
  switch (v % 9) {
    case 0: v += 7; break;
    case 1: v *= 3; break;
    case 2: v ^= 0x55; break;
    case 3: v = v << 3 | 1; break;
    case 4: v -= x[3]; break;
    case 5: v = x[v & 63]; break;
    case 6: v = -v; break;
    case 7: v = v * v; break;
    default: v = ~v;
  }
  x[1024 + t] = v;
}

// An indirect branch with a different number of lanes per target: adjacent lanes, mixed lanes, two
// targets of which the first lane's has fewer lanes, or most lanes with the first.
enum class Ways { kBlocks, kMixed, kTwo, kLopsided };
template <Ways kWays>
__global__ void jumps(int* x) {
  const int t = thread_number(), lane = t % 32;
  int way = lane * (lane + 3) % 11 % 8;
  if constexpr (kWays == Ways::kBlocks) {
    for (way = 0; lane >= (way + 1) * (way + 2) / 2; ++way) {
    }
  }
  if constexpr (kWays == Ways::kTwo) way = lane % 3 == 0 ? 2 : 5;
  if constexpr (kWays == Ways::kLopsided) way = lane < 19 ? 1 : lane < 26 ? 4 : lane < 29 ? 3 : 7;
  int v = x[t];
  asm volatile(
      "{\n"
      "ways: .branchtargets w0, w1, w2, w3, w4, w5, w6, w7;\n"
      "brx.idx %1, ways;\n"
      "w0: add.s32 %0, %0, 1; bra out;\n"
      "w1: mul.lo.s32 %0, %0, 3; bra out;\n"
      "w2: xor.b32 %0, %0, 3; bra out;\n"
      "w3: shl.b32 %0, %0, 3; bra out;\n"
      "w4: shr.u32 %0, %0, 3; bra out;\n"
      "w5: sub.s32 %0, %0, 5; bra out;\n"
      "w6: neg.s32 %0, %0; bra out;\n"
      "w7: popc.b32 %0, %0;\n"
      "out:\n"
      "}"
      : "+r"(v)
      : "r"(x[way] & 7));
  x[1024 + t] = v;
}

__global__ void dependents_of_some(int* x) {
  if (threadIdx.x < 7) asm volatile("griddepcontrol.wait;" ::: "memory");
  if (threadIdx.x < 13) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  x[1024 + thread_number()] = 1;
}

__global__ void dependents(int* x) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  x[1024 + thread_number()] = 1;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// All blocks wait for each other.
__global__ void grid_barrier(int* x) {
  const int t = thread_number();
  x[1024 + t] = x[t] + 1;
  cooperative_groups::this_grid().sync();
  x[2048 + t] = x[1024 + (t + kThreads) % (kBlocks * kThreads)];
}

// Guarded votes, written in PTX with the modifiers in both orders.
__global__ void ballots(int* x) {
  const int t = thread_number();
  unsigned first, second;
  asm volatile(
      "{.reg .pred p; setp.ne.u32 p, %1, 0; vote.ballot.sync.b32 %0, p, 0xffffffff; "
      "@!p not.b32 %0, %0;}"
      : "=r"(first)
      : "r"(x[t] & 1));
  asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}"
               : "=r"(second)
               : "r"(x[t] & 2));
  x[1024 + t] = static_cast<int>(first + 3 * second);
}

std::span<const Launch> control_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.break_partly", [](int* x) { start(break_partly, x); }},
      {"micro.trip_counts", [](int* x) { start(trip_counts, x); }},
      {"micro.nested_branches", [](int* x) { start(nested_branches, x); }},
      {"micro.early_exit", [](int* x) { start(early_exit, x); }},
      {"micro.exchange", [](int* x) { start(exchange, x); }},
      {"micro.named_barriers", [](int* x) { start(named_barriers, x); }},
      {"micro.exchange_more", [](int* x) { start(exchange_more, x); }},
      {"micro.warp_barriers", [](int* x) { start(warp_barriers, x); }},
      {"micro.fence_block", [](int* x) { start(fences<Fence::kBlock>, x); }},
      {"micro.fence_device", [](int* x) { start(fences<Fence::kDevice>, x); }},
      {"micro.fence_system", [](int* x) { start(fences<Fence::kSystem>, x); }},
      {"micro.fence_proxy", [](int* x) { start(fences<Fence::kProxy>, x); }},
      {"micro.counting_barriers", [](int* x) { start(counting_barriers, x); }},
      {"micro.elections", [](int* x) { start(elections, x); }},
      {"micro.naps", [](int* x) { start(naps, x); }},
      {"micro.exchange_in_branch", [](int* x) { start(exchange_in_branch, x); }},
      {"micro.yields", [](int* x) { start(yields, x); }},
      {"micro.collectives", [](int* x) { start(collectives, x); }},
      {"micro.jump_table", [](int* x) { start(jump_table, x); }},
      {"micro.jumps", [](int* x) { start(jumps<Ways::kBlocks>, x); }},
      {"micro.jumps_mixed", [](int* x) { start(jumps<Ways::kMixed>, x); }},
      {"micro.jumps_two", [](int* x) { start(jumps<Ways::kTwo>, x); }},
      {"micro.jumps_lopsided", [](int* x) { start(jumps<Ways::kLopsided>, x); }},
      {"micro.dependents_of_some", [](int* x) { start(dependents_of_some, x); }},
      {"micro.dependents", [](int* x) { start(dependents, x); }},
      {"micro.ballots", [](int* x) { start(ballots, x); }},
      {"micro.grid_barrier",
       [](int* x) {
         void* arguments[] = {&x};
         cudaLaunchCooperativeKernel(grid_barrier, kBlocks, kThreads, arguments);
       }},
  };
  return kLaunches;
}

}  // namespace micro
