// SPDX-License-Identifier: Apache-2.0
// r19_fp16x3: FP32 accuracy at a third of fp16's rate.
// NEW:     Two fp16 terms, three products.
// WHY:     r18 needs three bf16 terms of 8 bits. An fp16 term has 11, so that two hold 22 and a
//          sign. What fp16 lacks is range. The scale of each row of op(A) and column of op(B) keeps
//          every term in range; r18 needs it for subnormals and the largest numbers only.
// PREDICT: 660 / 3 = 220 TFLOP/s less the pre-pass: 10% of the time at 4096, 5% at 8192. Errors
//          below SGEMM's from K = 1024 on: partial sums are added with rounding to nearest.
// LIMITS:  Hopper. Any M, N, K up to 2^28, layouts, transpositions, leading dimensions, alpha,
//          beta; Inf and NaN as SGEMM. Elements 2^-16 times their row's or column's largest lose
//          bits.
// NEXT:    r20 takes fp8 operands.
#include "device/ptx/sync.cuh"
#include "device/ptx/wgmma.cuh"
#include "device/split_terms.cuh"

#include <span>

namespace ladder::r19_fp16x3 {

constexpr int kWarpgroup = 128;  // threads
constexpr int kBand = 16;  // tile rows whose tiles run one after the other: they share B through L2

template <class Format_, int BM_, int BN_, int kUnitsA_, int kUnitsB_>
struct Tile {
  using Format = Format_;
  using Unit = typename Format::Unit;
  static constexpr int BM = BM_, BN = BN_, BK = Format::BK;
  static constexpr int kUnitsA = kUnitsA_, kUnitsB = kUnitsB_;  // in shared memory
  static constexpr int WM = 64, kHalf = 128;  // a warpgroup's rows; columns of one unit of B
  static constexpr int kHalves = BN / kHalf, kPartials = WM * kHalf / kWarpgroup;  // per thread
  static constexpr int kConsumers = BM / WM, kThreads = (kConsumers + 1) * kWarpgroup;
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;
  static_assert(BM == Format::kVectors && kHalf == Format::kVectors, "a tile reads whole units");
  static_assert(BN % kHalf == 0, "halves must cover the tile");
  static_assert(kConsumers * kConsumerRegisters + kProducerRegisters <= (kConsumers + 1) * 168,
                "a block launches with 168 registers per thread");

  struct Shared {
    terms::Ring<Unit, kUnitsA> a;
    terms::Ring<Unit, kUnitsB> b;
  };
  static_assert(sizeof(Shared) <= 227 * 1024, "shared memory of a block");
};

// Position of tile `tile`: bands of kBand tile rows, column by column in a band.
struct Place {
  int m, n;
};
template <class T>
__device__ __forceinline__ Place place_of(const terms::Product& x, int tile) {
  const int tiles_m = x.a.padded / T::BM, tiles_n = x.b.padded / T::BN;
  const int band = tile / (kBand * tiles_n), in_band = tile % (kBand * tiles_n);
  const int rows = min(kBand, tiles_m - band * kBand);
  return {band * kBand + in_band % rows, in_band / rows};
}

template <class T>
__device__ __forceinline__ void produce(const terms::Product& x, typename T::Shared& s, int tiles) {
  const std::int64_t slabs = x.a.slabs;
  unsigned a = 0, b = 0;  // units loaded
#pragma unroll 1
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Place place = place_of<T>(x, tile);
#pragma unroll 1
    for (int slab = 0; slab < slabs; ++slab) {
      s.a.load(a++, x.a.gUnits, place.m * slabs + slab);
#pragma unroll
      for (int half = 0; half < T::kHalves; ++half) {
        s.b.load(b++, x.b.gUnits, (place.n * T::kHalves + half) * slabs + slab);
      }
    }
  }
}

