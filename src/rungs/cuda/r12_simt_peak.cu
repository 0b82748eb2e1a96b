// SPDX-License-Identifier: Apache-2.0
// r12_simt_peak: some warps copy, the others compute.
// NEW:     Producer and consumer warps, persistent blocks.
// WHY:     In r11 every warp waits at a barrier per tile and spends issue slots on copies; the FP32
//          pipe idles during a block's first copies and its stores.
// PREDICT: Consumers issue 93% multiply-adds, producers add 2%; copies overlap the last tile's
//          stores. A tenth faster.
// LIMITS:  Hopper; any M, N, K, leading dimensions, alpha, beta; B by 128 bits where alignment
//          allows, else by 32.
// NEXT:    r13 multiplies on tensor cores.
#include "device/launch.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/sync.cuh"
#include "device/vector.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r12_simt_peak {

template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_, int STAGES_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int WM = WM_, WN = WN_;  // outputs of a warp
  static constexpr int TM = TM_, TN = TN_;  // outputs of a thread, in pieces of 4 x 4
  static constexpr int STAGES = STAGES_;    // tiles in shared memory
  static constexpr int kLanesM = WM / TM, kLanesN = WN / TN;  // lanes of a warp, kLanesM x kLanesN
  static constexpr int kConsumers = BM / WM * (BN / WN) * 32;
  static constexpr int kProducers = 128;  // a warpgroup, the unit of setmaxnreg
  static constexpr int kThreads = kConsumers + kProducers;
  static constexpr int kConsumerRegisters = 192, kProducerRegisters = 120;
  static constexpr int kRowsA = kProducers / 8;  // rows of A that one pass copies, 32 bytes each
  static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles must divide the block tile");
  static_assert(kLanesM * kLanesN == 32 && (kLanesM == 4 || kLanesM == 8), "lanes are 4 x 8");
  static_assert(TM % 4 == 0 && TN % 4 == 0, "operands and outputs are accessed by four");
  static_assert(BK == 8 && BM % kRowsA == 0, "a pass copies kRowsA rows and 8 columns of A");
  static_assert(kConsumers % 128 == 0, "setmaxnreg takes whole warpgroups");
  static_assert(kConsumers * kConsumerRegisters + kProducers * kProducerRegisters <= kThreads * 168,
                "registers at launch: 65,536 over 384 threads, in steps of eight");

  // A warp copies 8 columns x 4 rows of A at once and transposes them: with rows of sA 4 elements
  // longer, element (k, row) lies in bank 4 k + row, each in its own.
  struct Stage {
    alignas(16) float a[BK][BM + 4];  // transposed
    alignas(16) float b[BK][BN];
    alignas(16) std::uint64_t full, empty;  // barriers: copies have landed; consumers have read
  };
  static constexpr int kShared = sizeof(Stage) * STAGES;
  static_assert(kShared <= 232'448, "a block's shared memory on compute capability 9.0");
};

// Tiles in bands of kBand tile rows, column by column: concurrent tiles share operands in L2.
struct Tiles {
  int m, n;
  __device__ __forceinline__ BlockTile place(int tile) const {
    constexpr int kBand = 16;
    const int band = tile / (kBand * n), rows = min(kBand, m - band * kBand);
    const int in_band = tile - band * kBand * n;
    return {band * kBand + in_band % rows, in_band / rows};
  }
};

