// SPDX-License-Identifier: Apache-2.0
// CUB's algorithms of a block and of a warp. They are not launched: their machine code is for
// sass_forms.
#include <cub/cub.cuh>

template <class T, int kThreads, int kItems>
union Storage {
  __device__ Storage() {}
  typename cub::BlockLoad<T, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>::TempStorage load;
  typename cub::BlockReduce<T, kThreads>::TempStorage reduce;
  typename cub::BlockReduce<T, kThreads, cub::BLOCK_REDUCE_RAKING>::TempStorage rake;
  typename cub::BlockScan<T, kThreads>::TempStorage scan;
  typename cub::BlockScan<T, kThreads, cub::BLOCK_SCAN_WARP_SCANS>::TempStorage scan_warps;
  typename cub::BlockRadixSort<T, kThreads, kItems>::TempStorage sort;
  typename cub::BlockMergeSort<T, kThreads, kItems>::TempStorage merge;
  typename cub::BlockExchange<T, kThreads, kItems>::TempStorage exchange;
  typename cub::BlockDiscontinuity<T, kThreads>::TempStorage heads;
  typename cub::BlockAdjacentDifference<T, kThreads>::TempStorage differences;
  typename cub::WarpScan<T>::TempStorage warp_scan;
  typename cub::WarpReduce<T>::TempStorage warp_reduce;
  typename cub::WarpMergeSort<T, kItems, 32>::TempStorage warp_merge;
  typename cub::WarpExchange<T, kItems, 32>::TempStorage warp_exchange;
  typename cub::BlockStore<T, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>::TempStorage store;
};

template <class T, int kThreads, int kItems>
__global__ void block(T* g, int* flags) {
  __shared__ Storage<T, kThreads, kItems> s;
  T x[kItems];
  cub::BlockLoad<T, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>(s.load).Load(g, x);
  __syncthreads();
  T sum = cub::BlockReduce<T, kThreads>(s.reduce).Sum(x);
  __syncthreads();
  sum += cub::BlockReduce<T, kThreads, cub::BLOCK_REDUCE_RAKING>(s.rake).Sum(x[0]);
  x[0] = sum;
  __syncthreads();
  cub::BlockScan<T, kThreads>(s.scan).ExclusiveSum(x, x);
  __syncthreads();
  cub::BlockScan<T, kThreads, cub::BLOCK_SCAN_WARP_SCANS>(s.scan_warps).InclusiveSum(x, x);
  __syncthreads();
  cub::BlockRadixSort<T, kThreads, kItems>(s.sort).Sort(x);
  __syncthreads();
  cub::BlockRadixSort<T, kThreads, kItems>(s.sort).SortDescendingBlockedToStriped(x);
  __syncthreads();
  cub::BlockExchange<T, kThreads, kItems>(s.exchange).BlockedToStriped(x);
  __syncthreads();
  int heads[kItems];
  cub::BlockDiscontinuity<T, kThreads>(s.heads).FlagHeads(heads, x, cuda::std::not_equal_to<>{});
  for (int i = 0; i < kItems; ++i) flags[threadIdx.x * kItems + i] = heads[i];
  __syncthreads();
  cub::BlockMergeSort<T, kThreads, kItems>(s.merge).Sort(x, cuda::std::less<>{});
  __syncthreads();
  cub::BlockAdjacentDifference<T, kThreads>(s.differences).SubtractLeft(x, x, cuda::std::minus<>{});
  __syncthreads();
  cub::WarpScan<T>(s.warp_scan).InclusiveSum(x[0], x[0]);
  __syncwarp();
  x[1] = cub::WarpReduce<T>(s.warp_reduce).Reduce(x[0], cuda::maximum<>{});
  __syncthreads();
  if (threadIdx.x < 32) {
    cub::WarpMergeSort<T, kItems, 32>(s.warp_merge).Sort(x, cuda::std::less<>{});
    __syncwarp();
    cub::WarpExchange<T, kItems, 32>(s.warp_exchange).StripedToBlocked(x, x);
  }
  __syncthreads();
  cub::BlockStore<T, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>(s.store).Store(g, x);
}
template __global__ void block<int, 128, 4>(int*, int*);
template __global__ void block<double, 64, 3>(double*, int*);
template __global__ void block<unsigned short, 256, 8>(unsigned short*, int*);
template __global__ void block<unsigned char, 128, 16>(unsigned char*, int*);

template <cub::BlockHistogramAlgorithm kAlgorithm>
__global__ void histogram(unsigned char* g, unsigned* counts) {
  using Histogram = cub::BlockHistogram<unsigned char, 128, 8, 256, kAlgorithm>;
  __shared__ typename Histogram::TempStorage s;
  __shared__ unsigned s_counts[256];
  unsigned char x[8];
  cub::LoadDirectStriped<128>(threadIdx.x, g, x);
  Histogram(s).Histogram(x, s_counts);
  __syncthreads();
  counts[threadIdx.x] = s_counts[threadIdx.x];
}
template __global__ void histogram<cub::BLOCK_HISTO_SORT>(unsigned char*, unsigned*);
template __global__ void histogram<cub::BLOCK_HISTO_ATOMIC>(unsigned char*, unsigned*);

__global__ void ranks(unsigned* g) {
  using ByMatch = cub::BlockRadixRankMatch<128, 8, false>;
  using ByCounts = cub::BlockRadixRank<128, 4, false>;
  using Early = cub::BlockRadixRankMatchEarlyCounts<128, 8, false>;
  __shared__ typename ByMatch::TempStorage s_match;
  __shared__ typename ByCounts::TempStorage s_counts;
  __shared__ typename Early::TempStorage s_early;
  unsigned keys[4];
  int match[4], counts[4], early[4];
  for (unsigned i = 0; i < 4; ++i) keys[i] = g[threadIdx.x * 4 + i];
  ByMatch(s_match).RankKeys(keys, match, cub::BFEDigitExtractor<unsigned>(3, 8));
  ByCounts(s_counts).RankKeys(keys, counts, cub::BFEDigitExtractor<unsigned>(3, 4));
  Early(s_early).RankKeys(keys, early, cub::BFEDigitExtractor<unsigned>(3, 8));
  for (unsigned i = 0; i < 4; ++i)
    g[threadIdx.x * 4 + i] = static_cast<unsigned>(match[i] + counts[i] * 1000 + early[i]);
}