// The products of terms of a unit of A, from `row` on, and a unit of B. The smallest are first,
// because truncation is proportional to the sum. t1 t1 is below the last bit.
template <class T>
__device__ __forceinline__ void multiply(float (&partial)[T::kPartials], const typename T::Unit& a,
                                         const typename T::Unit& b, int row) {
  constexpr int kPairs[][2] = {{1, 0}, {0, 1}, {0, 0}};        // (term of A, term of B)
  constexpr int kRowBytes = T::Format::kRowBytes, kStep = 32;  // bytes of k per wgmma
  bool add = false;
  ptx::wgmma_fence();
#pragma unroll
  for (const auto& pair : kPairs) {
#pragma unroll
    for (int at = 0; at < kRowBytes; at += kStep) {
      const std::uint32_t of_a = ptx::shared_address(a.term[pair[0]][row]) + at;
      const std::uint32_t of_b = ptx::shared_address(b.term[pair[1]]) + at;
      ptx::wgmma_shared<typename T::Format::Term, false>(
          partial, ptx::matrix_descriptor<kRowBytes>(of_a, 8 * kRowBytes),
          ptx::matrix_descriptor<kRowBytes>(of_b, 8 * kRowBytes), add);
      add = true;
    }
  }
  ptx::wgmma_commit();
}

template <class T>
__device__ __forceinline__ void consume(const terms::Product& x, typename T::Shared& s, int tiles) {
  const int tid = static_cast<int>(threadIdx.x) - kWarpgroup, warp = tid / 32, lane = tid % 32;
  const int row_of_group = warp / 4 * T::WM;
  unsigned a = 0, b = 0;  // units read
#pragma unroll 1
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Place place = place_of<T>(x, tile);
    float sums[T::kHalves][T::kPartials] = {};  // (WM,kHalf) per half

    // Main loop. The tensor core truncates its sums, so it adds the products of one slab only. The
    // partial sums are promoted: added to `sums` with rounding to nearest.
#pragma unroll 1
    for (int slab = 0; slab < x.a.slabs; ++slab, ++a) {
      const auto& unit_a = s.a.wait(a);
#pragma unroll
      for (int half = 0; half < T::kHalves; ++half, ++b) {
        float partial[T::kPartials];  // (WM,kHalf)
        multiply<T>(partial, unit_a, s.b.wait(b), row_of_group);
        ptx::wgmma_wait<0>();
#pragma unroll
        for (float& sum : partial) ptx::changed(sum);
        if (lane == 0) s.b.release(b);
        if (lane == 0 && half == T::kHalves - 1) s.a.release(a);
#pragma unroll
        for (int i = 0; i < T::kPartials; ++i) sums[half][i] += partial[i];
      }
    }

    terms::store_sums<typename T::Format>(x, sums, place.m * T::BM + row_of_group + warp % 4 * 16,
                                          place.n * T::BN);
  }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ terms::Product x, int tiles) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: the producer, or one of the consumers.
  if (threadIdx.x == 0) {
    s.a.init(T::kConsumers * 4);  // warps
    s.b.init(T::kConsumers * 4);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) produce<T>(x, s, tiles);
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(x, s, tiles);
  }
}

using DefaultTile = Tile<terms::Format<__half, 2, 14, 64>, 128, 256, 3, 4>;

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  using T = DefaultTile;
  if (p.m == 0 || p.n == 0) return Status::ok();
  CallMemory memory;
  terms::Product x;
  Status s = terms::split_operands<T::Format>(p, o, T::BM, T::BN, stream, memory, x);
  if (!s) return s;
  const int tiles = x.a.padded / T::BM * (x.b.padded / T::BN);
  int sms = 0;
  if (s = sm_count(sms); !s) return s;
  constexpr int kShared = sizeof(T::Shared);
  const cudaError_t error = allow_shared(reinterpret_cast<const void*>(kernel<T>), kShared);
  if (error != cudaSuccess) return cuda_failure("cudaFuncSetAttribute", error);
  kernel<T><<<std::min(tiles, sms), T::kThreads, kShared, stream>>>(x, tiles);
  return launched("r19_fp16x3");
}

static constexpr KernelInfo kKernels[] = {
    {.id = "r19_fp16x3",
     .rung = "r19_fp16x3",
     .idea = "two scaled fp16 terms, three products",
     .precision = Precision::kFp16x3,
     .min_cc = 90,
     .accepts = terms::accept,
     .launch = launch},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r19_fp16x3
