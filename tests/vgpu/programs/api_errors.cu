// SPDX-License-Identifier: Apache-2.0
// Prints the runtime's return values for valid and invalid calls. api_errors.h200 is the output on
// an H200; the virtual GPU must print the same.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void nothing() {}

__global__ void __launch_bounds__(128) bounded(int* out) {
  if (out != nullptr) *out = 1;
}

__global__ void dynamic(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 1;
  if (out != nullptr) *out = tile[0];
}

__global__ void forty_kilobytes(int* out) {
  __shared__ int fixed[10000];
  extern __shared__ int tile[];
  fixed[threadIdx.x] = 1;
  tile[0] = 1;
  __syncthreads();
  if (out != nullptr) *out = fixed[0] + tile[0];
}

__device__ int variable[4];
__constant__ int constant[4];

static int no_kernel = 0;

static void answer(const char* call, cudaError_t error) {
  std::printf("%-90s %s, last %d\n", call, cudaGetErrorName(error),
              static_cast<int>(cudaGetLastError()));
}

// Macros, because the text of the call is printed.
#define CALL(...) answer(#__VA_ARGS__, __VA_ARGS__)
#define LAUNCH(...)                                           \
  do {                                                        \
    __VA_ARGS__;                                              \
    answer(#__VA_ARGS__, cudaPeekAtLastError());              \
    if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1); \
  } while (0)

static void launches() {
  LAUNCH(nothing<<<1, 1024>>>());
  LAUNCH(nothing<<<1, 1025>>>());
  LAUNCH(nothing<<<0, 1>>>());
  LAUNCH(nothing<<<1, 0>>>());
  LAUNCH(nothing<<<dim3(1, 65535), 1>>>());
  LAUNCH(nothing<<<dim3(1, 65536), 1>>>());
  LAUNCH(nothing<<<1, dim3(1, 1, 64)>>>());
  LAUNCH(nothing<<<1, dim3(1, 1, 65)>>>());
  LAUNCH(nothing<<<dim3(0x80000000u), 1>>>());
  LAUNCH(bounded<<<1, 128>>>(nullptr));
  LAUNCH(bounded<<<1, 129>>>(nullptr));
  LAUNCH(dynamic<<<1, 32, 49152>>>(nullptr));
  LAUNCH(dynamic<<<1, 32, 49153>>>(nullptr));
  LAUNCH(dynamic<<<1, 32, 300000>>>(nullptr));
  LAUNCH(forty_kilobytes<<<1, 32, 9152>>>(nullptr));
  LAUNCH(forty_kilobytes<<<1, 32, 9153>>>(nullptr));
  constexpr auto kMost = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CALL(cudaFuncSetAttribute(dynamic, kMost, 232448));
  CALL(cudaFuncSetAttribute(dynamic, kMost, 232449));
  CALL(cudaFuncSetAttribute(dynamic, kMost, -1));
  CALL(cudaFuncSetAttribute(forty_kilobytes, kMost, 232448 - 40000));
  CALL(cudaFuncSetAttribute(forty_kilobytes, kMost, 232448 - 40000 + 1));
  CALL(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  CALL(cudaFuncSetAttribute(reinterpret_cast<const void*>(&no_kernel), kMost, 1));
  LAUNCH(dynamic<<<1, 32, 232448>>>(nullptr));
  LAUNCH(dynamic<<<1, 32, 232449>>>(nullptr));
  LAUNCH(forty_kilobytes<<<1, 32, 192448>>>(nullptr));
  LAUNCH(forty_kilobytes<<<1, 32, 192449>>>(nullptr));
  CALL(cudaLaunchKernel(&no_kernel, dim3(1), dim3(1), nullptr, 0, nullptr));
  CALL(cudaFuncSetCacheConfig(reinterpret_cast<const void*>(&no_kernel), cudaFuncCachePreferL1));
  CALL(cudaLaunchCooperativeKernel(nothing, dim3(100), dim3(1024), nullptr));
  CALL(cudaLaunchCooperativeKernel(nothing, dim3(264), dim3(1024), nullptr));
  CALL(cudaLaunchCooperativeKernel(nothing, dim3(265), dim3(1024), nullptr));
}

static void functions() {
  const void* const kernels[] = {
      reinterpret_cast<const void*>(nothing), reinterpret_cast<const void*>(bounded),
      reinterpret_cast<const void*>(dynamic), reinterpret_cast<const void*>(forty_kilobytes)};
  for (const void* kernel : kernels) {
    cudaFuncAttributes f{};
    CALL(cudaFuncGetAttributes(&f, kernel));
    std::printf("shared %zu, local %zu, threads %d, binary %d, dynamic %d, carveout %d\n",
                f.sharedSizeBytes, f.localSizeBytes, f.maxThreadsPerBlock, f.binaryVersion,
                f.maxDynamicSharedSizeBytes, f.preferredShmemCarveout);
    for (const int threads : {1, 100, 256, 1024, 2048}) {
      for (const std::size_t shared : {0, 9000, 40000, 192448}) {
        int blocks = -1;
        const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared);
        std::printf("%d threads, %zu bytes: %s, %d blocks\n", threads, shared,
                    cudaGetErrorName(error), blocks);
      }
    }
  }
  int blocks = 0;
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0));
}

