// SPDX-License-Identifier: Apache-2.0
// The numbers of cuRAND's device generators beside those of a GPU (rand_measured.inc).
#include <curand.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "device_array.hpp"

namespace {

// What a call gives: `generate(generator, data, count)` and the numbers' type.
#define KIND(name, type, function, ...)                                             \
  struct name {                                                                     \
    using Number = type;                                                            \
    static curandStatus_t generate(curandGenerator_t g, type* data, size_t count) { \
      return function(g, data, count __VA_OPT__(, ) __VA_ARGS__);                   \
    }                                                                               \
  };
KIND(bits, unsigned, curandGenerate)
KIND(bits64, unsigned long long, curandGenerateLongLong)
KIND(uniform, float, curandGenerateUniform)
KIND(uniform_double, double, curandGenerateUniformDouble)
KIND(normal, float, curandGenerateNormal, 0, 1)
KIND(normal_double, double, curandGenerateNormalDouble, 0, 1)
KIND(normal_3_2, float, curandGenerateNormal, 3, 2)
KIND(log_normal, float, curandGenerateLogNormal, 0.5F, 0.7F)
KIND(log_normal_double, double, curandGenerateLogNormalDouble, 0.5, 0.7)
KIND(poisson_half, unsigned, curandGeneratePoisson, 0.5)
KIND(poisson_20, unsigned, curandGeneratePoisson, 20)
KIND(poisson_900, unsigned, curandGeneratePoisson, 900)
KIND(poisson_5000, unsigned, curandGeneratePoisson, 5000)
#undef KIND

struct Case {
  std::string name;
  int type, order;
  long long seed;
  unsigned offset, dimensions, first, count;
};

template <class Kind>
std::vector<typename Kind::Number> numbers(const Case& wanted) {
  const auto ok = [&](curandStatus_t status) {
    require(status == CURAND_STATUS_SUCCESS,
            (wanted.name + ": status " + std::to_string(status)).c_str());
  };
  curandGenerator_t generator = nullptr;
  ok(curandCreateGenerator(&generator, curandRngType_t(wanted.type)));
  if (wanted.order != 0) ok(curandSetGeneratorOrdering(generator, curandOrdering_t(wanted.order)));
  if (wanted.seed >= 0) ok(curandSetPseudoRandomGeneratorSeed(generator, wanted.seed));
  if (wanted.offset != 0) ok(curandSetGeneratorOffset(generator, wanted.offset));
  if (wanted.dimensions != 0)
    ok(curandSetQuasiRandomGeneratorDimensions(generator, wanted.dimensions));
  auto* const device = allocate<typename Kind::Number>(wanted.count);
  if (wanted.first != 0) ok(Kind::generate(generator, device, wanted.first));
  ok(Kind::generate(generator, device + wanted.first, wanted.count - wanted.first));
  const auto host = download(device, wanted.count);
  require(cudaFree(device));
  ok(curandDestroyGenerator(generator));
  return host;
}

template <class Kind>
void equal(const Case& wanted, std::uint64_t expected) {
  const auto found = numbers<Kind>(wanted);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(found.data());
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < found.size() * sizeof found[0]; ++i)
    hash = (hash ^ bytes[i]) * 1099511628211u;
  require(hash == expected, wanted.name.c_str());
}

// The host's mathematical functions round differently from the device's. A Poisson number with a
// large mean is a rounded normal number, so it may differ by one.
template <class Kind>
void close(const Case& wanted, std::initializer_list<double> expected) {
  constexpr unsigned kPlaces[] = {0, 1, 2, 3, 4096, 4097};
  constexpr bool kIsWhole = std::is_integral_v<typename Kind::Number>;
  const auto found = numbers<Kind>(wanted);
  for (std::size_t i = 0; i < std::size(kPlaces); ++i) {
    const double value = double(found[kPlaces[i]]), right = expected.begin()[i];
    require(std::fabs(value - right) <= (kIsWhole ? 1 : 1e-6 * std::max(1.0, std::fabs(right))),
            (wanted.name + ": " + std::to_string(value) + " instead of " + std::to_string(right))
                .c_str());
  }
}

}  // namespace

int main() {
#define EXACT(type, order, seed, offset, dimensions, first, count, kind, hash)                \
  equal<kind>({#kind " of type " #type ", order " #order ", seed " #seed ", offset " #offset, \
               type, order, seed, offset, dimensions, first, count},                          \
              hash);
#define CLOSE(type, order, seed, offset, dimensions, first, count, kind, ...)                 \
  close<kind>({#kind " of type " #type ", order " #order ", seed " #seed ", offset " #offset, \
               type, order, seed, offset, dimensions, first, count},                          \
              {__VA_ARGS__});
#include "rand_measured.inc"
  std::puts("right");
}
