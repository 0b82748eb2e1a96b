// SPDX-License-Identifier: Apache-2.0
// Boxes of shared memory to a matrix, by tensor map. One function per instruction; PTX ISA, "Data Movement and
// Conversion Instructions: Tensor copy".
#pragma once
#include <cuda.h>

#include <cstdint>

namespace ladder::ptx {

// prefetch.tensormap: the map of a __grid_constant__ parameter, into the cache that copies read it from.
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
