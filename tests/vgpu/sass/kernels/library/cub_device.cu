// SPDX-License-Identifier: Apache-2.0
// CUB's device-wide algorithms. They are not launched: their machine code is for sass_forms.
#include <cub/cub.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

std::size_t bytes;  // of temporary storage

struct Less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
struct Minus {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a - b;
  }
};
struct Positive {
  template <class T>
  __host__ __device__ bool operator()(const T& x) const {
    return x > T(0);
  }
};
struct Greatest {
  template <class H>
  __device__ H operator()(H a, H b) const {
    return __hmax(a, b);
  }
};
struct Double {
  int* numbers;
  __host__ __device__ void operator()(int i) const { numbers[i] *= 2; }
};

// A key of several members.
struct Record {
  double weight;
  int number;
  short kind;
  __host__ __device__ Record operator+(const Record& r) const {
    return {weight + r.weight, number + r.number, kind};
  }
};
struct Members {
  __host__ __device__ cuda::std::tuple<double&, int&> operator()(Record& r) const {
    return {r.weight, r.number};
  }
};
struct Lighter {
  __host__ __device__ bool operator()(const Record& a, const Record& b) const {
    return a.weight < b.weight;
  }
};

template <class K>
void sort_keys(K* k, int n) {
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, k, k, n);
}
template <class K, class V>
void sort_pairs(K* k, V* v, int n) {
  cub::DeviceRadixSort::SortPairsDescending(nullptr, bytes, k, k, v, v, n);
}

template <class T>
void compare(T* a, int* counts, int n) {
  cub::DeviceMergeSort::StableSortPairs(nullptr, bytes, a, counts, n, Less{});
  cub::DeviceMerge::MergeKeys(nullptr, bytes, a, n, a, n, a, Less{});
  cub::DeviceAdjacentDifference::SubtractLeftCopy(nullptr, bytes, a, a, n, Minus{});
}

template <class T>
void segments(T* a, int* offsets, int n) {
  cub::DeviceSegmentedSort::SortKeys(nullptr, bytes, a, a, n, n, offsets, offsets + 1);
  cub::DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, a, a, n, n, offsets, offsets + 1);
  cub::DeviceSegmentedReduce::Sum(nullptr, bytes, a, a, n, offsets, offsets + 1);
}

template <class T>
void scan(T* a, int* counts, int n) {
  cub::DeviceReduce::Sum(nullptr, bytes, a, a, n);
  cub::DeviceReduce::ArgMin(nullptr, bytes, a, static_cast<cub::KeyValuePair<int, T>*>(nullptr), n);
  cub::DeviceScan::InclusiveScan(nullptr, bytes, a, a, cuda::maximum<>{}, n);
  cub::DeviceSelect::If(nullptr, bytes, a, a, counts, n, Positive{});
  cub::DeviceSelect::Unique(nullptr, bytes, a, a, counts, n);
  cub::DevicePartition::If(nullptr, bytes, a, a, counts, n, Positive{});
  cub::DeviceReduce::ReduceByKey(nullptr, bytes, a, a, a, a, counts, cuda::std::plus<>{}, n);
  cub::DeviceScan::ExclusiveSumByKey(nullptr, bytes, a, a, a, n);
  cub::DeviceRunLengthEncode::Encode(nullptr, bytes, a, a, counts, counts, n);
}

template <class T>
void histogram(T* a, int* counts, int n) {
  cub::DeviceHistogram::HistogramEven(nullptr, bytes, a, counts, 256, T(0), T(100), n);
  cub::DeviceHistogram::HistogramRange(nullptr, bytes, a, counts, 256, a, n);
}

template <class H>
void halves(H* h, int n) {
  cub::DeviceReduce::Sum(nullptr, bytes, h, h, n);
  cub::DeviceReduce::Max(nullptr, bytes, h, h, n);
  cub::DeviceReduce::Reduce(nullptr, bytes, h, h, n, Greatest{}, H());
  cub::DeviceScan::InclusiveSum(nullptr, bytes, h, h, n);
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, h, h, n);
}

}  // namespace

template <class T>
T* none() {
  return nullptr;
}

void instantiate(int n) {
  int* const counts = none<int>();
  sort_keys(none<unsigned char>(), n);
  sort_keys(none<double>(), n);
  sort_keys(none<float>(), n);
  sort_keys(none<__int128_t>(), n);
  sort_pairs(none<unsigned short>(), none<int>(), n);
  sort_pairs(none<unsigned>(), none<unsigned>(), n);
  sort_pairs(none<long long>(), none<double>(), n);
  compare(none<int>(), counts, n);
  compare(none<double>(), counts, n);
  segments(none<int>(), counts, n);
  segments(none<short>(), counts, n);
  scan(none<int>(), counts, n);
  scan(none<double>(), counts, n);
  scan(none<unsigned char>(), counts, n);
  histogram(none<float>(), counts, n);
  histogram(none<unsigned char>(), counts, n);
  halves(none<__half>(), n);
  halves(none<__nv_bfloat16>(), n);
  Record* const records = none<Record>();
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, records, records, n, Members{});
  cub::DeviceMergeSort::SortKeys(nullptr, bytes, records, n, Lighter{});
  cub::DeviceScan::InclusiveSum(nullptr, bytes, records, records, n);
  cub::DeviceSelect::Flagged(nullptr, bytes, records, counts, records, counts, n);
  cub::DeviceFor::Bulk(n, Double{counts});
  cub::DeviceMemcpy::Batched(nullptr, bytes, none<void*>(), none<void*>(), counts, n);
  cub::DeviceTransform::Transform(cuda::std::make_tuple(none<float>(), none<float>()),
                                  none<float>(), n, cuda::std::plus<float>{});
}
