// SPDX-License-Identifier: Apache-2.0
// The runtime's return values for valid and invalid calls, and a device's properties, as an H200
// has them.
#include <iterator>
#include <string>

#include "require.hpp"

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

// Of the launch before it.
static void refused(cudaError_t expected = cudaErrorInvalidValue, int line = __builtin_LINE()) {
  fails(cudaPeekAtLastError(), expected, line);
  require(cudaDeviceSynchronize(), "the end of the launch", line);
}
static void launched(int line = __builtin_LINE()) { refused(cudaSuccess, line); }

static void launches() {
  nothing<<<1, 1024>>>(), launched();
  nothing<<<1, 1025>>>(), refused();
  nothing<<<0, 1>>>(), refused();
  nothing<<<1, 0>>>(), refused();
  nothing<<<dim3(1, 65535), 1>>>(), launched();
  nothing<<<dim3(1, 65536), 1>>>(), refused();
  nothing<<<1, dim3(1, 1, 64)>>>(), launched();
  nothing<<<1, dim3(1, 1, 65)>>>(), refused();
  nothing<<<dim3(0x80000000u), 1>>>(), refused();
  bounded<<<1, 128>>>(nullptr), launched();
  bounded<<<1, 129>>>(nullptr), refused();
  dynamic<<<1, 32, 49152>>>(nullptr), launched();
  dynamic<<<1, 32, 49153>>>(nullptr), refused();
  dynamic<<<1, 32, 300000>>>(nullptr), refused();
  forty_kilobytes<<<1, 32, 9152>>>(nullptr), launched();
  forty_kilobytes<<<1, 32, 9153>>>(nullptr), refused();
  constexpr auto kMost = cudaFuncAttributeMaxDynamicSharedMemorySize;
  succeeds(cudaFuncSetAttribute(dynamic, kMost, 232448));
  fails(cudaFuncSetAttribute(dynamic, kMost, 232449));
  fails(cudaFuncSetAttribute(dynamic, kMost, -1));
  succeeds(cudaFuncSetAttribute(forty_kilobytes, kMost, 232448 - 40000));
  fails(cudaFuncSetAttribute(forty_kilobytes, kMost, 232448 - 40000 + 1));
  fails(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  fails(cudaFuncSetAttribute(reinterpret_cast<const void*>(&no_kernel), kMost, 1),
        cudaErrorInvalidResourceHandle);
  dynamic<<<1, 32, 232448>>>(nullptr), launched();
  dynamic<<<1, 32, 232449>>>(nullptr), refused();
  forty_kilobytes<<<1, 32, 192448>>>(nullptr), launched();
  forty_kilobytes<<<1, 32, 192449>>>(nullptr), refused();
  fails(cudaLaunchKernel(&no_kernel, dim3(1), dim3(1), nullptr, 0, nullptr),
        cudaErrorInvalidResourceHandle);
  fails(cudaFuncSetCacheConfig(reinterpret_cast<const void*>(&no_kernel), cudaFuncCachePreferL1),
        cudaErrorInvalidResourceHandle);
  succeeds(cudaLaunchCooperativeKernel(nothing, dim3(100), dim3(1024), nullptr));
  succeeds(cudaLaunchCooperativeKernel(nothing, dim3(264), dim3(1024), nullptr));
  fails(cudaLaunchCooperativeKernel(nothing, dim3(265), dim3(1024), nullptr),
        cudaErrorCooperativeLaunchTooLarge);
}

static void functions() {
  constexpr int kThreads[] = {1, 100, 256, 1024, 2048};
  constexpr std::size_t kShared[] = {0, 9000, 40000, 192448};
  const struct {
    const void* kernel;
    std::size_t shared;
    int threads, dynamic;
    int blocks[5][4];  // per multiprocessor, by threads and shared memory
  } kernels[] = {
      {reinterpret_cast<const void*>(nothing),
       0,
       1024,
       49152,
       {{32, 23, 5, 0}, {16, 16, 5, 0}, {8, 8, 5, 0}, {2, 2, 2, 0}, {0, 0, 0, 0}}},
      {reinterpret_cast<const void*>(bounded),
       0,
       128,
       49152,
       {{32, 23, 5, 0}, {16, 16, 5, 0}, {8, 8, 5, 0}, {2, 2, 2, 0}, {0, 0, 0, 0}}},
      {reinterpret_cast<const void*>(dynamic),
       0,
       1024,
       232448,
       {{32, 23, 5, 1}, {16, 16, 5, 1}, {8, 8, 5, 1}, {2, 2, 2, 1}, {0, 0, 0, 0}}},
      {reinterpret_cast<const void*>(forty_kilobytes),
       40000,
       1024,
       192448,
       {{5, 4, 2, 1}, {5, 4, 2, 1}, {5, 4, 2, 1}, {2, 2, 2, 1}, {0, 0, 0, 0}}},
  };
  for (const auto& k : kernels) {
    cudaFuncAttributes f{};
    succeeds(cudaFuncGetAttributes(&f, k.kernel));
    require(f.sharedSizeBytes == k.shared && f.localSizeBytes == 0, "the kernel's memory");
    require(f.maxThreadsPerBlock == k.threads && f.binaryVersion == 90, "threads and version");
    require(f.maxDynamicSharedSizeBytes == k.dynamic && f.preferredShmemCarveout == -1,
            "dynamic shared memory");
    for (std::size_t i = 0; i < std::size(kThreads); ++i) {
      for (std::size_t j = 0; j < std::size(kShared); ++j) {
        int blocks = -1;
        succeeds(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k.kernel, kThreads[i],
                                                               kShared[j]));
        require(blocks == k.blocks[i][j], "blocks per multiprocessor");
      }
    }
  }
  int blocks = 0;
  fails(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0));
}

