// SPDX-License-Identifier: Apache-2.0
// What cuRAND's functions answer, the order of streams, host generators, and the distributions of
// the numbers by their moments and by the test of Kolmogorov and Smirnov.
#include <curand.h>
#include <curand_kernel.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "device_array.hpp"

namespace {

constexpr auto kOk = CURAND_STATUS_SUCCESS;
constexpr unsigned kCount = 100000;

void status(curandStatus_t found, curandStatus_t expected = kOk, const char* what = "a call",
            int line = __builtin_LINE()) {
  require(found == expected, (std::string(what) + ": status " + std::to_string(found)).c_str(),
          line);
}

curandGenerator_t make(curandRngType_t type = CURAND_RNG_PSEUDO_DEFAULT, bool on_host = false) {
  curandGenerator_t generator = nullptr;
  status(on_host ? curandCreateGeneratorHost(&generator, type)
                 : curandCreateGenerator(&generator, type));
  return generator;
}

template <class T>
std::vector<T> copy_of(const T* device, std::size_t count = kCount) {
  return download(device, count);
}

void check_wrong_calls() {
  auto* const data = allocate<double>(64);
  auto* const bits = reinterpret_cast<unsigned*>(data);
  auto* const floats = reinterpret_cast<float*>(data);
  auto* const bits64 = reinterpret_cast<unsigned long long*>(data);
  curandGenerator_t none = nullptr;
  status(curandCreateGenerator(nullptr, CURAND_RNG_PSEUDO_XORWOW), CURAND_STATUS_NOT_INITIALIZED,
         "no place for a generator");
  for (const int type : {1, 102, 143, 205, -1})
    status(curandCreateGenerator(&none, curandRngType_t(type)), CURAND_STATUS_TYPE_ERROR, "type");
  status(curandDestroyGenerator(none), CURAND_STATUS_NOT_INITIALIZED, "destroy null");
  status(curandGenerate(none, bits, 4), CURAND_STATUS_NOT_INITIALIZED, "generate null");
  status(curandSetStream(none, nullptr), CURAND_STATUS_NOT_INITIALIZED, "stream of null");
  status(curandGenerateSeeds(none), CURAND_STATUS_NOT_INITIALIZED, "seeds of null");
  status(curandSetPseudoRandomGeneratorSeed(none, 1), CURAND_STATUS_NOT_INITIALIZED,
         "seed of null");

  const auto pseudo = make(), quasi = make(CURAND_RNG_QUASI_SOBOL32),
             wide = make(CURAND_RNG_QUASI_SOBOL64), blocks = make(CURAND_RNG_PSEUDO_MTGP32);
  status(curandGenerateSeeds(pseudo));
  status(curandSetQuasiRandomGeneratorDimensions(pseudo, 2), CURAND_STATUS_TYPE_ERROR,
         "dimensions");
  status(curandSetPseudoRandomGeneratorSeed(quasi, 2), CURAND_STATUS_TYPE_ERROR, "seed");
  status(curandSetGeneratorOffset(blocks, 2), CURAND_STATUS_TYPE_ERROR, "offset of MTGP32");
  status(curandSetQuasiRandomGeneratorDimensions(quasi, 0), CURAND_STATUS_OUT_OF_RANGE, "0");
  status(curandSetQuasiRandomGeneratorDimensions(quasi, 20001), CURAND_STATUS_OUT_OF_RANGE,
         "20001");
  status(curandSetGeneratorOrdering(pseudo, CURAND_ORDERING_QUASI_DEFAULT),
         CURAND_STATUS_OUT_OF_RANGE, "order of a quasirandom generator");
  status(curandSetGeneratorOrdering(pseudo, curandOrdering_t(105)), CURAND_STATUS_OUT_OF_RANGE,
         "order 105");
  status(curandGenerateLongLong(pseudo, bits64, 3), CURAND_STATUS_TYPE_ERROR, "64 bits");
  status(curandGenerate(wide, bits, 3), CURAND_STATUS_TYPE_ERROR, "32 bits of 64");
  status(curandSetQuasiRandomGeneratorDimensions(quasi, 3));
  status(curandGenerate(quasi, bits, 4), CURAND_STATUS_LENGTH_NOT_MULTIPLE, "4 of 3 dimensions");
  status(curandGenerate(quasi, bits, 6));
  status(curandGenerateNormal(pseudo, floats, 5, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE, "odd");
  status(curandGenerateNormalDouble(pseudo, data, 5, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE,
         "odd");
  status(curandGenerateLogNormal(pseudo, floats, 5, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE,
         "odd");
  status(curandGenerateUniform(pseudo, floats, 0), kOk, "no numbers");
  for (const double mean : {0.0, -1.0, 400001.0})
    status(curandGeneratePoisson(pseudo, bits, 4, mean), CURAND_STATUS_OUT_OF_RANGE, "mean");
  curandDirectionVectors32_t* vectors = nullptr;
  status(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_64_JOEKUO6),
         CURAND_STATUS_OUT_OF_RANGE, "vectors of 64 bits");
  int version = 0, part = 0;
  status(curandGetVersion(&version));
  status(curandGetProperty(MAJOR_VERSION, &part));
  require(version / 1000 == part && part == CURAND_VER_MAJOR, "version");
  status(curandGetProperty(libraryPropertyType(3), &part), CURAND_STATUS_OUT_OF_RANGE, "property");
  for (const auto generator : {pseudo, quasi, wide, blocks})
    status(curandDestroyGenerator(generator));
  require(cudaFree(data));
}

// What the virtual GPU refuses by name.
void check_refusals() {
  const auto generator = make();
  std::vector<unsigned> host(16);
  auto* const device = allocate<unsigned>(16);
  status(curandGenerate(generator, host.data(), 16), CURAND_STATUS_LAUNCH_FAILURE, "host memory");
  status(curandGenerate(generator, device, 17), CURAND_STATUS_LAUNCH_FAILURE, "17 of 16");
  status(curandGenerate(generator, device, ~std::size_t{0} / 4 + 2), CURAND_STATUS_LAUNCH_FAILURE,
         "more bytes than there are");
  status(curandGenerate(generator, nullptr, 1), CURAND_STATUS_LAUNCH_FAILURE, "null");
  status(curandGenerate(generator, nullptr, 0), kOk, "none of null");
  status(curandGeneratePoissonMethod(generator, device, 16, 5, CURAND_KNUTH),
         CURAND_STATUS_INTERNAL_ERROR, "method");
  status(curandGetDirectionVectors32(nullptr, CURAND_DIRECTION_VECTORS_32_JOEKUO6),
         CURAND_STATUS_OUT_OF_RANGE, "no place for vectors");
  status(curandGetScrambleConstants64(nullptr), CURAND_STATUS_OUT_OF_RANGE, "no place");
  status(curandGetVersion(nullptr), CURAND_STATUS_OUT_OF_RANGE, "no place for a version");
  status(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DYNAMIC),
         CURAND_STATUS_OUT_OF_RANGE, "dynamic order");
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  require(cudaStreamCreate(&stream));
  status(curandSetStream(generator, stream));
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  status(curandGenerate(generator, device, 16), CURAND_STATUS_LAUNCH_FAILURE, "captured");
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphDestroy(graph));
  status(curandGenerate(generator, device, 16), kOk, "after the capture");
  require(cudaStreamSynchronize(stream));
  const auto on_host = make(CURAND_RNG_PSEUDO_DEFAULT, true);
  status(curandGenerate(on_host, nullptr, 1), CURAND_STATUS_LAUNCH_FAILURE, "null");
  status(curandGenerate(on_host, device, 16), CURAND_STATUS_LAUNCH_FAILURE, "device memory");
  status(curandGenerate(on_host, host.data(), 16), kOk, "host memory");
  require(copy_of(device, 16) == host, "a refused call takes no numbers");
  status(curandDestroyGenerator(generator));
  status(curandDestroyGenerator(on_host));
  require(cudaStreamDestroy(stream));
  require(cudaFree(device));
}

__global__ void wait_and_add(volatile int* gate, const unsigned* numbers, unsigned* sums) {
  while (*gate == 0) {
  }
  for (unsigned i = threadIdx.x; i < kCount; i += blockDim.x) sums[i] += numbers[i];
}

// The numbers come in the order of the stream, and the call does not wait for it.
void check_streams() {
  const auto generator = make(), twin = make(CURAND_RNG_PSEUDO_DEFAULT, true);
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  status(curandSetStream(generator, stream));
  auto *const numbers = allocate<unsigned>(kCount), *const sums = allocate<unsigned>(kCount);
  int* gate = nullptr;
  require(cudaMallocHost(&gate, sizeof *gate));
  *gate = 0;
  require(cudaMemset(sums, 0, kCount * sizeof *sums));
  require(cudaDeviceSynchronize());
  std::vector<unsigned> first(kCount), second(kCount);
  status(curandGenerate(generator, numbers, kCount));
  wait_and_add<<<1, 256, 0, stream>>>(gate, numbers, sums);
  status(curandGenerate(generator, numbers, kCount), kOk, "generate behind a kernel that waits");
  wait_and_add<<<1, 256, 0, stream>>>(gate, numbers, sums);
  *static_cast<volatile int*>(gate) = 1;
  status(curandGenerate(twin, first.data(), kCount), kOk, "generate on the host");
  status(curandGenerate(twin, second.data(), kCount), kOk, "generate on the host");
  require(cudaStreamSynchronize(stream));
  require(copy_of(numbers) == second, "the second numbers");
  std::transform(first.begin(), first.end(), second.begin(), first.begin(), std::plus<>());
  require(copy_of(sums) == first, "sums of the first and the second numbers");
  status(curandDestroyGenerator(generator));
  status(curandDestroyGenerator(twin));
  require(cudaStreamDestroy(stream));
  require(cudaFreeHost(gate));
  require(cudaFree(numbers));
  require(cudaFree(sums));
}

// Threads with generators of their own do not disturb each other.
void check_threads() {
  constexpr int kThreads = 8;
  std::vector<std::vector<unsigned>> found(kThreads);
  std::vector<std::thread> threads;
  for (auto& numbers : found) {
    threads.emplace_back([&numbers] {
      const auto generator = make(CURAND_RNG_PSEUDO_PHILOX4_32_10);
      auto* const data = allocate<unsigned>(kCount);
      for (int i = 0; i < 3; ++i) status(curandGenerate(generator, data, kCount));
      numbers = copy_of(data);
      status(curandDestroyGenerator(generator));
      require(cudaFree(data));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& numbers : found) require(numbers == found[0], "numbers of threads");
}

// The largest distance between the distribution function and that of the numbers, times the root of
// their number: more than 1.95 has a probability of 0.001.
template <class T, class Function>
void check_distribution(const char* what, std::vector<T> values, Function function) {
  std::sort(values.begin(), values.end());
  const double count = double(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = function(double(values[i]));
    distance = std::max({distance, std::fabs(expected - double(i) / count),
                         std::fabs(expected - double(i + 1) / count)});
  }
  require(distance * std::sqrt(count) < 1.95, what);
}

// Mean and variance within five standard errors. `fourth`: the fourth central moment.
template <class T>
void check_moments(const char* what, const std::vector<T>& values, double mean, double variance,
                   double fourth) {
  const double count = double(values.size());
  const double found = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double spread = 0;
  for (const T value : values) spread += (double(value) - mean) * (double(value) - mean) / count;
  require(std::fabs(found - mean) < 5 * std::sqrt(variance / count), what);
  require(std::fabs(spread - variance) < 5 * std::sqrt((fourth - variance * variance) / count),
          what);
}

void check_distributions(curandRngType_t type) {
  const auto generator = make(type);
  auto* const floats = allocate<float>(kCount);
  auto* const doubles = allocate<double>(kCount);
  auto* const counts = allocate<unsigned>(kCount);
  const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2)); };
  const auto log_normal = [&](double x) { return x <= 0 ? 0 : normal((std::log(x) - 0.5) / 0.25); };
  const auto as_it_is = [](double x) { return x; };
  status(curandGenerateUniform(generator, floats, kCount));
  status(curandGenerateUniformDouble(generator, doubles, kCount));
  for (const float x : copy_of(floats)) require(x >= 0 && x <= 1, "a uniform number's range");
  check_distribution("uniform floats", copy_of(floats), as_it_is);
  check_distribution("uniform doubles", copy_of(doubles), as_it_is);
  check_moments("uniform moments", copy_of(doubles), 0.5, 1 / 12.0, 1 / 80.0);
  status(curandGenerateNormal(generator, floats, kCount, 3, 2));
  status(curandGenerateNormalDouble(generator, doubles, kCount, -1, 0.5));
  check_distribution("normal floats", copy_of(floats),
                     [&](double x) { return normal((x - 3) / 2); });
  check_distribution("normal doubles", copy_of(doubles),
                     [&](double x) { return normal((x + 1) / 0.5); });
  check_moments("normal moments", copy_of(floats), 3, 4, 48);
  status(curandGenerateLogNormal(generator, floats, kCount, 0.5F, 0.25F));
  status(curandGenerateLogNormalDouble(generator, doubles, kCount, 0.5, 0.25));
  check_distribution("log-normal floats", copy_of(floats), log_normal);
  check_distribution("log-normal doubles", copy_of(doubles), log_normal);
  for (const double mean : {0.25, 7.0, 300.0, 5000.0}) {
    status(curandGeneratePoisson(generator, counts, kCount, mean));
    check_moments("poisson moments", copy_of(counts), mean, mean, 3 * mean * mean + mean);
  }
  status(curandDestroyGenerator(generator));
  require(cudaFree(floats));
  require(cudaFree(doubles));
  require(cudaFree(counts));
}

