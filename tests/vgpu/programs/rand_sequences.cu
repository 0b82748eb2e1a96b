// SPDX-License-Identifier: Apache-2.0
// cuRAND's generators beside its device functions (curand_kernel.h), at the places that the
// documentation of the orderings names.
#include <curand.h>
#include <curand_kernel.h>

#include <string>
#include <vector>

#include "device_array.hpp"

namespace {

constexpr unsigned long long kSeed = 0x123456789abcdef;
constexpr unsigned kOffset = 100, kDimensions = 3, kPoints = 4000;

// A pseudorandom ordering: `run` consecutive numbers of each subsequence in turn.
template <class State_>
struct Pseudo {
  using State = State_;
  curandOrdering_t order;
  unsigned subsequences, run;

  __device__ static void start(State& state, unsigned subsequence) {
    curand_init(kSeed, subsequence, 0, &state);
  }
};
using Xorwow = Pseudo<curandStateXORWOW_t>;
using Mrg = Pseudo<curandStateMRG32k3a_t>;
using Philox = Pseudo<curandStatePhilox4_32_10_t>;

// Generates the expected numbers. Each thread has one subsequence and skips what precedes the
// offset.
template <class Generator>
__global__ void expect(Generator generator, unsigned* bits, float* uniform, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= generator.subsequences || i * generator.run >= count + kOffset) return;
  typename Generator::State one, other;
  Generator::start(one, i);
  other = one;
  for (unsigned at = i * generator.run; at < count + kOffset;
       at += generator.subsequences * generator.run) {
    for (unsigned n = at; n < at + generator.run; ++n) {
      const unsigned value = curand(&one);
      const float number = curand_uniform(&other);
      if (n < kOffset || n - kOffset >= count) continue;
      bits[n - kOffset] = value;
      uniform[n - kOffset] = number;
    }
  }
}

void ok(curandStatus_t status, const std::string& what) {
  require(status == CURAND_STATUS_SUCCESS, (what + ": " + std::to_string(status)).c_str());
}

template <class T>
void equal(const DeviceArray<T>& found, const DeviceArray<T>& expected, const std::string& what) {
  const std::vector<T> a = found.read(), b = expected.read();
  for (std::size_t i = 0; i < a.size(); ++i)
    require(a[i] == b[i], (what + ": number " + std::to_string(i)).c_str());
}

template <class State>
void check_pseudo(curandRngType_t type, Pseudo<State> order, unsigned count) {
  const std::string name =
      "generator " + std::to_string(type) + ", order " + std::to_string(order.order);
  curandGenerator_t generator = nullptr;
  ok(curandCreateGenerator(&generator, type), name);
  ok(curandSetGeneratorOrdering(generator, order.order), name);
  ok(curandSetPseudoRandomGeneratorSeed(generator, kSeed), name);
  DeviceArray<unsigned> bits(count), expected_bits(count);
  DeviceArray<float> uniform(count), expected_uniform(count);
  expect<<<(order.subsequences + 255) / 256, 256>>>(order, expected_bits.get(),
                                                    expected_uniform.get(), count);
  ok(curandSetGeneratorOffset(generator, kOffset), name);
  ok(curandGenerate(generator, bits.get(), count), name);
  ok(curandSetGeneratorOffset(generator, kOffset), name);
  ok(curandGenerateUniform(generator, uniform.get(), count), name);
  equal(bits, expected_bits, name + ", bits");
  equal(uniform, expected_uniform, name + ", uniform");
  ok(curandDestroyGenerator(generator), name);
}

// A quasirandom generator gives all numbers of the first dimension, then those of the next.
template <class Start, class T>
__global__ void expect_points(Start start, T* bits) {
  auto state = start(threadIdx.x);
  for (unsigned i = 0; i < kPoints; ++i) bits[threadIdx.x * kPoints + i] = curand(&state);
}

