// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator: one thread has a box of a matrix copied, by a tensor map that the
// host made. One function an instruction; PTX ISA, "Data Movement and Conversion Instructions:
// Tensor copy".
#pragma once
#include <cuda.h>

#include <cstdint>

namespace ladder::ptx {

// prefetch.tensormap: the map of a __grid_constant__ parameter, into the cache that the copies read
// it from.
__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// cp.async.bulk.tensor.2d, global to shared: the box at (x, y), x along lines; elements beyond the
// matrix become zeros. Completes on `barrier` with the box's bytes, zeros included.
__device__ __forceinline__ void tma_load(std::uint32_t to, const CUtensorMap& map,
                                         std::uint32_t barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, "
      "%4}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}

// The same into every block of the cluster whose bit is set in `blocks`, at the same place and
// barrier in each.
__device__ __forceinline__ void tma_load_multicast(std::uint32_t to, const CUtensorMap& map,
                                                   std::uint32_t barrier, int x, int y,
                                                   std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster "
      "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
      : "memory");
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

// cp.async.bulk.wait_group.read: until all but kPending of this thread's groups have read their
// shared memory.
template <int kPending>
__device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// fence.proxy.async: this thread's ordinary accesses to shared memory come before asynchronous ones
// that follow.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace ladder::ptx
