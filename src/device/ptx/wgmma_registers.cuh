// SPDX-License-Identifier: Apache-2.0
// What only the library's kernels use of wgmma.mma_async: other widths, tf32 operands, and A in
// registers. With g = lane / 4 and t = lane % 4, registers a[q] of 16-bit types hold row 16 (warp %
// 4) + g + 8 (q % 2), k = 2 t + 8 (q / 2) and the k after it, the lower k in the lower half; those
// of tf32 hold the same row and k = t + 4 (q / 2). PTX ISA, "wgmma.mma_async".
#pragma once
#include "device/ptx/wgmma_bytes.cuh"

namespace ladder::ptx {

// clang-format off
#define LADDER_D32 LADDER_D16(0), LADDER_D16(16)
#define LADDER_D96 LADDER_D64, LADDER_D16(64), LADDER_D16(80)
#define LADDER_D116 LADDER_D96, LADDER_D16(96), LADDER_D4(112)
#define LADDER_T32 LADDER_T30 ", %30, %31"
#define LADDER_T96 LADDER_T90 ", %90, %91, %92, %93, %94, %95"
#define LADDER_T116 LADDER_T110 ", %110, %111, %112, %113, %114, %115"
// clang-format on
LADDER_WGMMA_SHARED(64, 32, 32, 33, 34, 35, 36)
LADDER_WGMMA_SHARED(192, 96, 96, 97, 98, 99, 100)
LADDER_WGMMA_SHARED(232, 116, 116, 117, 118, 119, 120)

// 8-bit types, both operands K-major.
template <class In>
__device__ __forceinline__ void wgmma_bytes(float (&d)[32], std::uint64_t a, std::uint64_t b,
                                            bool add) {
  LADDER_WGMMA("m64n64k32.f32.%35.%35", 32, 34, "%32, %33, p, 1, 1", "l"(a), "l"(b),
               "r"(static_cast<int>(add)), "C"(kMmaType<In>));
}

// tf32, A and B in shared memory, both K-major: tf32 has no other layout.
#define LADDER_WGMMA_SHARED_TF32(N, SUMS, A, B, ADD)                                           \
  template <>                                                                                  \
  __device__ __forceinline__ void wgmma_shared<float, false>(float(&d)[SUMS], std::uint64_t a, \
                                                             std::uint64_t b, bool add) {      \
    LADDER_WGMMA("m64n" #N "k8.f32.tf32.tf32", SUMS, ADD, "%" #A ", %" #B ", p, 1, 1", "l"(a), \
                 "l"(b), "r"(static_cast<int>(add)));                                          \
  }
LADDER_WGMMA_SHARED_TF32(64, 32, 32, 33, 34)
LADDER_WGMMA_SHARED_TF32(128, 64, 64, 65, 66)
#undef LADDER_WGMMA_SHARED_TF32

// tf32, A in registers, B in shared memory.
#define LADDER_WGMMA_REGISTERS_TF32(N, SUMS, A, B, ADD)                                           \
  __device__ __forceinline__ void wgmma_registers(float(&d)[SUMS], const std::uint32_t(&a)[4],    \
                                                  std::uint64_t b, bool add) {                    \
    LADDER_WGMMA("m64n" #N "k8.f32.tf32.tf32", SUMS, ADD, "{" A "}, %" #B ", p, 1, 1", "r"(a[0]), \
                 "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));            \
  }
LADDER_WGMMA_REGISTERS_TF32(128, 64, "%64, %65, %66, %67", 68, 69)
LADDER_WGMMA_REGISTERS_TF32(256, 128, "%128, %129, %130, %131", 132, 133)
#undef LADDER_WGMMA_REGISTERS_TF32

// 16-bit types, A in registers, B in shared memory, K-major.
#define LADDER_WGMMA_REGISTERS(N, SUMS, A, B, ADD, TYPE)                                       \
  template <class In>                                                                          \
  __device__ __forceinline__ void wgmma_registers(float(&d)[SUMS], const std::uint32_t(&a)[4], \
                                                  std::uint64_t b, bool add) {                 \
    LADDER_WGMMA("m64n" #N "k16.f32.%" #TYPE ".%" #TYPE, SUMS, ADD,                            \
                 "{" A "}, %" #B ", p, 1, 1, 0", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),   \
                 "l"(b), "r"(static_cast<int>(add)), "C"(kMmaType<In>));                       \
  }
LADDER_WGMMA_REGISTERS(64, 32, "%32, %33, %34, %35", 36, 37, 38)
LADDER_WGMMA_REGISTERS(128, 64, "%64, %65, %66, %67", 68, 69, 70)
#undef LADDER_WGMMA_REGISTERS

// max.NaN: the larger one, and NaN where either is. PTX ISA, "Floating Point Instructions: max".
__device__ __forceinline__ float max_nan(float x, float y) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}

// The descriptor of a matrix `bytes` further in shared memory.
__device__ __forceinline__ std::uint64_t moved(std::uint64_t descriptor, int bytes) {
  return (descriptor & 0xFFFFFFFF00000000U) |
         (static_cast<std::uint32_t>(descriptor) + static_cast<std::uint32_t>(bytes >> 4));
}

}  // namespace ladder::ptx
