// SPDX-License-Identifier: Apache-2.0
// interop: one program that uses the runtime API and the driver API. Pointers, streams, events,
// graphs, kernels and the current context are those of both.
#include <cuda_runtime.h>

#include <thread>

#include "require.hpp"

namespace {

__device__ int scale = 2;

__global__ void times(int* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] *= scale;
}

CUcontext current() {
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  return context;
}

constexpr int kCount = 100;

// The runtime makes the primary context current, and follows what the driver API makes current.
void check_contexts() {
  CUcontext none = nullptr;
  EXPECT(ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&none));
  int count = 0;
  require(cudaGetDeviceCount(&count));
  require(current() == nullptr, "a call of the runtime initialises the driver, without a context");
  require(cudaFree(nullptr));
  CUcontext primary = nullptr, own = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  require(current() == primary, "the runtime uses the primary context");
  CHECK(cuCtxCreate(&own, nullptr, 0, 0));
  int* memory = nullptr;
  CUcontext owner = nullptr;
  require(cudaMalloc(&memory, 64));
  CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT,
                              reinterpret_cast<CUdeviceptr>(memory)));
  require(owner == own, "the runtime uses the current context");
  CHECK(cuCtxDestroy(own));
  require(cudaFree(memory), cudaErrorInvalidValue, "freed with its context");
  require(cudaGetLastError(), cudaErrorInvalidValue, "the runtime's last error");
  require(current() == primary, "the primary context again");
  int devices = 0;
  require(cudaGetDeviceCount(&devices));
  if (devices > 1) {
    CUdevice device = -1;
    int ordinal = -1;
    require(cudaSetDevice(1));
    CHECK(cuCtxGetDevice(&device));
    require(device == 1, "cudaSetDevice makes that device's context current");
    CHECK(cuCtxSetCurrent(primary));
    require(cudaGetDevice(&ordinal));
    require(ordinal == 0, "cuCtxSetCurrent makes that context's device current");
  }
  // Errors of the driver API are not the runtime's.
  ROBUST(ERROR_INVALID_VALUE, cuMemAlloc(nullptr, 4));
  require(cudaGetLastError() == cudaSuccess, "the runtime's last error after the driver's");
  CHECK(cuDevicePrimaryCtxRelease(0));
}

void check_kernel(CUfunction function, CUstream stream) {
  int host[kCount];
  for (int i = 0; i < kCount; ++i) host[i] = i;
  int* values = nullptr;
  require(cudaMallocManaged(&values, sizeof host));
  CHECK(cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(values), host, sizeof host, stream));
  int n = kCount;
  void* arguments[] = {&values, &n};
  CHECK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  times<<<1, 128, 0, stream>>>(values, n);
  cudaEvent_t event;
  require(cudaEventCreate(&event));
  CHECK(cuEventRecord(event, stream));
  require(cudaEventSynchronize(event));
  CHECK(cuEventDestroy(event));
  for (int i = 0; i < kCount; ++i) require(values[i] == 4 * i, "two launches, one by each API");
  unsigned managed = 0;
  CHECK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                              reinterpret_cast<CUdeviceptr>(values)));
  require(managed == 1, "the driver knows the runtime's memory");
  CHECK(cuMemFree(reinterpret_cast<CUdeviceptr>(values)));
}

// Work of both APIs in one captured graph, which each of them launches.
void check_graph(CUfunction function, CUstream stream) {
  CUdeviceptr values = 0;
  CHECK(cuMemAlloc(&values, kCount * sizeof(int)));
  int* pointer = reinterpret_cast<int*>(values);
  int n = kCount;
  void* arguments[] = {&pointer, &n};
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CHECK(cuMemsetD32Async(values, 3, kCount, stream));
  times<<<1, 128, 0, stream>>>(pointer, n);
  CHECK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  cudaGraph_t graph;
  require(cudaStreamEndCapture(stream, &graph));
  std::size_t count = 0;
  CHECK(cuGraphGetNodes(graph, nullptr, &count));
  require(count == 3, "three nodes");
  CUgraphNode nodes[3];
  CHECK(cuGraphGetNodes(graph, nodes, &count));
  CUDA_KERNEL_NODE_PARAMS kernel;
  CHECK(cuGraphKernelNodeGetParams(nodes[1], &kernel));
  require(kernel.func == function && kernel.blockDimX == 128, "a node's kernel");
  CUgraphExec exec = nullptr;
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, stream));
  require(cudaGraphLaunch(exec, stream));
  int found[kCount];
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuMemcpyDtoH(found, values, sizeof found));
  for (const int value : found) require(value == 12, "a graph of both");
  CHECK(cuGraphExecDestroy(exec));
  require(cudaGraphDestroy(graph));
  require(cudaFree(pointer));
}

}  // namespace

int main() {
  check_contexts();
  cudaFunction_t kernel;
  require(cudaGetFuncBySymbol(&kernel, reinterpret_cast<const void*>(&times)));
  CUmodule module = nullptr;
  CHECK(cuFuncGetModule(&module, kernel));
  CUdeviceptr by_driver = 0;
  void* by_runtime = nullptr;
  const char* name = nullptr;
  CHECK(cuFuncGetName(&name, kernel));
  CUfunction same = nullptr;
  CHECK(cuModuleGetFunction(&same, module, name));
  require(cudaGetSymbolAddress(&by_runtime, scale));
  // A variable in an anonymous namespace has a name of the compiler's; its address is in memory
  // that the driver knows.
  CHECK(cuMemGetAddressRange(&by_driver, nullptr, reinterpret_cast<CUdeviceptr>(by_runtime)));
  require(by_driver == reinterpret_cast<CUdeviceptr>(by_runtime), "a variable's address");

  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  check_kernel(kernel, stream);
  check_kernel(same, stream);
  check_graph(kernel, stream);
  CUcontext context = nullptr;
  CHECK(cuStreamGetCtx(stream, &context));
  require(context == current(), "the context of the runtime's stream");
  CHECK(cuStreamDestroy(stream));

  // The runtime gives out the driver's functions, which in a new thread need a context.
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  require(
      cudaGetDriverEntryPointByVersion("cuMemAlloc", &found, 12000, cudaEnableDefault, &status));
  require(status == cudaDriverEntryPointSuccess && found == reinterpret_cast<void*>(&cuMemAlloc),
          "the driver's own function");
  std::thread([] {
    CUdeviceptr memory = 0;
    EXPECT(ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
    require(cudaFree(nullptr));
    CHECK(cuMemAlloc(&memory, 4));
    CHECK(cuMemFree(memory));
  }).join();
  std::puts("right");
}