// Copies the stages of every tile, and one more, whose fragments the consumers read but do not use.
// The loop has few instructions beside the copies: each takes an issue slot from the consumers.
template <class T, bool kAligned>
__device__ __forceinline__ void produce(const Problem& p, const Operands& o, const Tiles& tiles,
                                        std::uint32_t first) {
  using Stage = typename T::Stage;
  constexpr int kWidth = kAligned ? 4 : 1;                 // elements of B in one copy
  constexpr int kAcross = T::kProducers / T::BK * kWidth;  // columns of B in one pass
  const int tid = threadIdx.x - T::kConsumers, a_row = tid / 8, a_col = tid % 8;
  const int b_row = tid / (T::kProducers / T::BK), b_col = tid % (T::kProducers / T::BK) * kWidth;
  const std::uint32_t at_a = offsetof(Stage, a) + (a_col * (T::BM + 4) + a_row) * 4;
  const std::uint32_t at_b = offsetof(Stage, b) + (b_row * T::BN + b_col) * 4;
  const int steps = static_cast<int>((p.k + T::BK - 1) / T::BK);
  const std::uint32_t end = __shfl_sync(0xffffffffU, first + T::kShared, 0);
  std::uint32_t stage = first, parity = 1;  // the phase before a barrier's first is complete
  const auto advance = [&] {
    ptx::cp_async_arrive(stage + offsetof(Stage, full));
    stage += sizeof(Stage);
    if (stage == end) stage = first, parity ^= 1;
  };
  for (int tile = blockIdx.x; tile < tiles.m * tiles.n; tile += gridDim.x) {
    const BlockTile at = tiles.place(tile);
    const float* gA[T::BM / T::kRowsA];
#pragma unroll
    for (int i = 0; i < T::BM / T::kRowsA; ++i) {  // beyond A its last row, for sums not stored
      const int row = at.m * T::BM + a_row + i * T::kRowsA;
      gA[i] = o.a + min(row, static_cast<int>(p.m) - 1) * p.lda + a_col;
    }
    const float* gB = o.b + b_row * p.ldb + at.n * T::BN + b_col;
    const int left = static_cast<int>(p.n) - at.n * T::BN - b_col;  // columns of B
    const auto copy = [&](int depth) {
      ptx::mbarrier_wait(stage + offsetof(Stage, empty), parity);
#pragma unroll
      for (int i = 0; i < T::BM / T::kRowsA; ++i) {
        ptx::cp_async<4>(stage + at_a + i * T::kRowsA * 4, gA[i], a_col < depth);
        gA[i] += depth;
      }
#pragma unroll
      for (int i = 0; i < T::BN; i += kAcross) {
        ptx::cp_async<4 * kWidth>(stage + at_b + i * 4, gB + i, i < left && b_row < depth);
      }
      gB += depth * p.ldb;
      advance();
    };
    // The first step is the ragged one, so that the others need no test for the end of k.
    if (steps > 0) copy(static_cast<int>(p.k) - (steps - 1) * T::BK);
#pragma unroll 4
    for (int step = 1; step < steps; ++step) copy(T::BK);
  }
  ptx::mbarrier_wait(stage + offsetof(Stage, empty), parity);
  advance();
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
}

