// SPDX-License-Identifier: Apache-2.0
// Limits of printf: many (more than its buffer holds), wide (fields of gigabytes), forms.
#include <cstring>

#include "require.hpp"

__device__ int wrong;
__device__ const char odd[] = "%n|%y|%-6d|%+.3d|% d|%05d|%#x\n";

__global__ void many(int n) {
  for (int i = 0; i < n; ++i) printf("block %d line %d\n", blockIdx.x, i);
}
__global__ void wide(const char* endless) {
  printf("%2000000000d|\n", 1);
  printf("%-2000000000d|%2000000000s|\n", 1, "text");
  printf("%.2000000000f|\n", 1.5);
  printf("%*d|%.*f|\n", 2000000000, 1, 2000000000, 1.5);
  printf("%*d|\n", -2000000000, 1);
  printf("%99999999999999999999d|\n", 1);
  printf("%s|\n", endless);
  printf(endless);
  printf("end\n");
}
__global__ void forms() {
  if (printf(odd, 1, 2, 3, 4, 255) != 5) wrong = 1;
  if (printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
             "%d %d %d %d %d %d%%\n",
             1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
             25, 26, 27, 28, 29, 30, 31, 32, 33, 34) != 32)
    wrong = 2;
  if (printf("%.*d|%.*s|%*d\n", -4, 6, 2, "abc", -4, 1) != 6) wrong = 3;
  if (printf("none\n") != 0 || printf(nullptr) != -1) wrong = 4;
}

int main(int argc, char** argv) {
  const auto named = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  require(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 12));  // 512 KB at least
  std::size_t limit = 0;
  require(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
  require(limit == 512 << 10, "the least buffer");
  if (named("many")) many<<<3, 1>>>(10000);
  if (named("forms")) {
    skip_on_hardware();  // whose runtime fails on a null pointer as format
    forms<<<1, 1>>>();
  }
  if (named("wide")) {
    char* endless;
    constexpr std::size_t kBytes = 1 << 20;
    require(cudaMalloc(&endless, kBytes));
    require(cudaMemset(endless, 'x', kBytes));
    wide<<<1, 1>>>(endless);
  }
  require(cudaDeviceSynchronize());
  require(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20), cudaErrorInvalidValue, "too late");
  int number = 0;
  require(cudaMemcpyFromSymbol(&number, wrong, sizeof number));
  require(number == 0, "what printf returns");
}
