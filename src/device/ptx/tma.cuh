// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator: one thread copies a box of a matrix by a tensor map. One function
// per instruction; PTX ISA, "Data Movement and Conversion Instructions: Tensor copy".
#pragma once
#include <cuda.h>

#include <cstdint>

namespace ladder::ptx {

// cp.async.bulk.tensor.2d, global to shared: the box at column x, row y; elements beyond the matrix
// become zeros. It completes on `barrier` with the box's bytes, zeros included.
__device__ __forceinline__ void tma_load(std::uint32_t to, const CUtensorMap& map,
                                         std::uint32_t barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}

// The same to each block of the cluster whose bit is set in `blocks`, at the same addresses.
__device__ __forceinline__ void tma_load_multicast(std::uint32_t to, const CUtensorMap& map,
                                                   std::uint32_t barrier, int x, int y,
                                                   std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

// prefetch.tensormap: a map in a __grid_constant__ parameter, into the cache of descriptors.
__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// cp.async.bulk.tensor.2d, shared to global: what lies beyond the matrix is not written.
__device__ __forceinline__ void tma_store(const CUtensorMap& map, std::uint32_t from, int x,
                                          int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
          &map),
      "r"(from), "r"(x), "r"(y)
      : "memory");
}

// cp.async.bulk.commit_group: this thread's stores since the last commit become one group.
__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// cp.async.bulk.wait_group.read: waits until all but kPending of this thread's groups have read
// shared memory.
template <int kPending>
__device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// fence.proxy.async: orders ordinary accesses to shared memory before later asynchronous ones.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// stmatrix.x4: stores four 8 x 8 matrices of 16-bit elements. Lanes 8 i to 8 i + 7 pass the rows'
// addresses of matrix i; lane l holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 in r[i].
__device__ __forceinline__ void store_matrix4(std::uint32_t s, const std::uint32_t* r) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(s),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

}  // namespace ladder::ptx
