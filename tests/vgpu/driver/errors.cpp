// SPDX-License-Identifier: Apache-2.0
// errors PTX CUBIN: each wrong argument with the code that CUDA documents for it, and the errors of
// modules, launches, streams and graphs. What it does right in between must succeed.
#include <array>
#include <cstring>
#include <vector>

#include "require.hpp"

namespace {

void check_devices() {
  int number = 0;
  CUdevice device = 0;
  ROBUST(ERROR_INVALID_VALUE, cuDeviceGetCount(nullptr));
  CHECK(cuDeviceGetCount(&number));
  EXPECT(ERROR_INVALID_DEVICE, cuDeviceGet(&device, number));
  EXPECT(ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
  ROBUST(ERROR_INVALID_VALUE, cuDeviceGet(nullptr, 0));
  std::array<char, 64> name{};
  CHECK(cuDeviceGetName(name.data(), 5, 0));
  require(std::strcmp(name.data(), "NVID") == 0, "a name that is cut");
  ROBUST(ERROR_INVALID_VALUE, cuDeviceGetName(name.data(), 0, 0));
  EXPECT(ERROR_INVALID_DEVICE, cuDeviceGetName(name.data(), 64, number));
  int value = 0;
  CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  require(value == 32, "the warp size");
  CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  require(value == 1, "an attribute that only the driver has");
  ROBUST(ERROR_INVALID_VALUE, cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  EXPECT(ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0));
  EXPECT(ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, number));
  std::size_t bytes = 0;
  CHECK(cuDeviceTotalMem(&bytes, 0));
  ROBUST(ERROR_INVALID_VALUE, cuDeviceTotalMem(nullptr, 0));
  CUuuid uuid{};
  CHECK(cuDeviceGetUuid(&uuid, 0));
  CUdevice found = -1;
  CHECK(cuDeviceGetPCIBusId(name.data(), 64, 0));
  CHECK(cuDeviceGetByPCIBusId(&found, name.data()));
  require(found == 0, "a device by its bus");
  CUcontext context = nullptr;
  EXPECT(ERROR_INVALID_DEVICE, cuCtxCreate(&context, nullptr, 0, number));
  ROBUST(ERROR_INVALID_VALUE, cuCtxCreate(nullptr, nullptr, 0, 0));
  EXPECT(ERROR_INVALID_VALUE,
         cuCtxCreate(&context, nullptr, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0));
  EXPECT(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&context, number));
}

void check_without_context() {
  CUdeviceptr memory = 0;
  EXPECT(ERROR_NOT_INITIALIZED, cuMemAlloc(&memory, 4));
  CHECK(cuInit(0));
  CUmodule module = nullptr;
  CUstream stream = nullptr;
  EXPECT(ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
  EXPECT(ERROR_INVALID_CONTEXT, cuMemcpyDtoH(&memory, 0, 4));
  EXPECT(ERROR_INVALID_CONTEXT, cuMemsetD8(0, 0, 4));
  EXPECT(ERROR_INVALID_CONTEXT, cuModuleLoadData(&module, "x"));
  EXPECT(ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
  EXPECT(ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  ROBUST(ERROR_INVALID_CONTEXT,
         cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

void check_memory() {
  CUdeviceptr memory = 0;
  EXPECT(ERROR_INVALID_VALUE, cuMemAlloc(&memory, 0));
  ROBUST(ERROR_INVALID_VALUE, cuMemAlloc(nullptr, 4));
  EXPECT(ERROR_OUT_OF_MEMORY, cuMemAlloc(&memory, std::size_t{1} << 46));
  ROBUST(ERROR_INVALID_VALUE, cuMemFree(reinterpret_cast<CUdeviceptr>(&memory)));
}

void check_images(const std::string& ptx, const std::string& cubin) {
  CUmodule module = nullptr;
  ROBUST(ERROR_INVALID_VALUE, cuModuleLoadData(&module, nullptr));
  ROBUST(ERROR_INVALID_VALUE, cuModuleLoadData(nullptr, ptx.c_str()));
  EXPECT(ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere/kernels.ptx"));
  EXPECT(ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "no image at all"));
  const std::string newer = std::string(ptx).replace(ptx.find("sm_80"), 5, "sm_99");
  EXPECT(ERROR_INVALID_PTX, cuModuleLoadData(&module, newer.c_str()));

  // Machine code for another architecture: the bits 8 to 15 of the flags.
  std::string other = cubin;
  other[0x31] = 100;
  EXPECT(ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, other.data()));
  std::string damaged = cubin;
  for (std::size_t at = 0x40; at < damaged.size(); at += 3) damaged[at] = '\x5A';
  ROBUST(ERROR_INVALID_IMAGE, cuModuleLoadData(&module, damaged.data()));

  // The error log receives the reason.
  const std::string broken = ptx.substr(0, ptx.find(".visible")) + "\n.visible .entry ?\n";
  std::array<char, 200> log{};
  log.fill('x');
  float time = -1;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_WALL_TIME, CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size()), nullptr, nullptr};
  std::memcpy(&values[2], &time, sizeof time);
  EXPECT(ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, broken.c_str(), 4, options, values));
  const auto written = reinterpret_cast<std::size_t>(values[1]);
  require(written > 10 && written < log.size() && log[written] == '\0', "an error log");
  require(!on_virtual_gpu() || std::strstr(log.data(), "PTX line") != nullptr, "its text");
  values[1] = reinterpret_cast<void*>(log.size());
  CHECK(cuModuleLoadDataEx(&module, ptx.c_str(), 4, options, values));
  require(values[1] == nullptr && log[0] == '\0', "an empty error log");
  CHECK(cuModuleUnload(module));
  CUjit_option unknown = CU_JIT_NUM_OPTIONS;
  ROBUST(ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, ptx.c_str(), 1, &unknown, values));
  ROBUST(ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, ptx.c_str(), 1, nullptr, values));
}

