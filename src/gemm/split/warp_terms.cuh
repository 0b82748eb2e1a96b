// SPDX-License-Identifier: Apache-2.0
// FP32 operands in shared memory, and their terms in a warp's registers in mma.sync's fragments.
//
// A product does not depend on the order of k, if A and B have the same: lane t of a group of four
// holds k = 4 t to 4 t + 3. Nor does it depend on the order of rows and columns: four pieces of
// eight are interleaved, so that row 4 g + j is row g of piece j. A lane therefore loads four
// consecutive floats of a K-major or an M- or N-major panel from shared memory, and stores four
// consecutive elements of C.
#pragma once
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mma.cuh"
#include "device/round.cuh"
#include "device/vector.cuh"
#include "gemm/split/terms.cuh"

#include <cstdint>
#include <type_traits>

namespace ladder::split_mma {

constexpr int kWarp = 32, kGroup = 16;  // kGroup: k per load of fragments
constexpr int kPiece = 8;               // rows or columns of a piece
constexpr int kBlock = 4 * kPiece;      // of four interleaved pieces

// A tile of an operand in shared memory: kVectors rows of op(A) or columns of op(B), BK deep,
// K-major or M- or N-major as in global memory. A swizzle of vectors of four floats within a row in
// memory lets the eight lanes of a wavefront access all banks.
template <bool kAlongK_, int kVectors_, int BK_, int kThreads>
struct Panel {
  static constexpr bool kAlongK = kAlongK_;
  static constexpr int kVectors = kVectors_, BK = BK_;
  static constexpr int kFloats = kVectors * BK;
  static constexpr int kLine = (kAlongK ? BK : kVectors) / 4;  // chunks
  static constexpr int kChunks = kFloats / 4 / kThreads;       // of one thread
  static constexpr int kStep = kThreads / kLine;               // lines between them
  static_assert(BK == 32, "eight chunks along k, of which bit 2 of the vector swaps the halves");
  static_assert(kVectors % kBlock == 0, "pieces are interleaved by four");
  static_assert(kFloats % (4 * kThreads) == 0 && kThreads % kLine == 0,
                "each thread copies as many chunks, in lines of equal distance");

  // Index of the chunk with vector i and depth k.
  static __device__ __forceinline__ int chunk(int i, int k) {
    return kAlongK ? 4 * (i * kLine + (k / 4 ^ (i & 4)))
                   : 4 * (k * kLine + (i / 4 ^ k / 4 % 4 * 2));
  }
  static __device__ __forceinline__ int element(int i, int k) {
    return chunk(i, k) + (kAlongK ? k : i) % 4;
  }
  // The chunk that this thread copies as number r.
  static __device__ __forceinline__ int own(int r) {
    const int tid = static_cast<int>(threadIdx.x), line = tid / kLine + r * kStep,
              at = tid % kLine * 4;
    return kAlongK ? chunk(line, at) : chunk(at, line);
  }

  // Copies this thread's chunks of the tile at g. Elements beyond `size` vectors or `depth` are
  // zeros. wide: lines begin at multiples of 16 bytes.
  static __device__ __forceinline__ void copy(float* s, const float* g, std::int64_t ld,
                                              std::int64_t size, std::int64_t depth, bool wide) {
    const int tid = static_cast<int>(threadIdx.x), at = tid % kLine * 4;
    const std::int64_t lines = kAlongK ? size : depth, length = kAlongK ? depth : size;
    const int within = static_cast<int>(max(std::int64_t{0}, min(std::int64_t{4}, length - at)));
    g += tid / kLine * ld + at;
#pragma unroll
    for (int r = 0; r < kChunks; ++r) {
      const int count = tid / kLine + r * kStep < lines ? within : 0;
      const std::uint32_t to = ptx::shared_address(s + own(r));
      if (wide) {
        ptx::cp_async_part<16>(to, g, 4 * count);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) ptx::cp_async<4>(to + 4 * e, g + e, e < count);
      }
      g += kStep * ld;
    }
  }

  // Whether one of this thread's chunks has a nonzero number below 2^-103. A term of it may be
  // subnormal, so that the terms do not represent it exactly.
  static __device__ __forceinline__ bool has_tiny(const float* s) {
    constexpr std::uint32_t kLeast = 2 * ((127U - 103U) << 23) - 1;
    std::uint32_t least = ~0U;
#pragma unroll
    for (int r = 0; r < kChunks; ++r) {
      const float4 four = load4(s + own(r));
      for (const float x : {four.x, four.y, four.z, four.w})
        least = min(least, 2 * __float_as_uint(x) - 1);  // without the sign; zero is the largest
    }
    return least < kLeast;
  }

  // Floats (i, 4 t + e) of four interleaved pieces from vector i0 on, from depth k0 on, as
  // r[piece][e]. i0 and k0 are multiples of kBlock and kGroup, so that chunk() is a sum.
  static __device__ __forceinline__ void load(float (&r)[4][4], const float* s, int i0, int k0) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp, g = lane / 4, t = lane % 4;
    s += kAlongK ? (i0 + 4 * g) * BK + 4 * t + (k0 ^ g % 2 * kGroup)
                 : (k0 + 4 * t) * kVectors + i0 + 4 * (g ^ 2 * t);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float4 four = load4(s + e * (kAlongK ? BK : kVectors));
      const float x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) (kAlongK ? r[e][j] : r[j][e]) = x[j];
    }
  }
};

// How an element is split, and how many products of terms are added. kDepth: k per sum on the
// tensor core.
template <class Term_, int kTerms_, int kProducts_, int kDepth_>
struct Terms {
  using Term = Term_;
  static constexpr bool kTf32 = std::is_same_v<Term, float>;
  static constexpr int kTerms = kTerms_, kProducts = kProducts_, kDepth = kDepth_;
  static constexpr int kSteps = kTf32 ? 2 : 1;  // instructions per kGroup
  static_assert((kTerms == 2 && kProducts == 3) || (kTerms == 3 && kProducts == 6),
                "products of terms whose numbers add up to less than the number of terms");
  static_assert(kDepth % kGroup == 0, "whole loads of fragments");

  // words[term][step][p]: this lane's registers p = 0, 1 of a fragment.
  static __device__ __forceinline__ void split(std::uint32_t (&words)[kTerms][kSteps][2],
                                               const float (&x)[4]) {
#pragma unroll
    for (int two = 0; two < 2; ++two) {
      float low = x[2 * two], high = x[2 * two + 1];
#pragma unroll
      for (int w = 0; w < kTerms; ++w) {
        if constexpr (kTf32) {
          const float first = to_term(low, 0.0F), second = to_term(high, 0.0F);
          words[w][two][0] = __float_as_uint(first);
          words[w][two][1] = __float_as_uint(second);
          low -= first;
          high -= second;
        } else {
          words[w][0][two] = pack_two(low, high, Term{});
          const float2 both = unpack_two(words[w][0][two], Term{});
          low -= both.x;
          high -= both.y;
        }
      }
    }
  }

  static __device__ __forceinline__ void multiply(float (&sum)[4], const std::uint32_t (&a)[4],
                                                  const std::uint32_t (&b)[2]) {
    if constexpr (kTf32)
      ptx::mma_tf32(sum, a, b[0], b[1]);
    else
      ptx::mma_bf16(sum, a, b[0], b[1]);
  }
};

}  // namespace ladder::split_mma
