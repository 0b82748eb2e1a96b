// SPDX-License-Identifier: Apache-2.0
// Faulty kernels, one for each name: the error that the host receives, and that it is sticky.
#undef NDEBUG  // a failed assert is one of the faults
#include <cassert>
#include <cstring>

#include "require.hpp"

__global__ void write_past_end(int* data, int n) { data[n + threadIdx.x] = 1; }
__global__ void read_past_end(const int* data, int* out, int n) { out[0] = data[n]; }
__global__ void misaligned(char* data) { *reinterpret_cast<int*>(data + 1) = 1; }
__global__ void fails_assertion(int value) { assert(value == 1); }
__global__ void traps() { asm("trap;"); }
__global__ void harmless(int* data) { data[0] = 1; }

int main(int argc, char** argv) {
  require(argc == 2, "one argument");
  const auto named = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  constexpr int kCount = 100;
  int *data, *out;
  require(cudaMalloc(&data, kCount * sizeof(int)));
  require(cudaMalloc(&out, kCount * sizeof(int)));
  cudaError_t expected = cudaErrorIllegalAddress;
  if (named("write")) write_past_end<<<1, 1>>>(data, kCount);
  if (named("read")) read_past_end<<<1, 1>>>(data, out, kCount);
  if (named("null")) harmless<<<1, 1>>>(nullptr);
  if (named("freed")) {
    require(cudaFree(data));
    harmless<<<1, 1>>>(data);
  }
  if (named("misaligned")) {
    misaligned<<<1, 1>>>(reinterpret_cast<char*>(data));
    expected = cudaErrorMisalignedAddress;
  }
  if (named("assert")) {
    fails_assertion<<<2, 32>>>(2);
    expected = cudaErrorAssert;
  }
  if (named("trap")) {
    traps<<<1, 1>>>();
    expected = cudaErrorLaunchFailure;
  }
  require(cudaDeviceSynchronize() == expected, "the fault's error code");
  require(cudaGetLastError() == expected && cudaGetLastError() == cudaSuccess,
          "the last error is given once");
  void* more;
  require(cudaMalloc(&more, 4) == expected, "the error is sticky");
  harmless<<<1, 1>>>(out);
  require(cudaGetLastError() == expected, "nothing is launched any more");
  int devices = 0;
  require(cudaGetDeviceCount(&devices) == cudaSuccess && devices == 1, "the device still answers");
}
