// SPDX-License-Identifier: Apache-2.0
// visible [set TEXT] PLACE...: the program has the devices of these places, in this order. `set`
// changes CUDA_VISIBLE_DEVICES at the start of `main`, which is in time.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

#include "require.hpp"

namespace {

__global__ void store(int* out, int value) { *out = value; }

void check_none() {
  int count = -1;
  fails(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  require(count == 0, "the number of devices");
  void* memory = nullptr;
  fails(cudaMalloc(&memory, 4), cudaErrorNoDevice);
  fails(cudaSetDevice(0), cudaErrorNoDevice);
  EXPECT(ERROR_NO_DEVICE, cuInit(0));
  EXPECT(ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  succeeds(cudaRuntimeGetVersion(&count));
  succeeds(cudaDriverGetVersion(&count));
}

// `at`: the place, which the PCI address and the UUID tell.
void check_device(int ordinal, int at) {
  constexpr int kFirst = 6;
  cudaDeviceProp p;
  require(cudaGetDeviceProperties(&p, ordinal));
  require(p.pciDeviceID == kFirst + at, "the PCI device");
  char id[32];
  int back = -1;
  require(cudaDeviceGetPCIBusId(id, sizeof id, ordinal));
  require(std::strtol(id + std::strlen("0000:00:"), nullptr, 16) == kFirst + at, id);
  require(cudaDeviceGetByPCIBusId(&back, id));
  require(back == ordinal, "the device of its PCI address");
  CUuuid uuid;
  CHECK(cuDeviceGetUuid(&uuid, ordinal));
  require(uuid.bytes[0] == at && p.uuid.bytes[0] == at, "the UUID");

  int *out = nullptr, value = 0;
  require(cudaSetDevice(ordinal));
  require(cudaMalloc(&out, sizeof *out));
  store<<<1, 1>>>(out, ordinal + 1);
  require(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDefault));
  require(value == ordinal + 1, "the result of a kernel");
  require(cudaFree(out));
}

}  // namespace

int main(int count, char** arguments) {
  skip_on_hardware();
  int first = 1;
  if (count > 2 && std::strcmp(arguments[1], "set") == 0) {
    setenv("CUDA_VISIBLE_DEVICES", arguments[2], 1);
    first = 3;
  }
  if (first == count) {
    check_none();
  } else {
    int all = 0, by_driver = 0;
    require(cudaGetDeviceCount(&all));
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&by_driver));
    require(all == count - first && by_driver == all, "the number of devices");
    for (int i = 0; i < all; ++i) check_device(i, std::atoi(arguments[first + i]));
    require(cudaSetDevice(all), cudaErrorInvalidDevice);
  }
  std::puts("right");
}