template <class T, class Start, class Generate>
void check_quasi(curandRngType_t type, Start start, Generate generate) {
  const std::string name = "generator " + std::to_string(type);
  curandGenerator_t generator = nullptr;
  ok(curandCreateGenerator(&generator, type), name);
  ok(curandSetQuasiRandomGeneratorDimensions(generator, kDimensions), name);
  ok(curandSetGeneratorOffset(generator, kOffset), name);
  DeviceArray<T> bits(kDimensions * kPoints), expected(kDimensions * kPoints);
  ok(generate(generator, bits.get(), kDimensions * kPoints), name);
  expect_points<<<1, kDimensions>>>(start, expected.get());
  equal(bits, expected, name);
  ok(curandDestroyGenerator(generator), name);
}

template <class T>
T* on_device(const T* values, unsigned count) {
  T* const data = allocate<T>(count);
  require(cudaMemcpy(data, values, count * sizeof(T), cudaMemcpyHostToDevice));
  return data;
}

curandDirectionVectors32_t* vectors32(curandDirectionVectorSet_t set) {
  curandDirectionVectors32_t* vectors = nullptr;
  ok(curandGetDirectionVectors32(&vectors, set), "direction vectors");
  return on_device(vectors, kDimensions);
}

curandDirectionVectors64_t* vectors64(curandDirectionVectorSet_t set) {
  curandDirectionVectors64_t* vectors = nullptr;
  ok(curandGetDirectionVectors64(&vectors, set), "direction vectors");
  return on_device(vectors, kDimensions);
}

void check_sobol() {
  unsigned* host32 = nullptr;
  unsigned long long* host64 = nullptr;
  ok(curandGetScrambleConstants32(&host32), "scramble constants");
  ok(curandGetScrambleConstants64(&host64), "scramble constants");
  const auto constants32 = on_device(host32, kDimensions);
  const auto constants64 = on_device(host64, kDimensions);
  const auto plain32 = vectors32(CURAND_DIRECTION_VECTORS_32_JOEKUO6),
             scrambled32 = vectors32(CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
  const auto plain64 = vectors64(CURAND_DIRECTION_VECTORS_64_JOEKUO6),
             scrambled64 = vectors64(CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
  check_quasi<unsigned>(
      CURAND_RNG_QUASI_SOBOL32,
      [=] __device__(unsigned i) {
        curandStateSobol32_t state;
        curand_init(plain32[i], kOffset, &state);
        return state;
      },
      curandGenerate);
  check_quasi<unsigned>(
      CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
      [=] __device__(unsigned i) {
        curandStateScrambledSobol32_t state;
        curand_init(scrambled32[i], constants32[i], kOffset, &state);
        return state;
      },
      curandGenerate);
  check_quasi<unsigned long long>(
      CURAND_RNG_QUASI_SOBOL64,
      [=] __device__(unsigned i) {
        curandStateSobol64_t state;
        curand_init(plain64[i], kOffset, &state);
        return state;
      },
      curandGenerateLongLong);
  check_quasi<unsigned long long>(
      CURAND_RNG_QUASI_SCRAMBLED_SOBOL64,
      [=] __device__(unsigned i) {
        curandStateScrambledSobol64_t state;
        curand_init(scrambled64[i], constants64[i], kOffset, &state);
        return state;
      },
      curandGenerateLongLong);
}

}  // namespace

int main() {
  constexpr auto kDefault = CURAND_ORDERING_PSEUDO_DEFAULT, kLegacy = CURAND_ORDERING_PSEUDO_LEGACY,
                 kBest = CURAND_ORDERING_PSEUDO_BEST;
  check_pseudo(CURAND_RNG_PSEUDO_XORWOW, Xorwow{kDefault, 4096, 1}, 10001);
  check_pseudo(CURAND_RNG_PSEUDO_XORWOW, Xorwow{kLegacy, 4096, 1}, 5000);
  check_pseudo(CURAND_RNG_PSEUDO_MRG32K3A, Mrg{kBest, 81920, 1}, 90001);
  check_pseudo(CURAND_RNG_PSEUDO_MRG32K3A, Mrg{kLegacy, 4096, 1}, 10001);
  check_pseudo(CURAND_RNG_PSEUDO_PHILOX4_32_10, Philox{kDefault, 65536, 4}, 270001);
  check_sobol();
  std::puts("right");
}
