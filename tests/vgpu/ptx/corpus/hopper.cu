// SPDX-License-Identifier: Apache-2.0
// Hopper by inline PTX: tensor copies, mbarriers, clusters with multicast, wgmma, register
// reallocation, stmatrix.
#include <cuda.h>

#include <cstdint>

__device__ void wait_for(unsigned barrier, int parity) {
  asm volatile(
      "{\n.reg .pred P1;\nLAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}\n" ::"r"(barrier),
      "r"(parity));
}
template <int ScaleD>
__device__ void multiply(float (&d)[8], uint64_t a, uint64_t b) {
  asm volatile(
      "{\nwgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, %10, %11, %12, %13, %14;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7])
      : "l"(a), "l"(b), "n"(ScaleD), "n"(1), "n"(1), "n"(0), "n"(0));
}
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384)
    pipeline(const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap out,
             float* c) {
  extern __shared__ __align__(1024) unsigned char stage[];
  __shared__ __align__(8) uint64_t full;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(stage));
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  unsigned rank, elected;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }"
               : "=r"(elected));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(1));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;");
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(24));
    asm volatile(
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
        "r"(4096));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, "
        "%4}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(0), "r"(64)
        : "memory");
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
        "cluster "
        "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(0), "r"(64), "r"(1), "h"(static_cast<uint16_t>(3))
        : "memory");
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(240));
    wait_for(barrier, 0);
    float d[8] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply<1>(d, to, to + 2);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile(
        "{\n.reg .b32 remAddr32;\nmapa.shared::cluster.u32 remAddr32, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [remAddr32];\n}" ::"r"(barrier),
        "r"(rank ^ 1));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                 "r"(1), "r"(2), "r"(3), "r"(4));
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&out),
        "r"(to), "r"(0), "r"(0));
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;");
    c[threadIdx.x] = d[0] + d[7] + static_cast<float>(elected);
  }
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;");
}