__global__ void draw(curandDiscreteDistribution_t distribution, unsigned* counts) {
  const unsigned threads = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(5, i, 0, &state);
  for (unsigned n = i; n < kCount; n += threads) counts[n] = curand_discrete(&state, distribution);
}

// The distribution function at every value that occurs, within the bound of the test above.
void check_discrete(double mean) {
  curandDiscreteDistribution_t distribution = nullptr;
  status(curandCreatePoissonDistribution(mean, &distribution));
  auto* const counts = allocate<unsigned>(kCount);
  draw<<<8, 128>>>(distribution, counts);
  auto values = copy_of(counts);
  check_moments("moments of curand_discrete", values, mean, mean, 3 * mean * mean + mean);
  std::sort(values.begin(), values.end());
  double below = 0, distance = 0;
  for (unsigned value = 0; mean < 2000 && value <= values.back(); ++value) {
    below += std::exp(value * std::log(mean) - mean - std::lgamma(value + 1.0));
    const auto found = std::upper_bound(values.begin(), values.end(), value) - values.begin();
    distance = std::max(distance, std::fabs(below - double(found) / kCount));
  }
  require(distance * std::sqrt(kCount) < 1.95, "curand_discrete");
  status(curandDestroyDistribution(distribution));
  require(cudaFree(counts));
}

}  // namespace

int main() {
  check_wrong_calls();
  if (on_virtual_gpu()) check_refusals();
  check_streams();
  check_threads();
  for (const auto type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                          CURAND_RNG_PSEUDO_MTGP32, CURAND_RNG_PSEUDO_PHILOX4_32_10})
    check_distributions(type);
  for (const double mean : {0.1, 3.0, 900.0, 5000.0}) check_discrete(mean);
  curandDiscreteDistribution_t distribution = nullptr;
  status(curandCreatePoissonDistribution(3, nullptr), CURAND_STATUS_NOT_INITIALIZED, "no place");
  for (const double mean : {0.0, -1.0, 400001.0})
    status(curandCreatePoissonDistribution(mean, &distribution), CURAND_STATUS_OUT_OF_RANGE,
           "mean");
  status(curandDestroyDistribution(nullptr), CURAND_STATUS_NOT_INITIALIZED, "null distribution");
  std::puts("right");
}