void check_modules(const std::string& ptx) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuModuleLoadData(&module, ptx.c_str()));
  ROBUST(ERROR_INVALID_VALUE, cuModuleGetFunction(nullptr, module, "add"));
  ROBUST(ERROR_INVALID_VALUE, cuModuleGetFunction(&function, module, nullptr));
  ROBUST(ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, nullptr, "add"));
  unsigned count = 0;
  CHECK(cuModuleGetFunctionCount(&count, module));
  require(count == 5, "the number of kernels");
  std::vector<CUfunction> functions(count);
  CHECK(cuModuleEnumerateFunctions(functions.data(), count, module));
  for (CUfunction known : functions) {
    const char* name = nullptr;
    CHECK(cuFuncGetName(&name, known));
    CHECK(cuModuleGetFunction(&function, module, name));
    require(function == known, "a kernel by its name");
    CUmodule owner = nullptr;
    CHECK(cuFuncGetModule(&owner, known));
    require(owner == module, "a kernel's module");
  }
  CHECK(cuModuleUnload(module));

  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CHECK(cuLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cuLibraryGetKernel(&kernel, library, "shared_sum"));
  CUkernel none = kernel;
  EXPECT(ERROR_NOT_FOUND, cuLibraryGetKernel(&none, library, "sum"));
  require(none == kernel, "nothing is written");
  CHECK(cuKernelGetFunction(&function, kernel));
  std::size_t offset = 0, size = 0;
  CHECK(cuKernelGetParamInfo(kernel, 1, &offset, &size));
  require(offset == 8 && size == 8, "a parameter's place");
  EXPECT(ERROR_INVALID_VALUE, cuKernelGetParamInfo(kernel, 2, &offset, &size));
  CUdeviceptr step = 0;
  CHECK(cuLibraryGetGlobal(&step, &size, library, "step"));
  require(size == 4, "a library's variable");

  int value = 0;
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  require(value == 128, "the launch bounds");
  EXPECT(ERROR_INVALID_VALUE, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, function));
  ROBUST(ERROR_INVALID_VALUE,
         cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  ROBUST(ERROR_INVALID_HANDLE,
         cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, nullptr));
  EXPECT(ERROR_INVALID_VALUE, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
  CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, 0));
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
  require(value == 100000, "an attribute of the kernel and its function");
  CHECK(cuLibraryUnload(library));
  ROBUST(ERROR_INVALID_HANDLE, cuLibraryUnload(library));
}

