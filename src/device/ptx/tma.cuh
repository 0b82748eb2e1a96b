// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator: one thread copies a box of a matrix by a tensor map. One function per instruction;
// PTX ISA, "Data Movement and Conversion Instructions: Tensor copy".
#pragma once
#include <cuda.h>

#include <cstdint>

namespace ladder::ptx {

// cp.async.bulk.tensor.2d, global to shared: the box at column x, row y; elements beyond the matrix become zeros. It
// completes on `barrier` with the box's bytes, zeros included.
__device__ __forceinline__ void tma_load(std::uint32_t to, const CUtensorMap& map,
                                         std::uint32_t barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}

// The same to each block of the cluster whose bit is set in `blocks`, at the same address and barrier of each.
__device__ __forceinline__ void tma_load_multicast(std::uint32_t to, const CUtensorMap& map,
                                                   std::uint32_t barrier, int x, int y,
                                                   std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

}  // namespace ladder::ptx
