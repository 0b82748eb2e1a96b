// SPDX-License-Identifier: Apache-2.0
// Products of one to sixteen rows of A and all columns of B, which are bound by the memory
// bandwidth. B is read once, directly to registers.
#pragma once
#include "device/ptx/cp_async.cuh"
#include "device/ptx/dependent.cuh"
#include "device/ptx/library.cuh"
#include "device/vector.cuh"
#include "gemm/plan/part_plan.hpp"
#include "gemm/simt/lane_sums.cuh"
#include "gemm/simt/part_sums.cuh"
#include "gemm/simt/sent_sums.cuh"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ladder {

// R: number of rows of A, rounded up. kFloat4: B permits 128-bit loads. A block of threads computes
// the products of a k-split of A, which it copies to shared memory in chunks, and of some columns.
template <int R_, bool kFloat4_>
struct ThinTile {
  static constexpr int R = R_, kChunk = R == 16 ? 1024 : 8192 / R, kThreads = kThinThreads;
  static constexpr bool kFloat4 = kFloat4_;
};

// B is K-major. A group of `lanes` threads computes four columns; its threads span k.
template <int R, bool kFloat4>
struct ThinAlong : ThinTile<R, kFloat4> {
  static constexpr int V = 4, kFew = kThinLoadsAlong;
  static constexpr bool kAlongK = true;
  static constexpr int kBlocksOfSm = thin_blocks_along(R);
  static __device__ int at(int r, int k) { return r * ThinAlong::kChunk + k; }
  // The sums replace A in shared memory.
  static constexpr int kBytes = 4 * R * std::max(ThinAlong::kChunk, kThinThreads* V);
  // Of a block whose groups have 2^lanes threads.
  static __host__ __device__ constexpr int log_columns(int lanes) { return 10 - lanes; }
  static_assert(kThinThreads * V == 1 << 10);
};

// B is N-major. A row of `lanes` threads computes four columns each; the rows span k.
template <int R, bool kFloat4>
struct ThinAcross : ThinTile<R, kFloat4> {
  static constexpr int V = 4, kFew = thin_loads_across(R);
  static constexpr bool kAlongK = false;
  static constexpr int kBlocksOfSm = thin_blocks_across(R);
  // A in shared memory: (kChunk, kPitch), free of bank conflicts.
  static constexpr int kPitch = R < 8 ? R : R + 4;
  static __device__ int at(int r, int k) { return k * kPitch + r; }
  static constexpr int kPad = 8;  // lanes between sums, against bank conflicts
  static constexpr int kBytes =
      4 * std::max(kPitch * ThinAcross::kChunk, R* kThinThreads / 8 * (32 + kPad));
  static __host__ __device__ constexpr int log_columns(int lanes) { return lanes + 2; }
};

// Elements at g, g + step, ... of which `left` exist. kVector: four or none of consecutive ones.
// Loads without branches between them are in flight together.
template <bool kVector>
__device__ __forceinline__ void load_four(float (&to)[4], const float* g, int step, int left) {
  if constexpr (kVector) {
    set4(to, left > 0 ? ptx::load_streaming4(g) : float4{});
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j] = j * step < left ? g[j * step] : 0.0F;
  }
}

// Copies k of A from `first` on to s: (R, kChunk), or (kChunk, kPitch) if B is not K-major. Zeros
// follow up to `padded`.
template <class T>
__device__ __forceinline__ void copy_rows(const PartJob& x, std::uint32_t s, int first, int count,
                                          int padded) {
  constexpr int R = T::R;
  const PartOperand& a = x.a;
  if ((T::kAlongK || R == 1) && a.k_step == 1 && a.aligned) {
#pragma unroll 1
    for (int r = 0; r < R; ++r) {
      const float* const g = a.g + r * a.vector_step + first;
      const int left = r < x.m ? count : 0;
#pragma unroll 1
      for (int k = static_cast<int>(threadIdx.x) * 4; k < padded; k += T::kThreads * 4)
        ptx::cp_async_part<16>(s + T::at(r, k) * 4, g + k, 4 * min(max(left - k, 0), 4));
    }
    return;
  }
  // A warp copies kRows rows x kOfK k at once. More rows mean fewer bank conflicts where shared
  // memory is (k, rows), and more of them where it is (rows, k); more k, the reverse.
  const auto copy = [&](auto rows_of_warp, auto along) {
    constexpr int kRows = decltype(rows_of_warp)::value, kOfK = 32 / kRows;
    constexpr bool kAlong = decltype(along)::value;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int k0 = warp * kOfK + (kAlong ? lane % kOfK : lane / kRows);
#pragma unroll 1
    for (int r = kAlong ? lane / kOfK : lane % kRows; r < R; r += kRows) {
      const float* const g = a.g + r * a.vector_step + first * a.k_step;
#pragma unroll(kAlong ? 1 : 4)
      for (int k = k0; k < padded; k += T::kThreads / 32 * kOfK)
        ptx::cp_async<4>(s + T::at(r, k) * 4, g + k * a.k_step, r < x.m && k < count);
    }
  };
  constexpr int kRowsAlong = (T::kAlongK || R < 8) ? 1 : 4,
                kRowsAcross = !T::kAlongK ? R : (R < 8 ? (R + 1) / 2 : 4);
  if (a.k_step == 1) {
    copy(std::integral_constant<int, kRowsAlong>{}, std::true_type{});
  } else {
    copy(std::integral_constant<int, kRowsAcross>{}, std::false_type{});
  }
}