void check_launches(const std::string& cubin) {
  CUmodule module = nullptr;
  CUdeviceptr in = 0, out = 0;
  const CUfunction sum = load_kernel(module, cubin.data(), "shared_sum");
  CHECK(cuMemAlloc(&in, 512));
  CHECK(cuMemAlloc(&out, 4));
  CHECK(cuMemsetD32(in, 2, 128));
  void* arguments[] = {&in, &out};
  const auto launch = [&](unsigned grid, unsigned block, unsigned shared, CUstream stream) {
    return cuLaunchKernel(sum, grid, 1, 1, block, 1, 1, shared, stream, arguments, nullptr);
  };
  CHECK(launch(1, 128, 512, nullptr));
  EXPECT(ERROR_INVALID_VALUE, launch(0, 128, 512, nullptr));
  EXPECT(ERROR_INVALID_VALUE, launch(1, 0, 512, nullptr));
  EXPECT(ERROR_INVALID_VALUE, launch(1, 129, 516, nullptr));  // launch bounds
  EXPECT(ERROR_INVALID_VALUE, launch(1, 2000, 512, nullptr));
  EXPECT(ERROR_INVALID_VALUE, launch(1, 128, 60000, nullptr));
  CHECK(cuFuncSetAttribute(sum, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
  CHECK(launch(1, 128, 60000, nullptr));
  ROBUST(ERROR_INVALID_HANDLE, launch(1, 128, 512, reinterpret_cast<CUstream>(&in)));
  ROBUST(ERROR_INVALID_HANDLE,
         cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  ROBUST(ERROR_INVALID_VALUE, cuLaunchKernelEx(nullptr, sum, arguments, nullptr));
  EXPECT(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
         cuLaunchCooperativeKernel(sum, 100000, 1, 1, 128, 1, 1, 512, nullptr, arguments));
  CHECK(cuLaunchCooperativeKernel(sum, 2, 1, 1, 128, 1, 1, 512, nullptr, arguments));
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 4, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = 512;
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK(cuLaunchKernelEx(&config, sum, arguments, nullptr));
  config.gridDimX = 3;
  EXPECT(ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, sum, arguments, nullptr));
  require(value_at<int>(out) == 256, "the sum");

  int blocks = 0, grid = 0, block = 0;
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 128, 512));
  require(blocks == 16, "blocks per multiprocessor");
  ROBUST(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, sum, 128, 0));
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, sum, nullptr, 0, 0));
  require(block == 128 && grid == 16 * 132, "a grid that fills the device");
  CHECK(cuOccupancyMaxPotentialBlockSize(
      &grid, &block, sum, [](int threads) { return static_cast<std::size_t>(threads) * 1000; }, 0,
      64));
  require(block > 0 && block <= 64 && grid > 0, "shared memory by the size of a block");
  CHECK(cuMemFree(in));
  CHECK(cuMemFree(out));
  CHECK(cuModuleUnload(module));
}

// PTX alone has no count of registers: they do not limit then.
void check_occupancy_of_ptx(const std::string& ptx) {
  CUmodule module = nullptr;
  CUfunction sum = nullptr;
  int blocks = 0;
  CHECK(cuModuleLoadData(&module, ptx.c_str()));
  for (const char* name : {"count", "shared_sum"}) {  // said of the first
    int registers = -1;
    CHECK(cuModuleGetFunction(&sum, module, name));
    CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, sum));
    require(registers == 0 || !on_virtual_gpu(), "unknown registers");
  }
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 128, 512));
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum, 128, 512));  // said once
  require(blocks == 16, "blocks by warps");
  CHECK(cuModuleUnload(module));
}