static void memory() {
  char host[8192];
  void *device = nullptr, *other = nullptr;
  CALL(cudaMalloc(&device, 0));
  CALL(cudaMalloc(nullptr, 4));
  CALL(cudaMalloc(&device, std::size_t{1} << 50));
  CALL(cudaMalloc(&device, 1000));
  CALL(cudaMemcpy(device, host, 1000, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(device, host, 8192, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(host, host + 100, 50, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(host, host + 100, 50, cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(host, host + 100, 50, cudaMemcpyDefault));
  CALL(cudaMemcpy(device, device, 50, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(device, host, 50, cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(device, host, 50, static_cast<cudaMemcpyKind>(9)));
  CALL(cudaMemcpy(nullptr, host, 50, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  CALL(cudaMemset(device, 0, 1000));
  CALL(cudaMemset(host, 0, 100));
  CALL(cudaMemset(device, 0, 1 << 24));
  CALL(cudaMemcpy2D(device, 10, host, 20, 15, 2, cudaMemcpyHostToDevice));
  CALL(cudaFree(static_cast<char*>(device) + 16));
  CALL(cudaFree(host));
  CALL(cudaFree(device));
  CALL(cudaFree(device));
  CALL(cudaFree(nullptr));
  CALL(cudaMallocHost(&device, 0));
  CALL(cudaMallocHost(&device, 100));
  CALL(cudaFree(device));
  CALL(cudaFreeHost(device));
  CALL(cudaMallocManaged(&device, 0));
  CALL(cudaMallocManaged(&device, 100, 0));
  CALL(cudaMallocAsync(&device, 100, nullptr));
  CALL(cudaFreeAsync(device, nullptr));
  CALL(cudaFreeAsync(device, nullptr));
  CALL(cudaHostGetDevicePointer(&device, host, 0));
  CALL(cudaHostRegister(host, sizeof host, 0));
  CALL(cudaHostRegister(host, sizeof host, 0));
  CALL(cudaHostGetDevicePointer(&device, host, 0));
  CALL(cudaHostUnregister(host));
  CALL(cudaHostUnregister(host));
  CALL(cudaMemcpyToSymbol(variable, host, 16));
  CALL(cudaMemcpyToSymbol(variable, host, 17));
  CALL(cudaMemcpyToSymbol(variable, host, 4, 13));
  CALL(cudaMemcpyToSymbol(constant, host, 16));
  CALL(cudaMemcpyToSymbol(no_kernel, host, 4));
  CALL(cudaMemcpyToSymbol(variable, host, 16, 0, cudaMemcpyDeviceToHost));
  CALL(cudaMemcpyFromSymbol(host, variable, 16, 0, cudaMemcpyHostToDevice));
  CALL(cudaGetSymbolAddress(&other, constant));
  CALL(cudaGetSymbolAddress(&other, no_kernel));
}

static void handles() {
  cudaEvent_t timed, untimed, unrecorded, none = nullptr;
  cudaStream_t stream;
  float milliseconds;
  CALL(cudaEventCreate(&timed));
  CALL(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CALL(cudaEventCreate(&unrecorded));
  CALL(cudaEventCreateWithFlags(&none, 77));
  CALL(cudaEventElapsedTime(&milliseconds, timed, timed));
  CALL(cudaEventRecord(timed));
  CALL(cudaEventRecord(untimed));
  CALL(cudaEventSynchronize(timed));
  CALL(cudaEventElapsedTime(&milliseconds, timed, timed));
  CALL(cudaEventElapsedTime(&milliseconds, timed, untimed));
  CALL(cudaEventElapsedTime(&milliseconds, timed, unrecorded));
  CALL(cudaEventElapsedTime(&milliseconds, nullptr, timed));
  CALL(cudaEventQuery(timed));
  CALL(cudaEventQuery(unrecorded));
  CALL(cudaEventSynchronize(unrecorded));
  CALL(cudaEventRecord(nullptr));
  CALL(cudaEventDestroy(nullptr));
  CALL(cudaStreamDestroy(nullptr));
  CALL(cudaStreamQuery(nullptr));
  CALL(cudaStreamCreateWithFlags(&stream, 9));
  CALL(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -3));
  int priority = 1;
  CALL(cudaStreamGetPriority(stream, &priority));
  std::printf("priority %d\n", priority);
  CALL(cudaStreamDestroy(stream));
}

static void device() {
  int value = 0;
  cudaDeviceProp properties;
  std::size_t limit = 0;
  CALL(cudaGetDeviceCount(nullptr));
  CALL(cudaSetDevice(-1));
  CALL(cudaSetDevice(100));
  CALL(cudaGetDeviceProperties(&properties, 100));
  CALL(cudaGetDeviceProperties(nullptr, 0));
  CALL(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 100));
  CALL(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(148), 0));
  CALL(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CALL(cudaDeviceSetLimit(static_cast<cudaLimit>(77), 4096));
  CALL(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth));
  CALL(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  std::printf("limit %zu\n", limit);
  int least = 0, greatest = 0;
  CALL(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  std::printf("priorities %d to %d\n", least, greatest);

  // Every attribute that has a name of its own in CUDA 13.0, except the bus id, which differs from
  // host to host.
  for (int i = 1; i <= 147; ++i) {
    const bool unnamed = i == 44 || (i >= 92 && i <= 94) || i == 96 || (i >= 102 && i <= 105) ||
                         i == 107 || i == 110 || (i >= 122 && i <= 124) || (i >= 127 && i <= 129) ||
                         i == 132 || i == 136 || i == 137 || i == 141 || i == 145 || i == 146;
    const bool of_host =
        i == cudaDevAttrPciBusId || i == cudaDevAttrPciDeviceId || i == cudaDevAttrPciDomainId;
    if (unnamed || of_host) continue;
    const cudaError_t error = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(i), 0);
    std::printf("attribute %d: %s, %d\n", i, cudaGetErrorName(error), value);
  }
  CALL(cudaGetDeviceProperties(&properties, 0));
  std::printf("memory %zu, L2 %d, bus %d bits, %d.%d, %d multiprocessors\n",
              properties.totalGlobalMem, properties.l2CacheSize, properties.memoryBusWidth,
              properties.major, properties.minor, properties.multiProcessorCount);
}

int main() {
  launches();
  functions();
  memory();
  handles();
  device();
}
