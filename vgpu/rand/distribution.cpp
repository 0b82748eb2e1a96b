// SPDX-License-Identifier: Apache-2.0
// Poisson distributions for curand_discrete, which kernels call. Their layout is that of the
// toolkit's curand_discrete.h: a table of Walker's alias method, or for large means a normal
// distribution.
#include <cuda_runtime_api.h>
#pragma GCC visibility push(default)
#include <curand.h>
#pragma GCC visibility pop
#include <curand_discrete.h>

#include <cmath>
#include <cstddef>
#include <vector>

static_assert(CURAND_VER_MAJOR == 10, "the layout of a distribution is that of cuRAND 10");

namespace {

constexpr double kMost = 400000;
constexpr unsigned kLeastForNormal = 2000;

struct Table {
  unsigned first = 0;            // the value of entry 0
  std::vector<double> limits;    // up to here an entry means its own value, above it the other one
  std::vector<unsigned> others;  // by entry
};

// The probabilities of consecutive values, from `first` on: all that are not 0 in double precision.
std::vector<double> probabilities(double mean, unsigned& first) {
  std::vector<double> result;
  for (unsigned value = 0; value < 2 * kLeastForNormal || result.empty(); ++value) {
    const double probability = std::exp(value * std::log(mean) - mean - std::lgamma(value + 1.0));
    if (probability <= 0 && !result.empty()) break;
    if (probability <= 0) continue;
    if (result.empty()) first = value;
    result.push_back(probability);
  }
  return result;
}

// Walker's alias method: one entry of equal width per value. A value with less than an average
// probability fills only a part of its entry; the rest of the entry belongs to a more probable
// value.
Table table_of(double mean) {
  Table table;
  std::vector<double> left = probabilities(mean, table.first);
  const auto size = static_cast<unsigned>(left.size());
  const double share = 1.0 / size;  // the width of an entry
  std::vector<unsigned> less, more;
  for (unsigned i = 0; i < size; ++i) {
    table.limits.push_back((i + 1) * share);
    table.others.push_back(i);
    (left[i] < share ? less : more).push_back(i);
  }
  for (std::size_t next = 0; next < less.size() && !more.empty(); ++next) {
    const unsigned poor = less[next], rich = more.back();
    table.limits[poor] = poor * share + left[poor];
    table.others[poor] = rich;
    left[rich] -= share - left[poor];
    if (left[rich] >= share) continue;
    more.pop_back();
    less.push_back(rich);
  }
  // A uniform number may be 1.
  table.limits.push_back(0);
  table.others.push_back(table.others.back());
  return table;
}

// All of a distribution in one allocation on the device.
struct Parts {
  curandDiscreteDistribution_st distribution;
  curandDistributionM2Shift_st shift;
  curandHistogramM2_st histogram;
};

}  // namespace

curandStatus_t curandCreatePoissonDistribution(double mean,
                                               curandDiscreteDistribution_t* distribution) {
  if (distribution == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (!(mean > 0 && mean <= kMost)) return CURAND_STATUS_OUT_OF_RANGE;
  const Table table = mean < kLeastForNormal ? table_of(mean) : Table{};
  const auto entries = table.limits.size();
  std::byte* device = nullptr;
  const auto bytes = sizeof(Parts) + entries * (sizeof(double) + sizeof(unsigned));
  if (cudaMalloc(reinterpret_cast<void**>(&device), bytes) != cudaSuccess)
    return CURAND_STATUS_ALLOCATION_FAILED;
  auto* const there = reinterpret_cast<Parts*>(device);
  auto* const limits = reinterpret_cast<double*>(device + sizeof(Parts));
  auto* const others = reinterpret_cast<unsigned*>(limits + entries);
  Parts parts{};
  parts.distribution.stddev = std::sqrt(mean);
  parts.distribution.mean = mean;
  parts.distribution.method = entries != 0 ? CURAND_M2 : CURAND_DISCRETE_GAUSS;
  if (entries != 0) {
    parts.distribution.M2 = &there->shift;
    parts.shift.histogram = &there->histogram;
    parts.shift.shift = table.first;
    parts.shift.length = static_cast<unsigned>(entries - 1);
    parts.histogram.V = limits;
    parts.histogram.K = others;
  }
  const auto put = [](void* to, const void* from, std::size_t size) {
    return cudaMemcpy(to, from, size, cudaMemcpyHostToDevice) == cudaSuccess;
  };
  if (!put(device, &parts, sizeof parts) ||
      !put(limits, table.limits.data(), entries * sizeof(double)) ||
      !put(others, table.others.data(), entries * sizeof(unsigned))) {
    cudaFree(device);
    return CURAND_STATUS_INTERNAL_ERROR;
  }
  *distribution = &there->distribution;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution) {
  if (distribution == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return cudaFree(distribution) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                               : CURAND_STATUS_INTERNAL_ERROR;
}
