// SPDX-License-Identifier: Apache-2.0
// Tile of a product with a fused split. TMA loads the raw FP32 operand. Each consumer warpgroup
// reads it into registers as fragments of wgmma's first operand, scales each row of a slab by its
// own power of two, and splits it there. The pre-pass has split the other operand. The promotion of
// a slab's partial sums accounts for its scales.
//
// Lanes read the rows in an order that has no bank conflicts within a half-warp. This order
// determines the rows of the accumulators (row_of_half).
#pragma once
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/tma.cuh"
#include "device/ptx/wgmma.cuh"
#include "device/ptx/wgmma_registers.cuh"
#include "gemm/split/store_terms.cuh"
#include "gemm/split/tile.cuh"
#include "gemm/tensor/tensor_tile.cuh"

#include <cstdint>
#include <type_traits>

namespace ladder {

// One slab of the raw operand in shared memory, with the 128-byte swizzle. kAlongK: the operand is
// K-major.
template <int BM, int BK, bool kAlongK>
struct RawUnit {
  static constexpr int kBox = kSwizzleBytes / 4;      // contiguous elements per row of a box
  static constexpr int kBoxRows = kAlongK ? BM : BK;  // rows per box
  static constexpr int kBoxes = (kAlongK ? BK : BM) / kBox;
  static_assert(BM % kBox == 0 && BK % kBox == 0, "whole boxes");
  alignas(1024) float box[kBoxes][kBoxRows][kBox];

  // Starts the TMA loads, for vectors from `first` on. Elements out of bounds become zeros.
  __device__ __forceinline__ void load(const CUtensorMap& map, std::uint32_t barrier, int first,
                                       int slab) {
    ptx::mbarrier_arrive_expect(barrier, sizeof(*this));
#pragma unroll
    for (int i = 0; i < kBoxes; ++i) {
      const int along = (kAlongK ? slab * BK : first) + i * kBox;
      ptx::tma_load(ptx::shared_address(box[i]), map, barrier, along, kAlongK ? first : slab * BK);
    }
  }
};

// A is the raw operand. kGuarded: the blocks decide whether the terms were accurate enough.
template <class Format, int kProducts, int BN, bool kAlongK_, bool kGuarded_>
struct FusedTile : SplitShape<Format, kProducts, 128, BN, 240, 24> {
  using Shape = typename FusedTile::SplitShape;
  static constexpr bool kAlongK = kAlongK_;
  static constexpr bool kGuarded = kGuarded_;
  static constexpr int kUnitsA = 4, kUnitsB = 3;           // stages: what shared memory holds
  static constexpr int kReaders = Shape::kWarpgroups * 4;  // warps that read a stage
  static constexpr int kStep = 16;                         // k per wgmma
  static constexpr int kSteps = Shape::BK / kStep;         // per slab
  static_assert(sizeof(typename Shape::Term) == 2, "fragments of 16-bit terms");
  using UnitA = RawUnit<Shape::BM, Shape::BK, kAlongK>;
  using UnitB = TermUnit<Format, Shape::kHalf>;
  using Rings = UnitRings<UnitA, kUnitsA, UnitB, kUnitsB>;
  // The maximum number of elements (of 64) below the guard's level: of the raw operand and of the
  // other one; and of each consumer thread, in shared memory because registers are short.
  struct Guarded : Rings {
    unsigned lost[2], lost_of_thread[Shape::kWarpgroups * kWarpgroup];
  };
  using Shared = std::conditional_t<kGuarded, Guarded, Rings>;
  static_assert(sizeof(Shared) <= kMaxSharedBytes, "a block's shared memory");
};

// The row of the warp's 16 that a thread's fragment holds as row g = lane / 4 (half 0) or g + 8
// (half 1).
template <class T>
__device__ __forceinline__ int row_of_half(int half) {
  const int g = static_cast<int>(threadIdx.x) % 32 / 4;
  return T::kAlongK ? g % 4 * 2 + g / 4 + 8 * half : 2 * g + half;
}

// A thread's elements of a slab: of two rows, four per step of k: 2 t, 2 t + 1, 2 t + 8 and
// 2 t + 9, where t = lane % 4.
template <class T>
struct RawFragment {
  float x[2][T::kSteps * 4];
};

template <class T>
__device__ __forceinline__ void read_raw(RawFragment<T>& r, const typename T::UnitA& unit,
                                         int warpgroup) {
  const int warp = static_cast<int>(threadIdx.x) % kWarpgroup / 32,
            t = static_cast<int>(threadIdx.x) % 4;
  const int first = warpgroup * T::WM + warp * 16;
  constexpr int kBox = T::UnitA::kBox;
  if constexpr (T::kAlongK) {
    const int vector = first + row_of_half<T>(0), swizzle = vector % 8 * 16;
    const char* const s = reinterpret_cast<const char*>(unit.box[0][vector]);
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int k = step * T::kStep + 8 * j,
                  at = k / kBox * static_cast<int>(sizeof(unit.box[0])) +
                       ((k % kBox * 4 + 8 * t) ^ swizzle);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float2 two = *reinterpret_cast<const float2*>(s + at + 8 * half * kSwizzleBytes);
          r.x[half][4 * step + 2 * j] = two.x, r.x[half][4 * step + 2 * j + 1] = two.y;
        }
      }
    }
  } else {
    const int vector = first + row_of_half<T>(0);
    const char* const s = reinterpret_cast<const char*>(unit.box[vector / kBox]);
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int k = step * T::kStep + 2 * t + j % 2 + j / 2 * 8;
        const float2 two = *reinterpret_cast<const float2*>(s + k * kSwizzleBytes +
                                                            ((vector % kBox * 4) ^ (k % 8 * 16)));
        r.x[0][4 * step + j] = two.x, r.x[1][4 * step + j] = two.y;
      }
    }
  }
}

