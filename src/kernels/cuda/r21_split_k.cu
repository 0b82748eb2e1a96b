// SPDX-License-Identifier: Apache-2.0
// r21_split_k: small, thin and deep problems on CUDA cores.     NEW: parts of k, added within a cluster
// WHY: r12's tile of 256 x 128 leaves most SMs without work where C is small, and most of a tile empty where it is thin; a
//      matrix times a few vectors should take as long as reading the matrix.
// PREDICT: 256^3 in 6 us instead of 21, 64 x 64 x 65536 in 25 instead of 300, 1 to 16 rows against 4096 x 4096 in little more
//          than their 16 us of memory time. Large cubes keep r12: half its rate there.
// LIMITS: Hopper's clusters. Any m, n, k up to 2^28, layouts, transpositions, leading dimensions, alpha, beta.
//                                                               NEXT: -
#include "device/launch_dependent.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/dependent.cuh"
#include "device/workspace.cuh"
#include "kernels/cuda/launch.cuh"
#include "problem/accept.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <span>

namespace ladder::r21_split_k {

// LM x LN lanes of a warp have TM x TN sums each; WM x WN warps cover the tile, WK of them take turns along k.
template <int TM_, int TN_, int LM_, int LN_, int WM_, int WN_, int WK_, int STAGES_>
struct Tile {
  static constexpr int TM = TM_, TN = TN_, LM = LM_, LN = LN_, WM = WM_, WN = WN_, WK = WK_, STAGES = STAGES_;
  static constexpr int BM = TM * LM * WM, BN = TN * LN * WN, BK = 32;
  static constexpr int kThreads = 128;
  static constexpr int kBlocksOfSm = TM * TN > 32 ? 3 : 4;  // that its registers hold
  static constexpr int kPad = 4;  // so that 4 lines x 8 k lie in 32 banks, and quads on 16 bytes
  static constexpr int kStrideA = BM + kPad, kStrideB = BN + kPad, kStrideC = BN + 1;
  static constexpr int kStageFloats = BK * (kStrideA + kStrideB);
  static constexpr int kFloats = std::max(STAGES * kStageFloats, WK* BM* kStrideC);
  static constexpr int kBytes = kFloats * 4;
  static_assert(LM * LN == 32 && WM * WN * WK * 32 == kThreads, "all lanes of all warps");
};
using Thinnest = Tile<8, 2, 1, 32, 1, 1, 4, 4>;  // 8 x 64
using Thin = Tile<8, 4, 2, 16, 1, 1, 4, 4>;      // 16 x 64
using Low = Tile<8, 8, 4, 8, 1, 1, 4, 4>;        // 32 x 64
using Square = Tile<8, 8, 4, 8, 2, 1, 2, 3>;     // 64 x 64
using Wide = Tile<8, 8, 4, 8, 2, 2, 1, 3>;       // 64 x 128

// An operand: element (line, k) at g + line * line_step + k * k_step, one of the steps being 1.
struct Side {
  const float* g;
  std::int64_t line_step, k_step;
  int lines;
  bool quads;  // four neighbours, the first at a multiple of four, may be copied at once
};

struct Job {
  Side a, b;
  float* gC;
  std::int64_t row_step, col_step;  // of C
  int m, n, k;
  float alpha, beta;
  int tiles_m, cluster, parts;  // of a tile: `parts` clusters
  float* gPartial;              // (tiles, parts, BM * BN), where parts > 1
  unsigned* gArrived;           // (tiles, cluster), zero before and after
};

constexpr int kMostCluster = 8;

// Of T elements of one of L lanes, where number i lies among the warp's.
template <int T, int L>
__device__ __forceinline__ constexpr int place(int lane, int i) {
  return T >= 4 ? i / 4 * (L * 4) + lane * 4 + i % 4 : lane * T + i;
}

// Copies LINES lines of an operand, BK of k after BK of k, to shared memory (BK, STRIDE); zeros beyond k. Lines beyond the
// operand's last are left as they are: no sum that is stored has any of theirs.
template <class T, int LINES, int STRIDE>
class Copier {
 public:
  __device__ __forceinline__ Copier(const Side& x, int line0, int k0)
      : quads_(x.line_step == 1 && x.quads), along_k_(x.k_step == 1 && !quads_), step_(T::BK * x.k_step) {
    const int tid = static_cast<int>(threadIdx.x);
    // Neighbouring lanes along the operand's lines in memory; along k 8 k of 4 lines a warp.
    const int l = quads_ ? tid % kQuads * 4 : along_k_ ? tid / 8 % kLinesAtOnce : tid % LINES;
    k_ = quads_ ? tid / kQuads : along_k_ ? tid % 8 + tid / 32 * 8 : tid / LINES;
    g_ = x.g + (line0 + l) * x.line_step + (k0 + k_) * x.k_step;
    more_ = quads_ ? kQuadsAtOnce * x.k_step : along_k_ ? kLinesAtOnce * x.line_step : kAtOnce * x.k_step;
    place_ = k_ * STRIDE + l;
    lines_left_ = x.lines - line0 - l;
    whole_ = line0 + LINES <= x.lines;
  }
  // `left` of k, from where the copy before this one ended.
  __device__ __forceinline__ void copy(float* s, int left) {
    float* const to = s + place_;
    const float* g = g_;
    const bool whole = whole_ && left >= T::BK;
    if (quads_) {
#pragma unroll
      for (int i = 0; i < T::BK; i += kQuadsAtOnce, g += more_) {
        if (kQuadsAtOnce > T::BK && k_ >= T::BK) break;
        float* const at = to + i * STRIDE;
        if (whole || lines_left_ >= 4) {
          const bool read = whole || k_ + i < left;
          ptx::cp_async<16>(at, g, read);
        } else {
#pragma unroll 1
          for (int j = 0; j < lines_left_; ++j) ptx::cp_async<4>(at + j, g + j, k_ + i < left);
        }
      }
    } else if (along_k_) {
      if (whole) {
#pragma unroll
        for (int i = 0; i < LINES; i += kLinesAtOnce, g += more_) ptx::cp_async<4>(to + i, g);
      } else {
#pragma unroll 2
        for (int i = 0; i < LINES; i += kLinesAtOnce, g += more_) {
          if (i < lines_left_) ptx::cp_async<4>(to + i, g, k_ < left);
        }
      }
    } else {
#pragma unroll 2
      for (int i = 0; i < T::BK; i += kAtOnce, g += more_) {
        if (lines_left_ > 0) ptx::cp_async<4>(to + i * STRIDE, g, k_ + i < left);
      }
    }
    g_ += step_;
  }

