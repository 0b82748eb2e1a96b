// SPDX-License-Identifier: Apache-2.0
// Invalid frees: the program receives cudaErrorInvalidValue and may continue.
#include <cstdint>
#include <cstring>

#include "require.hpp"

int main(int argc, char** argv) {
  require(argc == 2, "one argument");
  const auto named = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  char *device, *host;
  require(cudaMalloc(&device, 4096));
  require(cudaMallocHost(&host, 4096));
  cudaError_t error = cudaSuccess;
  if (named("twice")) {
    require(cudaFree(device));
    error = cudaFree(device);
  }
  if (named("inside")) error = cudaFree(device + 16);
  if (named("host")) error = cudaFree(&error);
  if (named("pinned")) error = cudaFree(host);
  if (named("device")) error = cudaFreeHost(device);
  if (named("async")) error = cudaFreeAsync(reinterpret_cast<void*>(std::uintptr_t{16}), nullptr);
  require(error == cudaErrorInvalidValue, "cudaErrorInvalidValue");
  require(cudaGetLastError(), cudaErrorInvalidValue, "the last error");
  require(cudaMalloc(&device, 16), "all goes on");
}
