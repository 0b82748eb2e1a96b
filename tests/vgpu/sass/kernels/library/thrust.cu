// SPDX-License-Identifier: Apache-2.0
// Thrust's algorithms. They are not launched: their machine code is for sass_forms.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <cuda_fp16.h>

namespace {

struct Pair {
  int key;
  double value;
  __host__ __device__ bool operator<(const Pair& p) const {
    return key < p.key || (key == p.key && value < p.value);
  }
  __host__ __device__ bool operator==(const Pair& p) const { return key == p.key; }
};

struct Even {
  template <class T>
  __host__ __device__ bool operator()(T x) const {
    return static_cast<int>(x) % 2 == 0;
  }
};

template <class T>
using Pointer = thrust::device_ptr<T>;

template <class T>
void all(Pointer<T> a, int n) {
  thrust::sort(a, a + n, thrust::greater<T>());
  thrust::stable_sort_by_key(a, a + n, a);
  thrust::unique(a, a + n);
  thrust::inner_product(a, a + n, a, T(0));
  thrust::inclusive_scan_by_key(a, a + n, a, a);
  thrust::set_intersection(a, a + n, a, a + n, a);
  thrust::merge(a, a + n, a, a + n, a);
  thrust::lower_bound(a, a + n, a, a + n, a);
  thrust::stable_partition(a, a + n, Even());
  thrust::adjacent_difference(a, a + n, a);
  thrust::minmax_element(a, a + n);
  thrust::count_if(a, a + n, Even());
  thrust::transform(a, a + n, a, a, thrust::multiplies<T>());
  thrust::reduce_by_key(a, a + n, a, a, a);
}

}  // namespace

void instantiate(int n) {
  all(Pointer<long long>(), n);
  const Pointer<float> singles;
  thrust::sort(singles, singles + n);
  thrust::inclusive_scan(singles, singles + n, singles);
  const Pointer<Pair> pairs;
  thrust::sort(pairs, pairs + n);
  thrust::unique(pairs, pairs + n);
  const Pointer<__half> halves;
  thrust::sort_by_key(halves, halves + n, pairs);
  const Pointer<char> bytes;
  const Pointer<double> doubles;
  thrust::sort_by_key(bytes, bytes + n, doubles);
  thrust::sort_by_key(doubles, doubles + n, bytes);
}