 private:
  static constexpr int kQuads = LINES / 4, kQuadsAtOnce = T::kThreads / kQuads;       // k
  static constexpr int kLinesAtOnce = 4, kAtOnce = std::max(1, T::kThreads / LINES);  // lines, k
  static_assert(LINES <= T::kThreads, "a thread for each line");
  bool quads_, along_k_, whole_;
  int k_, place_, lines_left_;
  const float* g_;
  std::int64_t more_, step_;
};

template <int COUNT, int L>
__device__ __forceinline__ void read_line(float (&r)[COUNT], const float* s, int lane) {
  if constexpr (COUNT >= 4) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(s + place<COUNT, L>(lane, i));
      r[i] = four.x, r[i + 1] = four.y, r[i + 2] = four.z, r[i + 3] = four.w;
    }
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) r[i] = s[place<COUNT, L>(lane, i)];
  }
}

template <class T>
__device__ __forceinline__ void multiply(float (&acc)[T::TM][T::TN], const float* sA, const float* sB,
                                         int lane_m, int lane_n, int turn) {
#pragma unroll 4  // more would not stay in the instruction cache
  for (int k = 0; k < T::BK; k += T::WK) {
    float a[T::TM], b[T::TN];
    read_line<T::TM, T::LM>(a, sA + (k + turn) * T::kStrideA, lane_m);
    read_line<T::TN, T::LN>(b, sB + (k + turn) * T::kStrideB, lane_n);
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
#pragma unroll
      for (int j = 0; j < T::TN; ++j) acc[i][j] = __fmaf_rn(a[i], b[j], acc[i][j]);
    }
  }
}

// Where element number i of a tile lies: along C's lines in memory.
struct Element {
  int row, col;
};
template <class T>
__device__ __forceinline__ Element element_of(const Job& x, int i) {
  if (x.col_step == 1) return {i / T::BN, i % T::BN};
  return {i % T::BM, i / T::BM};
}