// The largest magnitudes of a thread's two rows in the slab, as bits, equal in the four lanes of a
// row. NaN if the row has one.
template <class T>
__device__ __forceinline__ void largest_of(std::uint32_t (&largest)[2], const RawFragment<T>& r) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float most = 0.0F;
#pragma unroll
    for (const float x : r.x[half]) most = ptx::max_nan(most, fabsf(x));
    most = ptx::max_nan(most, __shfl_xor_sync(0xFFFFFFFFU, most, 1));
    most = ptx::max_nan(most, __shfl_xor_sync(0xFFFFFFFFU, most, 2));
    largest[half] = __float_as_uint(most);
  }
}

// The fragments of a slab, per term and step of k, in wgmma's layout of A in registers.
template <class T>
struct TermFragment {
  std::uint32_t a[T::Format::kTerms][T::kSteps][4];
};

// Splits the elements, scaled by 2^scale[half] for row `half`.
template <class T>
__device__ __forceinline__ void split_fragment(TermFragment<T>& terms, const RawFragment<T>& r,
                                               const int (&scale)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float factor = power_of_two(scale[half]);
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float x = r.x[half][4 * step + 2 * j] * factor,
              y = r.x[half][4 * step + 2 * j + 1] * factor;
#pragma unroll
        for (int w = 0; w < T::Format::kTerms; ++w) {
          const std::uint32_t two = pack_two(x, y, typename T::Term{});
          const float2 back = unpack_two(two, typename T::Term{});
          terms.a[w][step][half + 2 * j] = two;
          x -= back.x, y -= back.y;
        }
      }
    }
  }
}

// Whether the warp has nonzero second terms.
template <class T>
__device__ __forceinline__ bool has_seconds(const TermFragment<T>& terms) {
  constexpr std::uint32_t kMagnitudes = 0x7FFF7FFFU;
  std::uint32_t all = 0;
#pragma unroll
  for (int step = 0; step < T::kSteps; ++step) {
#pragma unroll
    for (const std::uint32_t two : terms.a[1][step]) all |= two;
  }
  return __any_sync(0xFFFFFFFFU, (all & kMagnitudes) != 0) != 0;
}

// Multiplies a slab, all products in one wgmma group. Overwrites `partial`.
template <class T>
__device__ __forceinline__ void multiply_fragment(float (&partial)[T::kPartials],
                                                  const TermFragment<T>& terms,
                                                  const typename T::UnitB& b) {
  constexpr int kSlab = T::Format::kSlabBytes, kStepBytes = T::kStep * sizeof(typename T::Term);
  const std::uint64_t first = ptx::matrix_descriptor<kSlab>(ptx::shared_address(&b), 8 * kSlab);
  ptx::wgmma_fence();
#pragma unroll
  for (int i = 0; i < T::kProducts; ++i) {
    const TermPair pair = term_pair<T>(i);
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
      const std::uint64_t matrix_b =
          ptx::moved(first, pair.b * static_cast<int>(sizeof(b.vector[0])) + step * kStepBytes);
      ptx::wgmma_registers<typename T::Term>(partial, terms.a[pair.a][step], matrix_b,
                                             i > 0 || step > 0);
    }
  }
  ptx::wgmma_commit();
}

