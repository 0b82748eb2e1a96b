// SPDX-License-Identifier: Apache-2.0
// Words of 64 bits that blocks store and load at the same time, which is a race: no block sees half
// of a store. argv[1]: the distance of the lanes' words.
#include <cstdio>
#include <cstdlib>

#include "device_array.hpp"

namespace {

using Pair = unsigned long long;
constexpr unsigned kThreads = 64, kBlocks = 64, kRounds = 2000;

// Weak accesses, which a compiler may not leave out. Strong loads make blocks run in order.
__device__ Pair load(const Pair* from) {
  Pair value;
  asm volatile("ld.global.b64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ void store(Pair* to, Pair value) {
  asm volatile("st.global.b64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

__global__ void exchange(Pair* words, unsigned distance, unsigned* torn) {
  Pair* const mine = words + threadIdx.x * distance;
  unsigned halves = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    const Pair seen = load(mine);
    halves += static_cast<unsigned>(seen) != static_cast<unsigned>(seen >> 32);
    const Pair number = blockIdx.x * kRounds + round;
    if (threadIdx.x % 3 != round % 3) store(mine, number | number << 32);
  }
  torn[blockIdx.x * kThreads + threadIdx.x] = halves;
}

}  // namespace

int main(int, char** arguments) {
  const auto distance = static_cast<unsigned>(std::atoi(arguments[1]));
  const DeviceArray<Pair> words(kThreads * distance);
  const DeviceArray<unsigned> torn(kBlocks * kThreads);
  exchange<<<kBlocks, kThreads>>>(words.get(), distance, torn.get());
  require(cudaDeviceSynchronize());
  unsigned sum = 0;
  for (const unsigned halves : torn.read()) sum += halves;
  std::printf("%u loads saw half of a store\n", sum);
}
