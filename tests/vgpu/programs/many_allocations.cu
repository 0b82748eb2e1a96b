// SPDX-License-Identifier: Apache-2.0
// 100,000 live allocations of many sizes, freed in another order and allocated again: time grows
// with their number, not with its square.
#include <vector>

#include "require.hpp"

int main() {
  constexpr std::size_t kCount = 100000;
  std::vector<char*> all(kCount);
  const auto size = [](std::size_t i) { return 1 + i * 37 % 3000; };
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) {
      const char first = static_cast<char>(i);
      require(cudaMalloc(&all[i], size(i)));
      require(cudaMemcpy(all[i], &first, 1, cudaMemcpyHostToDevice));
    }
    for (std::size_t i = 0; i < kCount; i += 2) require(cudaFree(all[i]));
    for (std::size_t i = 0; i < kCount; i += 2) require(cudaMalloc(&all[i], size(i + 500)));
    char last = 0;
    require(cudaMemcpy(&last, all[99999], 1, cudaMemcpyDeviceToHost));
    require(last == static_cast<char>(99999), "contents");
    for (std::size_t i = 0; i < kCount; ++i)
      require(cudaFree(all[i * 7919 % kCount]), "cudaFree in another order");
  }
}
