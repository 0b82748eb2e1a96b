// SPDX-License-Identifier: Apache-2.0
// Exits after a launch as its arguments say: with a status, or by "abort".
#include <cstring>

#include "require.hpp"

__global__ void nothing() {}

int main(int argc, char** argv) {
  require(argc == 2, "one argument");
  nothing<<<3, 32>>>();
  require(cudaDeviceSynchronize());
  if (std::strcmp(argv[1], "abort") == 0) std::abort();
  if (std::strcmp(argv[1], "quick") == 0) std::_Exit(0);
  return std::atoi(argv[1]);
}
