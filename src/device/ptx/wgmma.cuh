// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async: a warpgroup starts the product of 64 x K and K x N. The fragment d holds 64 x N
// sums, N / 2 per thread: with g = lane / 4 and t = lane % 4, element d[4 j + q] is in row 16 (warp
// % 4) + g + 8 (q / 2) and column 8 j + 2 t + q % 2. d must not be touched before wgmma_wait().
// With add = false, d is overwritten. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions".
#pragma once
#include <cuda_fp16.h>

#include <cstdint>

namespace ladder::ptx {

// PTX's name of a 16-bit type.
template <class In>
constexpr char kMmaType[5] = "bf16";
template <>
constexpr char kMmaType<__half>[4] = "f16";

// Inline PTX takes registers one by one: LADDER_Dn lists the n elements of d, LADDER_Tn their
// operand numbers, ten of them by LADDER_T10(their first digits).
// clang-format off
#define LADDER_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define LADDER_D16(i) LADDER_D4(i), LADDER_D4(i + 4), LADDER_D4(i + 8), LADDER_D4(i + 12)
#define LADDER_D64 LADDER_D16(0), LADDER_D16(16), LADDER_D16(32), LADDER_D16(48)
#define LADDER_D128 LADDER_D64, LADDER_D16(64), LADDER_D16(80), LADDER_D16(96), LADDER_D16(112)
#define LADDER_T10(TENS) \
  "%" TENS "0, %" TENS "1, %" TENS "2, %" TENS "3, %" TENS "4, " \
  "%" TENS "5, %" TENS "6, %" TENS "7, %" TENS "8, %" TENS "9"
#define LADDER_T30 LADDER_T10("") ", " LADDER_T10("1") ", " LADDER_T10("2")
#define LADDER_T60 LADDER_T30 ", " LADDER_T10("3") ", " LADDER_T10("4") ", " LADDER_T10("5")
#define LADDER_T90 LADDER_T60 ", " LADDER_T10("6") ", " LADDER_T10("7") ", " LADDER_T10("8")
#define LADDER_T110 LADDER_T90 ", " LADDER_T10("9") ", " LADDER_T10("10")
#define LADDER_T64 LADDER_T60 ", %60, %61, %62, %63"
#define LADDER_T120 LADDER_T110 ", " LADDER_T10("11")
#define LADDER_T128 LADDER_T120 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define LADDER_WGMMA(SHAPE_AND_TYPES, SUMS, ADD, REST, ...) \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #ADD ", 0; wgmma.mma_async.sync.aligned." \
               SHAPE_AND_TYPES " {" LADDER_T##SUMS "}, " REST "; }" : LADDER_D##SUMS : __VA_ARGS__)
// clang-format on

// A and B in shared memory, 16-bit types. A is K-major. B is K-major, or N-major where
// kTransposedB.
#define LADDER_WGMMA_SHARED(N, SUMS, A, B, ADD, TRANSPOSED, TYPE)                                 \
  template <class In, bool kTransposedB>                                                          \
  __device__ __forceinline__ void wgmma_shared(float(&d)[SUMS], std::uint64_t a, std::uint64_t b, \
                                               bool add) {                                        \
    LADDER_WGMMA("m64n" #N "k16.f32.%" #TYPE ".%" #TYPE, SUMS, ADD,                               \
                 "%" #A ", %" #B ", p, 1, 1, 0, %" #TRANSPOSED, "l"(a), "l"(b),                   \
                 "r"(static_cast<int>(add)), "n"(kTransposedB ? 1 : 0), "C"(kMmaType<In>));       \
  }
LADDER_WGMMA_SHARED(128, 64, 64, 65, 66, 67, 68)
LADDER_WGMMA_SHARED(256, 128, 128, 129, 130, 131, 132)

// The descriptor of a matrix in shared memory; PTX ISA, "Matrix Descriptor Format". The matrix
// consists of 8 x kRowBytes atoms in the swizzle of kRowBytes bytes, 128 or 64. `start` is a shared
// address; along a row it may point inside an atom. K-major: `rows` bytes from one group of 8 rows
// to the next; `across` has no meaning. MN-major: `rows` bytes from one group of 8 k to the next,
// `across` bytes from one atom along m or n to the next.
template <int kRowBytes = 128>
__device__ __forceinline__ std::uint64_t matrix_descriptor(std::uint32_t start, std::uint32_t rows,
                                                           std::uint32_t across = 16) {
  static_assert(kRowBytes == 128 || kRowBytes == 64, "the swizzles in use");
  constexpr std::uint64_t kSwizzle = std::uint64_t{kRowBytes == 128 ? 1 : 2} << 62;
  const auto field = [](std::uint32_t bytes) { return std::uint64_t{(bytes & 0x3FFFFU) >> 4}; };
  return field(start) | field(across) << 16 | field(rows) << 32 | kSwizzle;
}

// wgmma.fence: the wgmma that follow see the registers written before.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// wgmma.commit_group: the wgmma since the last commit become one group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// wgmma.wait_group: waits until at most kPending of this warp's youngest groups are under way.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  static_assert(kPending >= 0 && kPending < 8, "a number of groups");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// No instruction: tells the compiler that asynchronous work may have changed `value`, so that no
// use moves above a wait.
__device__ __forceinline__ void changed(float& value) { asm volatile("" : "+f"(value)::"memory"); }

}  // namespace ladder::ptx
