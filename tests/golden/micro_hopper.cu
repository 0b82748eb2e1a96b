// SPDX-License-Identifier: Apache-2.0
// Small kernels of sm_90a: setmaxnreg, and bulk copies.
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

std::span<const Launch> hopper_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.fewer_registers", [](int* x) { start(fewer_registers, x); }},
      {"micro.more_registers", [](int* x) { start(more_registers, x); }},
      {"micro.bulk_load", [](int* x) { start(bulk_load, x); }},
  };
  return kLaunches;
}

}  // namespace micro
