// SPDX-License-Identifier: Apache-2.0
// Launches that fail. Without cudaGetLastError a program does not notice that <<<>>> failed.
#include <cstring>
#include <thread>

#include "require.hpp"

__global__ void store(int* out) { *out = 1; }
__global__ void __launch_bounds__(128) bounded(int* out) { *out = 1; }

int main(int argc, char** argv) {
  require(argc == 2, "one argument");
  const auto named = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  int* out;
  require(cudaMalloc(&out, sizeof(int)));
  if (named("dropped")) {
    for (int i = 0; i < 3; ++i) store<<<1, 2048>>>(out);
    bounded<<<1, 256>>>(out);
  }
  if (named("by_another_thread")) {
    std::thread([&] { store<<<1, 2048>>>(out); }).join();
    require(cudaGetLastError(), "this thread's last error");
  }
  if (named("no_blocks")) store<<<0, 1>>>(out);
  if (named("asked")) {
    store<<<1, 2048>>>(out);
    require(cudaPeekAtLastError(), cudaErrorInvalidValue, "the last error");
  }
  if (named("returned")) {
    void* arguments[] = {&out};
    require(cudaLaunchKernel(store, dim3(1), dim3(2048), arguments, 0, nullptr),
            cudaErrorInvalidValue, "the launch");
  }
  require(cudaDeviceSynchronize(), "the end");
}