// A thread's part of a chunk of `count` k: `load` reads kFew vectors of B into registers, from the
// given k on, `step` apart; `multiply`(k, i) multiplies the i-th of them.
template <int kFew, class Load, class Multiply>
__device__ __forceinline__ void for_each_vector(int first, int step, int count, Load load,
                                                Multiply multiply) {
  load(first);  // beside the copies of A, on which it does not depend
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  __syncthreads();
  for (int k = first;;) {
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
      if (k + i * step < count) multiply(k, i);
    }
    k += kFew * step;
    if (k >= count) break;
    load(k);
  }
}

// Calls `multiply` with whether all loads of B are of four elements or none.
template <class T, class Multiply>
__device__ __forceinline__ void with_vectors(bool whole, Multiply multiply) {
  if (T::kFloat4 && whole) {
    multiply(std::bool_constant<T::kFloat4>{});
  } else {
    multiply(std::false_type{});
  }
}

// A block's k-split and columns.
struct ThinPlace {
  int part, tile, begin, end, column0;
  __device__ __forceinline__ ThinPlace(const PartJob& x, int columns) {
    part = static_cast<int>(blockIdx.x) % x.parts;
    tile = static_cast<int>(blockIdx.x) / x.parts;
    const std::int64_t steps = (x.k + kThinStep - 1) / kThinStep;
    begin = static_cast<int>(steps * part / x.parts) * kThinStep;
    end = min(x.k, static_cast<int>(steps * (part + 1) / x.parts) * kThinStep);
    column0 = tile * columns;
  }
};