template <class T, bool kAligned>
__device__ __forceinline__ void consume(const Problem& p, const Operands& o, const Tiles& tiles,
                                        std::uint32_t first) {
  using Stage = typename T::Stage;
  // Who am I: TM x TN of a warp's outputs. Lanes that share a row or a column of outputs are
  // neighbours, so that a 128-bit shared load takes two wavefronts.
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int of8 = lane % 2 + lane / 8 * 2, of4 = lane / 2 % 4;
  const int c_row = warp / (T::BN / T::WN) * T::WM + (T::kLanesM == 8 ? of8 : of4) * 4;
  const int c_col = warp % (T::BN / T::WN) * T::WN + (T::kLanesN == 8 ? of8 : of4) * 4;

  // Tensors and shapes. A fragment's shared address is a stage's address and a constant.
  const std::uint32_t at_a = offsetof(Stage, a) + c_row * 4, at_b = offsetof(Stage, b) + c_col * 4;
  float rA[2][T::TM], rB[2][T::TN];  // this step of k and the next
  const auto read_fragments = [&](std::uint32_t stage, int kk) {
#pragma unroll
    for (int j = 0; j < T::TN; j += 4)
      ptx::load_shared4(&rB[kk % 2][j], stage + at_b + (kk * T::BN + j * T::kLanesN) * 4);
#pragma unroll
    for (int i = 0; i < T::TM; i += 4)
      ptx::load_shared4(&rA[kk % 2][i], stage + at_a + (kk * (T::BM + 4) + i * T::kLanesM) * 4);
  };

  const int steps = static_cast<int>((p.k + T::BK - 1) / T::BK);
  const std::uint32_t end = __shfl_sync(0xffffffffU, first + T::kShared, 0);
  std::uint32_t stage = first, parity = 0;
  ptx::mbarrier_wait(stage + offsetof(Stage, full), parity);
  read_fragments(stage, 0);
  for (int tile = blockIdx.x; tile < tiles.m * tiles.n; tile += gridDim.x) {
    float rC[T::TM][T::TN] = {};  // (TM,TN)

    // Main loop
#pragma unroll 1
    for (int step = steps; step > 0; --step) {
      std::uint32_t next = stage + sizeof(Stage);
      if (next == end) next = first, parity ^= 1;
      bool ready = false;
#pragma unroll
      for (int kk = 0; kk < T::BK; ++kk) {
        if (kk == T::BK - 2) ready = ptx::mbarrier_try_wait(next + offsetof(Stage, full), parity);
        if (kk + 1 < T::BK) {
          read_fragments(stage, kk + 1);
        } else {  // this thread has read the stage
          ptx::mbarrier_arrive(stage + offsetof(Stage, empty));
          if (!ready) ptx::mbarrier_wait(next + offsetof(Stage, full), parity);
          read_fragments(next, 0);
        }
#pragma unroll
        for (int i = 0; i < T::TM; ++i) {
#pragma unroll
          for (int j = 0; j < T::TN; ++j) {  // to and fro: an operand in use is used again at once
            const int jj = i % 2 == 0 ? j : T::TN - 1 - j;
            rC[i][jj] += rA[kk % 2][i] * rB[kk % 2][jj];
          }
        }
      }
      stage = next;
    }

    // Epilogue
    const BlockTile at = tiles.place(tile);
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
      const int row = at.m * T::BM + c_row + i / 4 * 4 * T::kLanesM + i % 4;
#pragma unroll
      for (int j = 0; j < T::TN; j += 4) {
        const int col = at.n * T::BN + c_col + j * T::kLanesN;
        const int left = row < p.m ? static_cast<int>(p.n) - col : 0;
        store4_predicated<kAligned>(o.c + row * p.ldc + col, &rC[i][j], left, p.alpha, p.beta);
      }
    }
  }
}

template <class T, bool kAligned>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o,
           const __grid_constant__ Tiles tiles) {
  extern __shared__ float4 shared[];  // (STAGES)
  auto* const stages = reinterpret_cast<typename T::Stage*>(shared);
  if (threadIdx.x < T::STAGES) {
    ptx::mbarrier_init(ptx::shared_address(&stages[threadIdx.x].full), T::kProducers);
    ptx::mbarrier_init(ptx::shared_address(&stages[threadIdx.x].empty), T::kConsumers);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  // Uniform in a warp: ptxas keeps values that are derived from it in uniform registers.
  const std::uint32_t first = __shfl_sync(0xffffffffU, ptx::shared_address(stages), 0);
  if (threadIdx.x >= T::kConsumers) {
    ptx::release_registers<T::kProducerRegisters>();
    produce<T, kAligned>(p, o, tiles, first);
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T, kAligned>(p, o, tiles, first);
  }
}

using DefaultTile = Tile<128, 256, 8, 64, 64, 16, 8, 8>;
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  using T = DefaultTile;
  const auto chosen = aligned_by_4(p, o) ? kernel<T, true> : kernel<T, false>;
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  constexpr auto kAttribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  if (!error) error = cudaFuncSetAttribute(chosen, kAttribute, T::kShared);
  if (error) return {Code::kLaunchFailed, cudaGetErrorString(error)};
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3) {
    const auto count = [](auto n, int of) { return static_cast<int>(ceil_div(n, of)); };
    const Tiles tiles{count(part.m, T::BM), count(part.n, T::BN)};
    chosen<<<std::min(sms, tiles.m * tiles.n), T::kThreads, T::kShared, stream>>>(part, at, tiles);
  });
}

static constexpr KernelInfo kKernels[] = {
    plain_rung<kHopper>("r12_simt_peak", "some warps copy, the others compute", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r12_simt_peak
