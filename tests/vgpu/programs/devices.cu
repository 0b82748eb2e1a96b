// SPDX-License-Identifier: Apache-2.0
// Several devices in one process: each has the properties that the vendor documents, its own memory
// and variables, and executes kernels. Run with all devices that vgpu has, in the order of
// kDocumented.
#include <cuda_runtime.h>

#include <cstring>
#include <thread>

#include "require.hpp"

namespace {

__device__ int counter = 5;

__global__ void count(int* out) { *out = ++counter; }

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; SMs, bus and
// cache: data sheets.
struct Documented {
  const char* name;
  int major, minor, multiprocessors, bus_bits, warps, blocks, shared_kb, shared_block_kb, l2_kb;
};
constexpr Documented kDocumented[] = {
    {"H200", 9, 0, 132, 6016, 64, 32, 228, 227, 61440},
    {"H100", 9, 0, 132, 5120, 64, 32, 228, 227, 51200},
    {"GH200", 9, 0, 132, 6144, 64, 32, 228, 227, 61440},
    {"B200", 10, 0, 148, 7680, 64, 32, 228, 227, 129536},
    {"A100", 8, 0, 108, 5120, 64, 32, 164, 163, 40960},
    {"NVIDIA L4", 8, 9, 58, 192, 48, 24, 100, 99, 49152},
    {"Tesla T4", 7, 5, 40, 256, 32, 16, 64, 64, 4096},
    {"A6000", 8, 6, 84, 384, 48, 16, 100, 99, 6144},
    {"RTX 2080 Ti", 7, 5, 68, 352, 32, 16, 64, 64, 5632},
    {"RTX 3090", 8, 6, 82, 384, 48, 16, 100, 99, 6144},
    {"RTX 4090", 8, 9, 128, 384, 48, 24, 100, 99, 73728},
    {"RTX 5070 Ti", 12, 0, 70, 256, 48, 24, 100, 99, 49152},
    {"RTX 5090", 12, 0, 170, 512, 48, 24, 100, 99, 98304},
};
constexpr int kDevices = sizeof kDocumented / sizeof *kDocumented;

void check_properties(int ordinal, const Documented& d) {
  cudaDeviceProp p;
  require(cudaGetDeviceProperties(&p, ordinal));
  require(std::strstr(p.name, d.name) != nullptr);
  require(p.major == d.major && p.minor == d.minor);
  require(p.multiProcessorCount == d.multiprocessors);
  require(p.memoryBusWidth == d.bus_bits);
  require(p.maxThreadsPerMultiProcessor == d.warps * 32);
  require(p.maxBlocksPerMultiProcessor == d.blocks);
  require(p.sharedMemPerMultiprocessor == static_cast<std::size_t>(d.shared_kb) * 1024);
  require(p.sharedMemPerBlockOptin == static_cast<std::size_t>(d.shared_block_kb) * 1024);
  require(p.sharedMemPerBlock == 48 * 1024);
  require(p.regsPerMultiprocessor == 65536 && p.regsPerBlock == 65536);
  require(p.l2CacheSize == d.l2_kb * 1024);
  require(p.clusterLaunch == (d.major >= 9));
  int value = 0;
  require(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, ordinal));
  require(value == d.major);
  char id[32];
  int back = -1;
  require(cudaDeviceGetPCIBusId(id, sizeof id, ordinal));
  require(cudaDeviceGetByPCIBusId(&back, id) == cudaSuccess && back == ordinal);
}

// Each device has its own copy of a variable; memory is counted on the device that allocated it;
// every device can read another's.
void check_separation() {
  int* out[2];
  for (const int device : {0, 1}) {
    require(cudaSetDevice(device));
    require(cudaMalloc(&out[device], sizeof(int)));
  }
  const int launches[2] = {3, 1};
  for (const int device : {0, 1}) {
    require(cudaSetDevice(device));
    for (int i = 0; i < launches[device]; ++i) count<<<1, 1>>>(out[device]);
    int value = 0;
    require(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    require(value == 5 + launches[device]);
    cudaPointerAttributes where;
    require(cudaPointerGetAttributes(&where, out[device]) == cudaSuccess && where.device == device);
  }
  std::size_t free_before = 0, free_after = 0, total = 0;
  void* large = nullptr;
  require(cudaMemGetInfo(&free_before, &total));
  require(cudaMalloc(&large, 1 << 20));
  require(cudaSetDevice(0));
  // The host may have less memory than the device.
  require(cudaMemGetInfo(&free_after, &total) == cudaSuccess && total - free_after >= sizeof(int));
  require(cudaSetDevice(1));
  require(cudaMemGetInfo(&free_after, &total) == cudaSuccess &&
          free_before - free_after == 1 << 20);

  int can = 0;
  require(cudaDeviceCanAccessPeer(&can, 1, 0) == cudaSuccess && can == 1);
  require(cudaDeviceCanAccessPeer(&can, 1, 1) == cudaSuccess && can == 0);
  require(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  require(cudaDeviceEnablePeerAccess(0, 0));
  require(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  require(cudaMemcpyPeer(out[1], 1, out[0], 0, sizeof(int)));
  int value = 0;
  require(cudaMemcpy(&value, out[1], sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess &&
          value == 8);
}

}  // namespace

int main() {
  skip_on_hardware();
  int devices = 0, current = -1;
  require(cudaGetDeviceCount(&devices) == cudaSuccess && devices == kDevices);
  for (int i = 0; i < kDevices; ++i) check_properties(i, kDocumented[i]);
  check_separation();
  require(cudaSetDevice(kDevices), cudaErrorInvalidDevice);
  require(cudaGetDevice(&current) == cudaSuccess && current == 1);
  std::thread([] {
    int fresh = -1;
    require(cudaGetDevice(&fresh) == cudaSuccess &&
            fresh == 0);  // each thread has its own current device
  }).join();
  return 0;
}
