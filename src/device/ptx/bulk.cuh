// SPDX-License-Identifier: Apache-2.0
// Bulk copies without a tensor map. PTX ISA, "Data Movement and Conversion Instructions: Bulk
// copy".
#pragma once
#include <cstdint>

namespace ladder::ptx {

// cp.async.bulk, global to shared: `bytes` bytes, which complete on `barrier`. Both addresses and
// `bytes` are multiples of 16.
__device__ __forceinline__ void bulk_load(std::uint32_t to, const void* g, std::uint32_t barrier,
                                          int bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(g), "r"(bytes), "r"(barrier)
      : "memory");
}

}  // namespace ladder::ptx