// Scales of a thread's sums, per row: the sums are multiplied by 2^scale, where scale is the least
// scale of the slabs so far. The largest element so far determines it, so that no sum overflows.
class SumScales {
 public:
  static constexpr int kNone = 512;  // no slab yet; above any scale
  static constexpr int kFar = 60;    // binades; 2^-48, the least product of two terms, stays normal
  // 2^e for e <= 0, and 0 for e < -126: the split itself loses what is smaller than 2^-126 of a
  // sum's largest product.
  __device__ __forceinline__ static float down(int e) { return e < -126 ? 0.0F : power_of_two(e); }

  // Updates the scales for a slab with these largest magnitudes. If the scale of the sums changes,
  // the sums are rescaled. factor() becomes the factor of the slab's partial sums. The elements of
  // `r` times 2^scale are to be split; `r` itself may be rescaled.
  template <class T>
  __device__ __forceinline__ void take(const std::uint32_t (&largest)[2], RawFragment<T>& r,
                                       int (&scale)[2], float (&sums)[T::kSums]) {
    using F = typename T::Format;
    constexpr int kInfinite = 255, kLeast = F::kTop + 127 - kMost;  // biased exponents
    bool usual = true;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto biased = static_cast<int>(largest[half] >> 23);
      scale[half] = F::kTop + 127 - biased;
      usual &= biased >= kLeast && biased < kInfinite && scale[half] >= of_sums_[half];
    }
    int more[2] = {0, 0};
    far_ = false;
    if (__any_sync(0xFFFFFFFFU, !usual)) take_unusual<T>(largest, r, scale, more, sums);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int by = of_sums_[half] - scale[half] - more[half];
      far_ |= by < -kFar && largest[half] != 0;
      factor_[half] = down(min(0, by));
    }
  }
  // Multiplies the factors of the slab's partial sums by `up`.
  __device__ __forceinline__ void compensate(float up) { factor_[0] *= up, factor_[1] *= up; }
  // Whether the scale of the last slab or partial sums differs so much from that of the sums that
  // one of both may be lost.
  __device__ __forceinline__ bool far() const { return far_; }

  // Accumulates another block's partial sums: four(i) returns the four from i on.
  template <int kSums, class Four>
  __device__ __forceinline__ void take_sums(int2 packed, float (&sums)[kSums], Four four) {
    const auto [others, exceptional] = unpacked(packed);
    exceptional_ |= exceptional;
    const int next[2] = {min(of_sums_[0], others[0]), min(of_sums_[1], others[1])};
    far_ = is_far(next[0], others[0]) || is_far(next[1], others[1]);
    move_to(next, sums);
    const float low = down(next[0] - others[0]), high = down(next[1] - others[1]);
#pragma unroll
    for (int i = 0; i < kSums; i += 4) {
      const float4 r = four(i);
      sums[i] = __fmaf_rn(r.x, low, sums[i]), sums[i + 1] = __fmaf_rn(r.y, low, sums[i + 1]);
      sums[i + 2] = __fmaf_rn(r.z, high, sums[i + 2]),
               sums[i + 3] = __fmaf_rn(r.w, high, sums[i + 3]);
    }
  }
  __device__ __forceinline__ int2 packed() const {
    return {of_sums_[0] + kBias + (exceptional_ & 1) * kFlag,
            of_sums_[1] + kBias + (exceptional_ >> 1) * kFlag};
  }

  struct Unpacked {
    int scale[2], exceptional;
  };
  __device__ __forceinline__ static Unpacked unpacked(int2 packed) {
    return {{packed.x % kFlag - kBias, packed.y % kFlag - kBias},
            (packed.x >= kFlag ? 1 : 0) | (packed.y >= kFlag ? 2 : 0)};
  }

  __device__ __forceinline__ float factor(int half) const { return factor_[half]; }
  // The scale exponent of a row, as the pre-pass would write it.
  __device__ __forceinline__ int exponent(int half) const {
    return (exceptional_ >> half & 1) != 0 ? kExceptional : of_sums_[half];
  }

 private:
  static constexpr int kMost = 126;  // largest exponent passed to power_of_two()
  static constexpr int kBias = 1024, kFlag = 1 << 16;

  // Slabs with tiny, zero, infinite or NaN magnitudes, or larger ones than before.
  template <class T>
  __device__ __forceinline__ void take_unusual(const std::uint32_t (&largest)[2], RawFragment<T>& r,
                                               int (&scale)[2], int (&more)[2],
                                               float (&sums)[T::kSums]) {
    int next[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int own = exponent_of<typename T::Format>(largest[half]);
      exceptional_ |= own == kExceptional ? 1 << half : 0;
      // Rows of zeros and exceptional rows do not change the scale.
      const bool says = largest[half] != 0 && own != kExceptional;
      next[half] = says ? min(of_sums_[half], own) : of_sums_[half];
      more[half] = says ? max(own - kMost, 0) : 0;
      scale[half] = says ? min(own, kMost) : 0;
#pragma unroll
      for (float& x : r.x[half]) x *= power_of_two(more[half]);
    }
    move_to(next, sums);
  }

  __device__ __forceinline__ static bool is_far(int next, int before) {
    return before != kNone && before - next > kFar;
  }

  template <int kSums>
  __device__ __forceinline__ void move_to(const int (&next)[2], float (&sums)[kSums]) {
    const float low = down(next[0] - of_sums_[0]), high = down(next[1] - of_sums_[1]);
    far_ |= is_far(next[0], of_sums_[0]) || is_far(next[1], of_sums_[1]);
#pragma unroll
    for (int i = 0; i < kSums; i += 4) {
      sums[i] *= low, sums[i + 1] *= low;
      sums[i + 2] *= high, sums[i + 3] *= high;
    }
    of_sums_[0] = next[0], of_sums_[1] = next[1];
  }

  int of_sums_[2] = {kNone, kNone};
  float factor_[2] = {1.0F, 1.0F};
  int exceptional_ = 0;  // one bit per row
  bool far_ = false;
};

