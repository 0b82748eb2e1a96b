// SPDX-License-Identifier: Apache-2.0
// Small kernels of sm_90a: setmaxnreg, bulk copies, distributed shared memory and wgmma.
#include "micro.cuh"

namespace micro {

// With a number of registers that the launch guarantees.
__global__ void __maxnreg__(128) fewer_registers(int* x) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  x[1024 + thread_number()] = x[thread_number()] + 1;
}

// All warps have released registers before any asks for more, so that no request is repeated.
__global__ void __maxnreg__(128) more_registers(int* x) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  __syncthreads();
  asm volatile("setmaxnreg.inc.sync.aligned.u32 120;");
  x[1024 + thread_number()] = x[thread_number()] + 1;
}

// The copy completes long before the first test of the barrier, so that one test suffices.
__global__ void bulk_load(int* x) {
  __shared__ unsigned long long barrier;
  __shared__ alignas(128) int s[kThreads];
  const unsigned b = shared_address(&barrier);
  const auto t = static_cast<int>(threadIdx.x);
  unsigned done = 0;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(kThreads * 4)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(s)),
        "l"(x), "r"(kThreads * 4), "r"(b)
        : "memory");
  }
  float late = 1.0F;
#pragma unroll 1
  for (int i = 0; i < 20000; ++i) late = late * 0.999F + 0.5F;
  __syncthreads();
  asm volatile(
      "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
      : "=r"(done)
      : "r"(b)
      : "memory");
  x[1024 + thread_number()] = done != 0 ? s[t] + static_cast<int>(late) : -1;
}

// Two blocks of a cluster read, write and add to each other's shared memory.
__global__ void __cluster_dims__(2) distributed(int* x) {
  __shared__ alignas(16) int s[3 * kThreads];
  const auto t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 3 * kThreads; i += kThreads) s[i] = x[i];
  unsigned rank, other, wide[4];
  int value;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(other)
               : "r"(shared_address(s)), "r"(rank ^ 1));
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(other + t * 4) : "memory");
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(wide[0]), "=r"(wide[1]), "=r"(wide[2]), "=r"(wide[3])
               : "r"(other + t % 32 * 16)
               : "memory");
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(other + (kThreads + t) * 4), "r"(value)
               : "memory");
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], 3;"
               : "=r"(value)
               : "r"(other + (2 * kThreads + t) * 4)
               : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  x[1024 + thread_number()] = value + s[kThreads + t] + s[2 * kThreads + t];
  x[2048 + thread_number()] = static_cast<int>(wide[0] + wide[3]);
}

// Bulk copies out of shared memory: a store, a reduction, and a copy to the other block.
__global__ void __cluster_dims__(2) bulk_stores(int* x) {
  __shared__ alignas(128) int s[2 * kThreads];
  __shared__ unsigned long long barrier;
  const auto t = static_cast<int>(threadIdx.x);
  const unsigned b = shared_address(&barrier);
  s[t] = x[thread_number()];
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(kThreads * 4)
                 : "memory");
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (t == 0) {
    unsigned rank, to, at;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(to)
                 : "r"(shared_address(s + kThreads)), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(b), "r"(rank ^ 1));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     x + 1024 + blockIdx.x * kThreads),
                 "r"(shared_address(s)), "r"(kThreads * 4)
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(
                     x + 2048),
                 "r"(shared_address(s)), "r"(kThreads * 4)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(to),
        "r"(shared_address(s)), "r"(kThreads * 4), "r"(at)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
  float late = 1.0F;
#pragma unroll 1
  for (int i = 0; i < 20000; ++i) late = late * 0.999F + 0.5F;
  __syncthreads();
  unsigned done = 0;
  asm volatile(
      "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
      : "=r"(done)
      : "r"(b)
      : "memory");
  x[4096 + thread_number()] = done != 0 ? s[kThreads + t] + static_cast<int>(late) : -1;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// A warpgroup's product of 64 x 8 from shared memory, both operands without a swizzle.
#define WARPGROUP_PRODUCT(name, Sum, constraint, instruction, tail)                               \
  __global__ void name(int* x) {                                                                  \
    __shared__ alignas(128) int s[1024];                                                          \
    const auto t = static_cast<int>(threadIdx.x);                                                 \
    for (int i = t; i < 1024; i += kThreads) s[i] = x[i] & 0x03030303;                            \
    asm volatile("fence.proxy.async;" ::: "memory");                                              \
    __syncthreads();                                                                              \
    const unsigned long long a = (shared_address(s) & 0x3ffff) >> 4 | 8ULL << 16 | 16ULL << 32;   \
    Sum d[4] = {};                                                                                \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                       \
    asm volatile(instruction " {%0, %1, %2, %3}, %4, %4, 1" tail ";"                              \
                 : constraint(d[0]), constraint(d[1]), constraint(d[2]), constraint(d[3])         \
                 : "l"(a)                                                                         \
                 : "memory");                                                                     \
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::          \
                     : "memory");                                                                 \
    for (int i = 0; i < 4; ++i) asm volatile("" : constraint(d[i])::"memory");                    \
    for (int i = 0; i < 4; ++i) reinterpret_cast<Sum*>(x)[1024 + thread_number() * 4 + i] = d[i]; \
  }
WARPGROUP_PRODUCT(wgmma_tf32, float, "+f", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32",
                  ", 1, 1")
WARPGROUP_PRODUCT(wgmma_e4m3, float, "+f", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3",
                  ", 1, 1")
WARPGROUP_PRODUCT(wgmma_s8, int, "+r", "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8", "")

std::span<const Launch> hopper_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.fewer_registers", [](int* x) { start(fewer_registers, x); }},
      {"micro.more_registers", [](int* x) { start(more_registers, x); }},
      {"micro.bulk_load", [](int* x) { start(bulk_load, x); }},
      {"micro.distributed", [](int* x) { distributed<<<4, kThreads>>>(x); }},
      {"micro.bulk_stores", [](int* x) { bulk_stores<<<4, kThreads>>>(x); }},
      {"micro.wgmma_tf32", [](int* x) { start(wgmma_tf32, x); }},
      {"micro.wgmma_e4m3", [](int* x) { start(wgmma_e4m3, x); }},
      {"micro.wgmma_s8", [](int* x) { start(wgmma_s8, x); }},
  };
  return kLaunches;
}

}  // namespace micro