// Stores R x `columns` elements of C. sum_of(row, column) is this block's sum. The block of the
// last k-split waits for those of lower number and adds their sums.
template <int R, class SumOf>
__device__ __forceinline__ void store_thin(const PartJob& x, const ThinPlace& me, int log_columns,
                                           SumOf sum_of) {
  constexpr int kAtOnce = 8;
  const int sums = R << log_columns, tid = static_cast<int>(threadIdx.x), others = x.parts - 1;
  unsigned* const gTile = x.gSums + std::int64_t{me.tile} * others * sums;
  // Where there are fewer sums than threads, several threads share the k-splits of each, as many at
  // once as their loads overlap.
  const int threads =
      me.part < others ? 1 : max(1, min(kThinThreads / sums, (others + kAtOnce - 1) / kAtOnce));
  __shared__ float shares[kThinThreads];
  if (threads > 1) {
    float of_others = 0.0F;
    if (tid < threads * sums) {
      receive_sums<kAtOnce>(of_others, gTile + tid % sums, sums, others, tid / sums, threads);
      shares[tid] = of_others;
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int i = tid; i < sums; i += kThinThreads) {
    const int row = i >> log_columns, of_tile = i & ((1 << log_columns) - 1);
    float sum = sum_of(row, of_tile);
    if (me.part < others) {
      send_sum(gTile + std::int64_t{me.part} * sums + i, sum);
      continue;
    }
    if (threads > 1) {
      for (int other = 0; other < threads; ++other) sum += shares[other * sums + i];
    } else if (others > 0) {
      receive_sums<kAtOnce>(sum, gTile + i, sums, others);
    }
    store1(x, row, me.column0 + of_tile, sum);
  }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksOfSm)
    thin_along(const __grid_constant__ PartJob x) {
  extern __shared__ __align__(16) float s[];
  constexpr int R = T::R, V = T::V;
  const int lanes = 1 << x.lanes, lane = static_cast<int>(threadIdx.x) % lanes,
            group = static_cast<int>(threadIdx.x) >> x.lanes, groups = T::kThreads >> x.lanes;
  const ThinPlace me(x, 1 << T::log_columns(x.lanes));
  const int stride = 4 * lanes, kStep = T::kFloat4 ? 1 : lanes;  // between a thread's elements
  const int first = T::kFloat4 ? lane * 4 : lane;
  ptx::wait_for_prerequisites();
  if (x.early) ptx::launch_dependents();
  float acc[R * V]{};
  for (int chunk = me.begin; chunk < me.end; chunk += T::kChunk) {
    const int count = min(T::kChunk, me.end - chunk);
    if (chunk != me.begin) __syncthreads();
    copy_rows<T>(x, ptx::shared_address(s), chunk, count, (count + stride - 1) / stride * stride);
    const auto multiply = [&](auto vector) {
      constexpr bool kVector = decltype(vector)::value;
      float b[T::kFew][V][4];
      const auto load = [&](int k) {
#pragma unroll
        for (int v = 0; v < V; ++v) {
#pragma unroll
          for (int i = 0; i < T::kFew; ++i) {
            const int at = k + i * stride + first, column = me.column0 + v * groups + group;
            load_four<kVector>(b[i][v], x.b.g + column * x.b.vector_step + chunk + at, kStep,
                               column < x.n ? count - at : 0);
          }
        }
      };
      for_each_vector<T::kFew>(0, stride, count, load, [&](int k, int i) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
          float a[4];
          const float* const at = s + T::at(r, k + i * stride + first);
          if constexpr (T::kFloat4) {
            set4(a, load4(at));
          } else {
#pragma unroll
            for (int j = 0; j < 4; ++j) a[j] = at[j * kStep];
          }
#pragma unroll
          for (int v = 0; v < V; ++v) {
#pragma unroll
            for (int j = 0; j < 4; ++j)
              acc[r * V + v] = __fmaf_rn(a[j], b[i][v][j], acc[r * V + v]);
          }
        }
      });
    };
    with_vectors<T>(count % 4 == 0, multiply);
  }
  ptx::launch_dependents();
  __syncthreads();
  // Sums to s: (warps per group, R, columns).
  const int log_columns = T::log_columns(x.lanes), columns = 1 << log_columns,
            slab = static_cast<int>(threadIdx.x) % lanes / 32;
  add_lanes(acc, min(lanes, 32) / 2, 1, [&](int i, float sum) {
    s[slab * R * columns + i / V * columns + i % V * groups + group] = sum;
  });
  __syncthreads();
  store_thin<R>(x, me, log_columns, [&](int row, int column) {
    float sum = 0.0F;
    for (int i = 0; i < lanes; i += 32) sum += s[(i / 32 * R + row) * columns + column];
    return sum;
  });
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksOfSm)
    thin_across(const __grid_constant__ PartJob x) {
  extern __shared__ __align__(16) float s[];
  constexpr int R = T::R, kOfA = R % 4 == 0 ? 4 : 1;
  const int lanes = 1 << x.lanes, lane = static_cast<int>(threadIdx.x) % lanes,
            row = static_cast<int>(threadIdx.x) >> x.lanes, rows = T::kThreads >> x.lanes;
  const ThinPlace me(x, 1 << T::log_columns(x.lanes));
  const int kStep = T::kFloat4 ? 1 : lanes;  // between a thread's columns
  const int first = T::kFloat4 ? lane * 4 : lane;
  ptx::wait_for_prerequisites();
  if (x.early) ptx::launch_dependents();
  float acc[R * 4]{};
  const int left = x.n - me.column0 - first;
  for (int chunk = me.begin; chunk < me.end; chunk += T::kChunk) {
    const int count = min(T::kChunk, me.end - chunk);
    if (chunk != me.begin) __syncthreads();
    copy_rows<T>(x, ptx::shared_address(s), chunk, count, count);
    const float* g = x.b.g + (chunk + row) * x.b.k_step + me.column0 + first;
    const std::int64_t step = rows * x.b.k_step;
    const auto multiply = [&](auto vector) {
      constexpr bool kVector = decltype(vector)::value;
      float b[T::kFew][4];
      const auto load = [&](int k) {
#pragma unroll
        for (int i = 0; i < T::kFew; ++i, g += step)
          load_four<kVector>(b[i], g, kStep, k + i * rows < count ? left : 0);
      };
      for_each_vector<T::kFew>(row, rows, count, load, [&](int k, int i) {
#pragma unroll
        for (int r = 0; r < R; r += kOfA) {
          float a[kOfA];
          const float* const at = s + T::at(r, k + i * rows);
          if constexpr (kOfA == 4) {
            set4(a, load4(at));
          } else {
            a[0] = *at;
          }
#pragma unroll
          for (int of = 0; of < kOfA; ++of) {
#pragma unroll
            for (int j = 0; j < 4; ++j)
              acc[(r + of) * 4 + j] = __fmaf_rn(a[of], b[i][j], acc[(r + of) * 4 + j]);
          }
        }
      });
    };
    with_vectors<T>(x.n % 4 == 0 || me.column0 + 4 * lanes <= x.n, multiply);
  }
  ptx::launch_dependents();
  __syncthreads();
  // Sums to s: (warps, R, four, lanes), padded.
  const int warp = static_cast<int>(threadIdx.x) / 32, stride = lanes + T::kPad;
  add_lanes(acc, 16, lanes, [&](int i, float sum) { s[(warp * R * 4 + i) * stride + lane] = sum; });
  __syncthreads();
  store_thin<R>(x, me, T::log_columns(x.lanes), [&](int row_of_c, int column) {
    const int four = T::kFloat4 ? column % 4 : column / lanes,
              of_lane = T::kFloat4 ? column / 4 : column % lanes;
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < T::kThreads / 32; ++i)
      sum += s[((i * R + row_of_c) * 4 + four) * stride + of_lane];
    return sum;
  });
}

}  // namespace ladder
