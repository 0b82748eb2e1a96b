// SPDX-License-Identifier: Apache-2.0
// What stands around wgmma.mma_async: descriptors of shared memory, fences and groups. One function an instruction; PTX
// ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#pragma once
#include "device/ptx/wgmma_operands.cuh"

#include <cstdint>

namespace ladder::ptx {

// "Matrix Descriptor Format": where a matrix lies, by atoms of 8 lines of kLine bytes in the swizzle of as many: 128 or 64.
// `start` is a shared address; along a line it may point inside an atom. K-major: `lines` bytes from one 8 rows to the
// next, and `across` has no meaning. MN-major: `lines` from one 8 of k to the next, `across` from one kLine bytes of m or
// n to the next.
template <int kLine = 128>
__device__ __forceinline__ std::uint64_t matrix_descriptor(std::uint32_t start, std::uint32_t lines,
                                                           std::uint32_t across = 16) {
  static_assert(kLine == 128 || kLine == 64, "the swizzles in use");
  constexpr std::uint64_t kSwizzle = std::uint64_t{kLine == 128 ? 1 : 2} << 62;
  const auto field = [](std::uint32_t bytes) { return std::uint64_t{(bytes & 0x3FFFFU) >> 4}; };
  return field(start) | field(across) << 16 | field(lines) << 32 | kSwizzle;
}

// wgmma.fence: registers written before are seen by the wgmma that follow.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// wgmma.commit_group: the wgmma since the last commit become one group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// wgmma.wait_group: until at most kPending of this warp's youngest groups are under way.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  static_assert(kPending >= 0 && kPending < 8, "a number of groups");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// No instruction: says that asynchronous work may have changed `value`, so that no use of it moves above a wait.
__device__ __forceinline__ void changed(float& value) { asm volatile("" : "+f"(value)::"memory"); }

}  // namespace ladder::ptx