template <class T>
__device__ __forceinline__ void store(const Job& x, int row0, int col0, int i, float sum) {
  const Element at = element_of<T>(x, i);
  const int row = row0 + at.row, col = col0 + at.col;
  if (row >= x.m || col >= x.n) return;
  store_scaled(x.gC + row * x.row_step + col * x.col_step, sum, x.alpha, x.beta);
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksOfSm) kernel(const __grid_constant__ Job x) {
  extern __shared__ __align__(16) float s[];
  __shared__ bool last;
  // Who am I
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;
  const int rank = static_cast<int>(blockIdx.x) % x.cluster, rest = static_cast<int>(blockIdx.x) / x.cluster;
  const int part = rest % x.parts, tile = rest / x.parts;
  const int row0 = tile % x.tiles_m * T::BM, col0 = tile / x.tiles_m * T::BN;
  const int turn = warp % T::WK, of_tile = warp / T::WK;
  const int lane_m = lane % T::LM, lane_n = lane / T::LM;
  const int row = of_tile % T::WM * (T::TM * T::LM), col = of_tile / T::WM * (T::TN * T::LN);
  // This block's part of k
  const int steps = (x.k + T::BK - 1) / T::BK, split = part * x.cluster + rank, splits = x.parts * x.cluster;
  const int begin = static_cast<int>(std::int64_t{steps} * split / splits);
  const int end = static_cast<int>(std::int64_t{steps} * (split + 1) / splits);

  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  // Main loop
  Copier<T, T::BM, T::kStrideA> copier_a(x.a, row0, begin * T::BK);
  Copier<T, T::BN, T::kStrideB> copier_b(x.b, col0, begin * T::BK);
  const auto load = [&](int into, int step) {
    if (step < end) {
      copier_a.copy(s + into * T::kStageFloats, x.k - step * T::BK);
      copier_b.copy(s + into * T::kStageFloats + T::BK * T::kStrideA, x.k - step * T::BK);
    }
    ptx::cp_async_commit();
  };
  float acc[T::TM][T::TN]{};
#pragma unroll 1
  for (int i = 0; i < T::STAGES - 1; ++i) load(i, begin + i);
  int stage = 0;
  for (int step = begin; step < end; ++step) {
    ptx::cp_async_wait<T::STAGES - 2>();
    __syncthreads();
    load(stage == 0 ? T::STAGES - 1 : stage - 1, step + T::STAGES - 1);
    const float* sA = s + stage * T::kStageFloats;
    multiply<T>(acc, sA + row, sA + T::BK * T::kStrideA + col, lane_m, lane_n, turn);
    stage = stage == T::STAGES - 1 ? 0 : stage + 1;
  }

  // Epilogue: sums of all warps, blocks of the cluster and clusters, always in that order. Block `rank` adds its share of the
  // tile's elements.
  __syncthreads();
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
#pragma unroll
    for (int j = 0; j < T::TN; ++j) {
      s[turn * (T::BM * T::kStrideC) + (row + place<T::TM, T::LM>(lane_m, i)) * T::kStrideC + col +
        place<T::TN, T::LN>(lane_n, j)] = acc[i][j];
    }
  }
  constexpr int kElements = T::BM * T::BN;
  if constexpr (T::WK > 1) {
    __syncthreads();
#pragma unroll 4
    for (int i = tid; i < kElements; i += T::kThreads) {
      float* const at = s + i / T::BN * T::kStrideC + i % T::BN;
      float sum = *at;
#pragma unroll
      for (int w = 1; w < T::WK; ++w) sum += at[w * (T::BM * T::kStrideC)];
      *at = sum;
    }
  }
  std::uint32_t of_block[kMostCluster];  // where their sums lie
  if (x.cluster > 1) {
    ptx::cluster_sync();
#pragma unroll
    for (int block = 0; block < kMostCluster; ++block)
      of_block[block] = ptx::shared_address_of(ptx::shared_address(s), min(block, x.cluster - 1));
  } else {
    __syncthreads();
  }
  const int first = kElements / x.cluster * rank, behind = first + kElements / x.cluster;
  float* const gTile = x.gPartial + std::int64_t{tile} * x.parts * kElements;
#pragma unroll 2
  for (int i = first + tid; i < behind; i += T::kThreads) {
    const Element at = element_of<T>(x, i);
    const int offset = at.row * T::kStrideC + at.col;
    float sum = 0.0F;
    if (x.cluster == 1) {
      sum = s[offset];
    } else {
#pragma unroll
      for (int block = 0; block < kMostCluster; ++block) {
        if (block < x.cluster) sum += ptx::load_cluster(of_block[block] + 4 * offset);
      }
    }
    if (x.parts == 1) {
      store<T>(x, row0, col0, i, sum);
    } else {
      __stcg(gTile + std::int64_t{part} * kElements + i, sum);
    }
  }
  if (x.cluster > 1) ptx::cluster_sync();  // nobody ends while others read
  if (x.parts == 1) return;
  __threadfence();
  __syncthreads();
  unsigned* const gArrived = x.gArrived + tile * x.cluster + rank;
  if (tid == 0) last = atomicAdd(gArrived, 1U) == static_cast<unsigned>(x.parts) - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int i = first + tid; i < behind; i += T::kThreads) {
    float sum = 0.0F;
#pragma unroll 8
    for (int other = 0; other < x.parts; ++other) sum += __ldcg(gTile + std::int64_t{other} * kElements + i);
    store<T>(x, row0, col0, i, sum);
  }
  if (tid == 0) *gArrived = 0;
}

