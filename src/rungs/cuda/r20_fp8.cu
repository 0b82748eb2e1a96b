// SPDX-License-Identifier: Apache-2.0
// r20_fp8: operands of 8 bits with scales, at twice the rate of bf16.
// NEW:     Scales per 128 elements of k, applied when a sum is promoted.
// WHY:     r16's operands have 16 bits. 8 bits need scales to stay in range, and the tensor core
//          keeps only 13 fraction bits of their sums.
// PREDICT: Twice r16's rate less the promotion: 64 multiply-adds of a warpgroup hide behind 256
//          cycles of the other's products. 1350 TFLOP/s at 8192, 1250 at 4096.
// LIMITS:  Hopper; K-major e4m3 or e5m2 operands (B transposed), scales per block or per tensor,
//          results of bf16 or f32. Any M, N, K up to 2^30, leading dimensions, alpha, beta.
// NEXT:    ladder_fp8, the library's form: tiles and k-splits by shape.
#include "device/ptx/cluster.cuh"
#include "device/ptx/sync.cuh"
#include "device/ptx/wgmma_bytes.cuh"
#include "device/tensor_product.cuh"

#include <span>

namespace ladder::r20_fp8 {

using product::kWarpgroup;
constexpr int kPair = 2;  // blocks of a cluster: tiles of neighbouring rows, with B in common
constexpr int kBand = 8;  // rows of pairs whose tiles are adjacent in time: they share B in L2

template <class In, class Out, Scaling kScaling_, int BM, int BN, int STAGES>
struct Tile : product::TileOf<In, Out, BM, BN, STAGES> {
  using Base = product::TileOf<In, Out, BM, BN, STAGES>;
  static constexpr Scaling kScaling = kScaling_;
  static constexpr int kHalf = 128, kHalves = BN / kHalf;          // columns of one wgmma
  static constexpr int kPartials = Base::WM * kHalf / kWarpgroup;  // per thread
  static constexpr int kGroups = Base::kConsumers + 1;             // the first one copies
  static constexpr int kThreads = kGroups * kWarpgroup;
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;
  struct Shared {
    typename Base::Stage stage[STAGES];
    alignas(1024) char out[Base::kConsumers][2][64 * 128];  // 64 columns to be stored
    std::uint64_t full[STAGES], empty[STAGES];              // barriers: copied; read by both blocks
  };
  static_assert(sizeof(In) == 1 && Base::BK == kScaleBlock, "a stage has one scale per row of A");
  static_assert(kHalves == 2 && kHalf == kScaleBlock, "a half has one scale of B");
  static_assert(Base::kBoxes % kPair == 0, "each block of a pair copies half of B");
  static_assert(Base::kConsumers * kConsumerRegisters + kProducerRegisters <= kGroups * 168,
                "a block launches with 168 registers per thread");
};

struct Scales {
  const float* gA;   // (K/128,M), or one
  const float* gB;   // (N/128,ldb), or one
  std::int64_t ldb;  // K/128, rounded up
};

// Origin in C of this block's tile of a pair. Pairs run in bands of kBand, column by column.
struct Place {
  int row, col;
};
template <class T>
__device__ __forceinline__ Place place_of(const product::Call& c, int pair) {
  const int band = pair / (kBand * c.tiles_n), at = pair - band * kBand * c.tiles_n;
  const int rows = min(kBand, (c.tiles_m + 1) / kPair - band * kBand);
  return {((band * kBand + at % rows) * kPair + ptx::cluster_rank()) * T::BM, at / rows * T::BN};
}

template <class T>
__device__ __forceinline__ void produce(const product::Call& c, typename T::Shared& s, int pairs) {
  const int rank = ptx::cluster_rank();
  unsigned n = 0;  // stages filled
#pragma unroll 1
  for (int pair = blockIdx.x / kPair; pair < pairs; pair += gridDim.x / kPair) {
    const Place at = place_of<T>(c, pair);
#pragma unroll 1
    for (int step = 0; step < c.steps; ++step, ++n) {
      const unsigned i = n % T::STAGES;
      const std::uint32_t full = ptx::shared_address(&s.full[i]);
      const int parity = n / T::STAGES % 2 ^ 1, k = step * T::BK;  // the first phase is complete
      ptx::mbarrier_wait(ptx::shared_address(&s.empty[i]), parity);
      ptx::mbarrier_arrive_expect(full, T::kStageBytes);
      ptx::tma_load(ptx::shared_address(s.stage[i].a), c.a, full, k, at.row);
#pragma unroll
      for (int j = rank; j < T::kBoxes + rank; j += kPair) {  // every other box, to both blocks
        ptx::tma_load_multicast(ptx::shared_address(s.stage[i].b[j]), c.b, full, k,
                                at.col + j * T::BK, (1 << kPair) - 1);
      }
    }
  }
}

// Starts the product of 64 rows of A and one half of B, given by their descriptors.
template <class T>
__device__ __forceinline__ void multiply(float (&partial)[T::kPartials], std::uint64_t a,
                                         std::uint64_t b) {
  ptx::wgmma_fence();
#pragma unroll
  for (int k = 0; k < T::BK; k += 32)  // addresses in descriptors count 16 bytes
    ptx::wgmma_bytes<typename T::In>(partial, a + k / 16, b + k / 16, k > 0);
  ptx::wgmma_commit();
}

// Where the scales of a thread's partial sums are: of A for its two rows, of B for the halves.
struct ScalesOfThread {
  const float *gA0, *gA1, *gB0, *gB1;
  __device__ __forceinline__ float4 load() const {
    return {__ldg(gA0), __ldg(gA1), __ldg(gB0), __ldg(gB1)};
  }
  __device__ __forceinline__ void advance(int m) { gA0 += m, gA1 += m, ++gB0, ++gB1; }  // one step
};
__device__ __forceinline__ ScalesOfThread scales_of(const product::Call& c, const Scales& x,
                                                    int row, int col) {
  const int last_m = c.m - 1, last_n = (c.n - 1) / kScaleBlock, block = col / kScaleBlock;
  return {x.gA + min(row, last_m), x.gA + min(row + 8, last_m), x.gB + min(block, last_n) * x.ldb,
          x.gB + min(block + 1, last_n) * x.ldb};
}

template <class T>
__device__ __forceinline__ void consume(const product::Call& c, const Scales& x,
                                        typename T::Shared& s, int pairs) {
  using Out = typename T::Out;
  constexpr bool kBlock = T::kScaling == Scaling::kBlock;
  const int tid = threadIdx.x % kWarpgroup, group = threadIdx.x / kWarpgroup - 1, lane = tid % 32;
  const auto& first = s.stage[0];
  const std::uint64_t a = ptx::matrix_descriptor(ptx::shared_address(first.a[group * T::WM]), 1024),
                      b = ptx::matrix_descriptor(ptx::shared_address(first.b), 1024);
  unsigned n = 0;  // stages read
#pragma unroll 1
  for (int pair = blockIdx.x / kPair; pair < pairs; pair += gridDim.x / kPair) {
    const Place at = place_of<T>(c, pair);
    const int row0 = at.row + group * T::WM, row = row0 + tid / 32 * 16 + lane / 4;
    float sums[T::kSums] = {};  // (WM,BN)
    ScalesOfThread scales = scales_of(c, x, row, at.col);
    float4 next = kBlock ? scales.load() : float4{};

    // Main loop. The tensor core adds the products of one stage only, which share their scales.
    // Then the partial sums are promoted: multiplied by them and added to `sums`, with rounding.
#pragma unroll 1
    for (int step = 0; step < c.steps; ++step, ++n) {
      const unsigned i = n % T::STAGES, stage = i * sizeof(first) / 16;
      const float4 now = next;
      ptx::mbarrier_wait(ptx::shared_address(&s.full[i]), n / T::STAGES % 2);
#pragma unroll
      for (int half = 0; half < T::kHalves; ++half) {
        float partial[T::kPartials];  // (WM,kHalf)
        multiply<T>(partial, a + stage, b + stage + half * sizeof(first.b[0]) / 16);
        if (kBlock && half == 0) {  // beside the products
          if (step + 1 < c.steps) scales.advance(c.m);
          next = scales.load();
        }
        ptx::wgmma_wait<0>();
#pragma unroll
        for (float& sum : partial) ptx::changed(sum);
        if (half == T::kHalves - 1 && lane < kPair)  // the stage is free in both blocks
          ptx::mbarrier_arrive_at(ptx::shared_address(&s.empty[i]), lane);
        const float of_b = half == 0 ? now.z : now.w, factor[2] = {now.x * of_b, now.y * of_b};
#pragma unroll
        for (int j = 0; j < T::kPartials; ++j) {
          float& sum = sums[half * T::kPartials + j];
          sum = kBlock ? fmaf(factor[j / 2 % 2], partial[j], sum) : sum + partial[j];
        }
      }
    }

    // Epilogue
    if (!kBlock) {
      const float factor = *x.gA * *x.gB;
#pragma unroll
      for (float& sum : sums) sum *= factor;
    }
    if (sizeof(Out) == 2 && c.by_map) {
      std::uint32_t results[T::kSums / 2];  // two per register
      product::round<Out>(c.alpha, sums, results);
#pragma unroll
      for (int piece = 0; piece < T::BN / 64; ++piece)
        product::store_box(c, s.out[group][piece % 2], results, piece, group, row0, at.col);
    } else {
      product::store<Out>(c, sums, row0, at.col);
    }
  }
  if (tid == 0) ptx::bulk_wait_read<0>();
}

template <class T>
__global__ void __cluster_dims__(kPair, 1, 1) __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ product::Call c, const __grid_constant__ Scales x, int pairs) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: the producer, or one of the consumers.
  if (threadIdx.x == 0) product::init_barriers(s, kPair * T::kConsumers * 4);  // both blocks' warps
  ptx::cluster_sync();  // the other block may now copy to here and arrive here
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) produce<T>(c, s, pairs);
    __syncwarp();
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T>(c, x, s, pairs);
  }
  ptx::cluster_sync();  // the other block no longer uses this one's shared memory
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  int sms = 0;
  if (Status s = sm_count(sms); !s) return s;
  CallMemory memory;
  product::Call c;
  Status s = product::describe(p, o, T::BM, T::BN, stream, memory, c);
  if (!s || c.steps == 0) return s;
  const Scales x{o.scales_a, o.scales_b, extent_scales_b(p).ld};
  const int pairs = (c.tiles_m + 1) / kPair * c.tiles_n;
  return product::launch<T>("r20_fp8", kernel<T>, std::min(sms / kPair, pairs) * kPair, stream, c,
                            x, pairs);
}

template <class In, class Out, Scaling kScaling>
static constexpr KernelInfo info(std::string_view id) {
  return {.id = id,
          .rung = "r20_fp8",
          .idea = "8-bit operands with scales, sums promoted every 128",
          .precision = Precision::kFp8,
          .min_cc = 90,
          .in = std::is_same_v<In, __nv_fp8_e4m3> ? Type::kE4m3 : Type::kE5m2,
          .out = std::is_same_v<Out, float> ? Type::kF32 : Type::kBf16,
          .scaling = kScaling,
          .k_major = true,
          .accepts = product::accept,
          .launch = launch<Tile<In, Out, kScaling, 128, 256, 4>>};
}

static constexpr KernelInfo kKernels[] = {
    info<__nv_fp8_e4m3, __nv_bfloat16, Scaling::kBlock>("r20_fp8"),
    info<__nv_fp8_e4m3, float, Scaling::kBlock>("r20_fp8_f32"),
    info<__nv_fp8_e4m3, __nv_bfloat16, Scaling::kTensor>("r20_fp8_tensor"),
    info<__nv_fp8_e5m2, __nv_bfloat16, Scaling::kBlock>("r20_fp8_e5m2"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r20_fp8