// Combined scales of the partial sums of several blocks: the least scale per row, as within a
// block. none() replaces a constructor, which shared variables must not have.
class PartScales {
 public:
  __device__ __forceinline__ static PartScales none() {
    PartScales of;
    of.least_[0] = of.least_[1] = SumScales::kNone;
    of.most_[0] = of.most_[1] = kLowest;
    of.exceptional_ = 0;
    return of;
  }
  __device__ __forceinline__ void take(int2 packed) {
    const SumScales::Unpacked of = SumScales::unpacked(packed);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      least_[half] = min(least_[half], of.scale[half]);
      if (of.scale[half] != SumScales::kNone) most_[half] = max(most_[half], of.scale[half]);
    }
    exceptional_ |= of.exceptional;
  }
  __device__ __forceinline__ void take(const PartScales& other) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      least_[half] = min(least_[half], other.least_[half]);
      most_[half] = max(most_[half], other.most_[half]);
    }
    exceptional_ |= other.exceptional_;
  }
  // The factor of a k-split's partial sums.
  __device__ __forceinline__ float factor(int2 packed, int half) const {
    return SumScales::down(least_[half] - SumScales::unpacked(packed).scale[half]);
  }
  // As SumScales::far(), for all k-splits.
  __device__ __forceinline__ bool far() const {
    return most_[0] - least_[0] > SumScales::kFar || most_[1] - least_[1] > SumScales::kFar;
  }
  __device__ __forceinline__ int exponent(int half) const {
    return (exceptional_ >> half & 1) != 0 ? kExceptional : least_[half];
  }

 private:
  static constexpr int kLowest = -1024;  // below any scale
  int least_[2], most_[2], exceptional_;
};

// Promotion: adds a slab's partial sums to the FP32 accumulators, rounding to nearest.
template <class T>
__device__ __forceinline__ void promote_scaled(float* sums, const float (&partial)[T::kPartials],
                                               const SumScales& scales) {
#pragma unroll
  for (int i = 0; i < T::kPartials; ++i)
    sums[i] = __fmaf_rn(partial[i], scales.factor(i / 2 % 2), sums[i]);
}

}  // namespace ladder
