// SPDX-License-Identifier: Apache-2.0
// Prints its process id after a launch and waits for a signal.
#include <unistd.h>

#include "require.hpp"

__global__ void nothing() {}

int main() {
  nothing<<<1, 1>>>();
  require(cudaDeviceSynchronize());
  std::printf("%d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  for (;;) pause();
}