static void memory() {
  char host[8192];
  void *device = nullptr, *other = nullptr;
  succeeds(cudaMalloc(&device, 0));
  fails(cudaMalloc(nullptr, 4));
  fails(cudaMalloc(&device, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  succeeds(cudaMalloc(&device, 1000));
  succeeds(cudaMemcpy(device, host, 1000, cudaMemcpyHostToDevice));
  fails(cudaMemcpy(device, host, 8192, cudaMemcpyHostToDevice));
  fails(cudaMemcpy(host, host + 100, 50, cudaMemcpyHostToDevice));
  fails(cudaMemcpy(host, host + 100, 50, cudaMemcpyDeviceToHost));
  succeeds(cudaMemcpy(host, host + 100, 50, cudaMemcpyDefault));
  succeeds(cudaMemcpy(device, device, 50, cudaMemcpyHostToDevice));
  fails(cudaMemcpy(device, host, 50, cudaMemcpyDeviceToHost));
  fails(cudaMemcpy(device, host, 50, static_cast<cudaMemcpyKind>(9)),
        cudaErrorInvalidMemcpyDirection);
  fails(cudaMemcpy(nullptr, host, 50, cudaMemcpyHostToDevice));
  succeeds(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  succeeds(cudaMemset(device, 0, 1000));
  fails(cudaMemset(host, 0, 100));
  fails(cudaMemset(device, 0, 1 << 24));
  fails(cudaMemcpy2D(device, 10, host, 20, 15, 2, cudaMemcpyHostToDevice),
        cudaErrorInvalidPitchValue);
  fails(cudaFree(static_cast<char*>(device) + 16));
  fails(cudaFree(host));
  succeeds(cudaFree(device));
  fails(cudaFree(device));
  succeeds(cudaFree(nullptr));
  succeeds(cudaMallocHost(&device, 0));
  succeeds(cudaMallocHost(&device, 100));
  fails(cudaFree(device));
  succeeds(cudaFreeHost(device));
  succeeds(cudaMallocManaged(&device, 0));
  fails(cudaMallocManaged(&device, 100, 0));
  succeeds(cudaMallocAsync(&device, 100, nullptr));
  succeeds(cudaFreeAsync(device, nullptr));
  fails(cudaFreeAsync(device, nullptr));
  fails(cudaHostGetDevicePointer(&device, host, 0));
  succeeds(cudaHostRegister(host, sizeof host, 0));
  fails(cudaHostRegister(host, sizeof host, 0), cudaErrorHostMemoryAlreadyRegistered);
  succeeds(cudaHostGetDevicePointer(&device, host, 0));
  succeeds(cudaHostUnregister(host));
  fails(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
  succeeds(cudaMemcpyToSymbol(variable, host, 16));
  fails(cudaMemcpyToSymbol(variable, host, 17));
  fails(cudaMemcpyToSymbol(variable, host, 4, 13));
  succeeds(cudaMemcpyToSymbol(constant, host, 16));
  fails(cudaMemcpyToSymbol(no_kernel, host, 4), cudaErrorInvalidSymbol);
  fails(cudaMemcpyToSymbol(variable, host, 16, 0, cudaMemcpyDeviceToHost),
        cudaErrorInvalidMemcpyDirection);
  fails(cudaMemcpyFromSymbol(host, variable, 16, 0, cudaMemcpyHostToDevice),
        cudaErrorInvalidMemcpyDirection);
  succeeds(cudaGetSymbolAddress(&other, constant));
  fails(cudaGetSymbolAddress(&other, no_kernel), cudaErrorInvalidSymbol);
}

static void handles() {
  cudaEvent_t timed, untimed, unrecorded, none = nullptr;
  cudaStream_t stream;
  float milliseconds;
  succeeds(cudaEventCreate(&timed));
  succeeds(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  succeeds(cudaEventCreate(&unrecorded));
  fails(cudaEventCreateWithFlags(&none, 77));
  fails(cudaEventElapsedTime(&milliseconds, timed, timed), cudaErrorInvalidResourceHandle);
  succeeds(cudaEventRecord(timed));
  succeeds(cudaEventRecord(untimed));
  succeeds(cudaEventSynchronize(timed));
  succeeds(cudaEventElapsedTime(&milliseconds, timed, timed));
  fails(cudaEventElapsedTime(&milliseconds, timed, untimed), cudaErrorInvalidResourceHandle);
  fails(cudaEventElapsedTime(&milliseconds, timed, unrecorded), cudaErrorInvalidResourceHandle);
  fails(cudaEventElapsedTime(&milliseconds, nullptr, timed), cudaErrorInvalidResourceHandle);
  succeeds(cudaEventQuery(timed));
  succeeds(cudaEventQuery(unrecorded));
  succeeds(cudaEventSynchronize(unrecorded));
  fails(cudaEventRecord(nullptr), cudaErrorInvalidResourceHandle);
  fails(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
  fails(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  succeeds(cudaStreamQuery(nullptr));
  fails(cudaStreamCreateWithFlags(&stream, 9));
  succeeds(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -3));
  int priority = 1;
  succeeds(cudaStreamGetPriority(stream, &priority));
  require(priority == -3, "the priority");
  succeeds(cudaStreamDestroy(stream));
}

static void device() {
  int value = 0;
  cudaDeviceProp properties;
  std::size_t limit = 0;
  fails(cudaGetDeviceCount(nullptr));
  fails(cudaSetDevice(-1), cudaErrorInvalidDevice);
  fails(cudaSetDevice(100), cudaErrorInvalidDevice);
  fails(cudaGetDeviceProperties(&properties, 100), cudaErrorInvalidDevice);
  fails(cudaGetDeviceProperties(nullptr, 0));
  fails(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 100), cudaErrorInvalidDevice);
  fails(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(148), 0));
  succeeds(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  fails(cudaDeviceSetLimit(static_cast<cudaLimit>(77), 4096));
  fails(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth), cudaErrorUnsupportedLimit);
  succeeds(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  require(limit == 4096, "the limit");
  int least = 0, greatest = 0;
  succeeds(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  require(least == 0 && greatest == -5, "the range of priorities");

  // Every attribute that has a name of its own in CUDA 13.0, except the PCI bus, device and domain,
  // which differ from host to host.
  constexpr int kAttributes[][2] = {
      {1, 1024},        {2, 1024},        {3, 1024},     {4, 64},       {5, 2147483647},
      {6, 65535},       {7, 65535},       {8, 49152},    {9, 65536},    {10, 32},
      {11, 2147483647}, {12, 65536},      {13, 1980000}, {14, 512},     {15, 1},
      {16, 132},        {17, 0},          {18, 0},       {19, 1},       {20, 0},
      {21, 131072},     {22, 131072},     {23, 65536},   {24, 16384},   {25, 16384},
      {26, 16384},      {27, 32768},      {28, 32768},   {29, 2048},    {30, 512},
      {31, 1},          {32, 1},          {35, 0},       {36, 3201000}, {37, 6016},
      {38, 62914560},   {39, 2048},       {40, 3},       {41, 1},       {42, 32768},
      {43, 2048},       {45, 32768},      {46, 32768},   {47, 8192},    {48, 8192},
      {49, 32768},      {51, 32},         {52, 32768},   {53, 32768},   {54, 2046},
      {55, 32768},      {56, 131072},     {57, 65536},   {58, 16384},   {59, 16384},
      {60, 16384},      {61, 32768},      {62, 2048},    {63, 32768},   {64, 32768},
      {65, 2048},       {66, 32768},      {67, 32768},   {68, 2046},    {69, 268435456},
      {70, 131072},     {71, 65000},      {72, 2097120}, {73, 32768},   {74, 32768},
      {75, 9},          {76, 0},          {77, 32768},   {78, 1},       {79, 1},
      {80, 1},          {81, 233472},     {82, 65536},   {83, 1},       {84, 0},
      {85, 0},          {86, 0},          {87, 2},       {88, 0},       {89, 1},
      {90, 1},          {91, 1},          {95, 1},       {97, 232448},  {98, 0},
      {99, 1},          {100, 0},         {101, 0},      {106, 32},     {108, 39321600},
      {109, 134217728}, {111, 1024},      {112, 1},      {113, 1},      {114, 1},
      {115, 1},         {116, 1},         {117, 1},      {118, 100},    {119, 9},
      {120, 1},         {121, 1},         {125, 1},      {126, 4},      {130, 0},
      {131, -1},        {133, 0},         {134, 0},      {135, 0},      {138, 0},
      {139, 590680286}, {140, 415174878}, {142, 1},      {143, 0},      {144, 1},
      {147, 0}};
  for (const auto& [attribute, expected] : kAttributes) {
    succeeds(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), 0));
    require(value == expected, ("attribute " + std::to_string(attribute)).c_str());
  }
  succeeds(cudaGetDeviceProperties(&properties, 0));
  require(properties.totalGlobalMem == 150109880320 && properties.l2CacheSize == 62914560 &&
              properties.memoryBusWidth == 6016 && properties.multiProcessorCount == 132 &&
              properties.major == 9 && properties.minor == 0,
          "properties");
}

int main() {
  launches();
  functions();
  memory();
  handles();
  device();
}