void check_streams() {
  CUstream stream = nullptr;
  CUevent event = nullptr, other = nullptr;
  ROBUST(ERROR_INVALID_VALUE, cuStreamCreate(nullptr, 0));
  EXPECT(ERROR_INVALID_VALUE, cuStreamCreate(&stream, 8));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT(ERROR_INVALID_VALUE, cuEventCreate(&event, 0x100));
  CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CHECK(cuEventCreate(&other, 0));
  CHECK(cuEventRecord(event, stream));
  CHECK(cuEventSynchronize(event));
  CHECK(cuStreamWaitEvent(stream, event, 0));
  float time = 0;
  EXPECT(ERROR_INVALID_HANDLE, cuEventElapsedTime(&time, event, other));
  static int called = 0;
  CHECK(cuLaunchHostFunc(
      stream, [](void* at) { ++*static_cast<int*>(at); }, &called));
  CHECK(cuStreamAddCallback(
      stream, [](CUstream, CUresult, void* at) { ++*static_cast<int*>(at); }, &called, 0));
  CHECK(cuStreamSynchronize(stream));
  require(called == 2, "host functions");
  ROBUST(ERROR_INVALID_VALUE, cuLaunchHostFunc(stream, nullptr, nullptr));
  CHECK(cuEventDestroy(event));
  ROBUST(ERROR_INVALID_HANDLE, cuEventDestroy(event));
  ROBUST(ERROR_INVALID_HANDLE, cuEventQuery(event));
  CHECK(cuStreamDestroy(stream));
  ROBUST(ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
  ROBUST(ERROR_INVALID_HANDLE, cuStreamQuery(stream));
  CHECK(cuEventDestroy(other));
}

// A graph that is built node by node, changed and launched again.
void check_graphs(const std::string& ptx) {
  CUmodule module = nullptr;
  CUdeviceptr at = 0;
  const CUfunction count = load_kernel(module, ptx.c_str(), "count");
  CHECK(cuMemAlloc(&at, sizeof(int)));
  CUgraph graph = nullptr, copied = nullptr;
  ROBUST(ERROR_INVALID_VALUE, cuGraphCreate(nullptr, 0));
  CHECK(cuGraphCreate(&graph, 0));
  CUgraphNode fill = nullptr, kernel = nullptr, copy = nullptr, host = nullptr;
  CUDA_MEMSET_NODE_PARAMS zero{at, 0, 10, 4, 1, 1};
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  CHECK(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero, context));
  CUDA_KERNEL_NODE_PARAMS launch{};
  launch.func = count;
  launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
  launch.blockDimX = 32, launch.blockDimY = launch.blockDimZ = 1;
  void* arguments[] = {&at};
  ROBUST(ERROR_INVALID_VALUE, cuGraphAddKernelNode(&kernel, graph, &fill, 1, nullptr));
  launch.kernelParams = arguments;
  CHECK(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  static int found = 0, after = 0;
  CUDA_MEMCPY3D down{};
  down.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  down.srcDevice = at;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = &found;
  down.WidthInBytes = sizeof found;
  down.Height = down.Depth = 1;
  CHECK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &down, context));
  CUDA_HOST_NODE_PARAMS call{[](void* value) { after = *static_cast<int*>(value); }, &found};
  CHECK(cuGraphAddHostNode(&host, graph, &copy, 1, &call));
  CUDA_MEMCPY3D read{};
  CHECK(cuGraphMemcpyNodeGetParams(copy, &read));
  require(read.srcDevice == at && read.dstHost == &found && read.WidthInBytes == sizeof found,
          "a copy's parameters");
  std::size_t nodes = 0, edges = 0;
  CHECK(cuGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  require(nodes == 4 && edges == 3, "nodes and edges");
  CUgraphNodeType type{};
  CHECK(cuGraphNodeGetType(kernel, &type));
  require(type == CU_GRAPH_NODE_TYPE_KERNEL, "a node's type");
  CUgraphExec exec = nullptr;
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, nullptr));
  CHECK(cuCtxSynchronize());
  require(found == 10 + 96 && after == found, "a graph's results");
  launch.blockDimX = 64;
  CHECK(cuGraphExecKernelNodeSetParams(exec, kernel, &launch));
  CHECK(cuGraphLaunch(exec, nullptr));
  CHECK(cuCtxSynchronize());
  require(found == 10 + 192, "after a change of the executable graph");
  CHECK(cuGraphClone(&copied, graph));
  CUgraphNode twin = nullptr;
  CHECK(cuGraphNodeFindInClone(&twin, kernel, copied));
  CUDA_KERNEL_NODE_PARAMS known{};
  CHECK(cuGraphKernelNodeGetParams(twin, &known));
  require(known.func == count && known.blockDimX == 32, "a copied node");
  CUgraphExecUpdateResultInfo info{};
  CHECK(cuGraphExecUpdate(exec, graph, &info));
  require(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, "an update");
  CHECK(cuGraphExecDestroy(exec));
  ROBUST(ERROR_INVALID_VALUE, cuGraphExecDestroy(exec));
  ROBUST(ERROR_INVALID_VALUE, cuGraphLaunch(exec, nullptr));
  CHECK(cuGraphDestroy(copied));
  CHECK(cuGraphDestroy(graph));
  ROBUST(ERROR_INVALID_VALUE, cuGraphDestroy(graph));

  // By the parameters of any node.
  CHECK(cuGraphCreate(&graph, 0));
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_MEMSET;
  any.memset = {at, 0, 1, 4, 1, 1, context};
  CHECK(cuGraphAddNode(&fill, graph, nullptr, nullptr, 0, &any));
  any = {};
  any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  any.kernel.func = count;
  any.kernel.gridDimX = any.kernel.gridDimY = any.kernel.gridDimZ = 1;
  any.kernel.blockDimX = any.kernel.blockDimY = any.kernel.blockDimZ = 1;
  any.kernel.kernelParams = arguments;
  CHECK(cuGraphAddNode(&kernel, graph, &fill, nullptr, 1, &any));
  ROBUST(ERROR_INVALID_VALUE, cuGraphAddNode(&kernel, graph, &fill, nullptr, 1, nullptr));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, nullptr));
  require(value_at<int>(at) == 4, "nodes of any type");
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(at));
  CHECK(cuModuleUnload(module));
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 3, "usage: errors PTX CUBIN");
  const std::string ptx = read_file(argv[1]), cubin = read_file(argv[2]);
  run_part("without a context", check_without_context);
  run_in_context("devices", check_devices);
  run_in_context("memory", check_memory);
  run_in_context("images", [&] { check_images(ptx, cubin); });
  run_in_context("modules", [&] { check_modules(ptx); });
  run_in_context("launches", [&] { check_launches(cubin); });
  run_in_context("occupancy", [&] { check_occupancy_of_ptx(ptx); });
  run_in_context("streams", check_streams);
  run_in_context("graphs", [&] { check_graphs(ptx); });
  std::puts("right");
}