template <class T>
static Status launch_tile(Job x, int sms, Stream stream) {
  x.tiles_m = static_cast<int>(ceil_div(x.m, T::BM));
  const std::int64_t tiles = x.tiles_m * ceil_div(x.n, T::BN), steps = ceil_div(x.k, T::BK);
  const auto wanted =
      std::clamp<std::int64_t>(T::kBlocksOfSm * sms / tiles, 1, std::max<std::int64_t>(1, steps));
  while (x.cluster < kMostCluster && 2 * x.cluster <= wanted) x.cluster *= 2;
  x.parts = static_cast<int>(wanted / x.cluster);
  cudaError_t error = cudaSuccess;
  if (x.parts > 1) {
    const std::int64_t floats = tiles * x.parts * T::BM * T::BN;
    x.gPartial = static_cast<float*>(Workspace::scratch(stream, static_cast<std::size_t>(4 * floats), error));
    if (x.gPartial == nullptr) return {Code::kLaunchFailed, cudaGetErrorString(error)};
    x.gArrived = Workspace::flags(stream, static_cast<std::size_t>(tiles * x.cluster), error);
    if (x.gArrived == nullptr) return {Code::kLaunchFailed, cudaGetErrorString(error)};
  }
  return launch_dependent("parts of k", kernel<T>, tiles * x.parts * x.cluster, x.cluster, T::kThreads,
                          T::kBytes, stream, x);
}

static Status accepts(const Problem& p, const Device& device) {
  if (Status s = accept_cuda(device, 90); !s) return s;
  if (std::max({p.m, p.n, p.k}) > kMaxExtent / 4)
    return {Code::kUnsupportedProblem, "takes sizes of at most 2^28, not " + to_string(p)};
  constexpr std::int64_t kLeastTile = 8;
  if (ceil_div(p.m, kLeastTile) * ceil_div(p.n, kLeastTile) <= kMaxExtent) return Status::ok();
  return {Code::kUnsupportedProblem, "takes C of at most 2^30 tiles, not " + to_string(p)};
}

static Status launch(const Problem& original, const Operands& given, Stream stream) {
  const auto [p, swapped] = as_row_major(original);
  if (p.m == 0 || p.n == 0) return Status::ok();
  const Operands o = swapped ? Operands{given.b, given.a, given.c} : given;
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return {Code::kLaunchFailed, cudaGetErrorString(error)};
  const auto side = [](const float* g, std::int64_t ld, std::int64_t lines, bool along_k) {
    const bool quads = reinterpret_cast<std::uintptr_t>(g) % sizeof(float4) == 0 && ld % 4 == 0;
    return Side{g, along_k ? ld : 1, along_k ? 1 : ld, static_cast<int>(lines), quads};
  };
  const Side a = side(o.a, p.lda, p.m, p.op_a == Op::kNone), b = side(o.b, p.ldb, p.n, p.op_b != Op::kNone);
  const bool flat = p.m <= p.n;  // else C^T = B^T A^T, so that a thin tile's short side is C's
  const bool reads = reads_ab(p);
  const Job x{.a = flat ? a : b,
              .b = flat ? b : a,
              .gC = o.c,
              .row_step = flat ? p.ldc : 1,
              .col_step = flat ? 1 : p.ldc,
              .m = static_cast<int>(flat ? p.m : p.n),
              .n = static_cast<int>(flat ? p.n : p.m),
              .k = static_cast<int>(reads ? p.k : 0),
              .alpha = reads ? p.alpha : 0.0F,
              .beta = p.beta,
              .tiles_m = 1,
              .cluster = 1,
              .parts = 1,
              .gPartial = nullptr,
              .gArrived = nullptr};
  // Narrow tiles are more blocks, wide ones fewer reads: measured on an H200.
  constexpr double kLittle = 0x1p25, kSome = 0x1p28;
  const double products = static_cast<double>(x.m) * x.n * x.k;
  if (x.m <= Thinnest::BM || products <= kLittle) return launch_tile<Thinnest>(x, sms, stream);
  if (x.m <= Thin::BM) return launch_tile<Thin>(x, sms, stream);
  if (x.m <= Low::BM || products <= kSome) return launch_tile<Low>(x, sms, stream);
  const bool many = ceil_div(x.m, Wide::BM) * ceil_div(x.n, Wide::BN) >= 2 * sms;
  return many ? launch_tile<Wide>(x, sms, stream) : launch_tile<Square>(x, sms, stream);
}

static constexpr KernelInfo kKernels[] = {
    {.id = "r21_split_k",
     .rung = "r21_split_k",
     .idea = "parts of k, added within a cluster",
     .min_cc = 90,
     .accepts = accepts,
     .launch = launch},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r21_split_k
