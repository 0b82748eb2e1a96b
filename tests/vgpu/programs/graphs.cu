// SPDX-License-Identifier: Apache-2.0
// Graphs: captured from streams, built node by node, launched, changed; and calls that break a
// capture.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "device_array.hpp"

__global__ void scale(int* data, int factor) { data[threadIdx.x] *= factor; }
__global__ void add(int* data, const int* other) { data[threadIdx.x] += other[threadIdx.x]; }

static int value_of(const int* data) { return download(data + 31, 1)[0]; }

static int calls = 0;
static void count_call(void*) { ++calls; }

static std::atomic<int> destroyed = 0;
static void destroy_object(void*) { ++destroyed; }

static std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  require(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  require(cudaGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

// a = 2 * host, on a second stream b = 3 * a, then a += b.
static void captured(int* a, int* b) {
  cudaStream_t stream, side;
  cudaEvent_t forked, joined;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int host[32];
  for (int& value : host) value = 1;
  require(cudaStreamCreate(&stream));
  require(cudaStreamCreate(&side));
  require(cudaEventCreate(&forked));
  require(cudaEventCreate(&joined));
  require(cudaMemset(a, 0, sizeof host));

  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  require(cudaStreamIsCapturing(stream, &status));
  require(status == cudaStreamCaptureStatusActive, "it is captured");
  require(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, stream));
  scale<<<1, 32, 0, stream>>>(a, 2);
  require(cudaEventRecord(forked, stream));
  require(cudaStreamWaitEvent(side, forked));
  require(cudaMemcpyAsync(b, a, sizeof host, cudaMemcpyDeviceToDevice, side));
  scale<<<1, 32, 0, side>>>(b, 3);
  require(cudaEventRecord(joined, side));
  require(cudaLaunchHostFunc(stream, count_call, nullptr));
  require(cudaStreamWaitEvent(stream, joined));
  add<<<1, 32, 0, stream>>>(a, b);
  require(cudaStreamEndCapture(stream, &graph));
  require(value_of(a) == 0 && calls == 0, "nothing has run");
  require(nodes_of(graph).size() == 6, "six nodes");

  require(cudaGraphInstantiate(&exec, graph, 0));
  require(cudaGraphLaunch(exec, stream));
  require(cudaStreamSynchronize(stream));
  require(value_of(a) == 8 && calls == 1, "2 + 6");
  for (int& value : host) value = 10;
  for (int i = 0; i < 3; ++i) require(cudaGraphLaunch(exec, side));
  require(value_of(a) == 80 && calls == 4, "20 + 60");

  for (cudaGraphNode_t node : nodes_of(graph)) {
    cudaGraphNodeType type;
    require(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeKernel) continue;
    cudaKernelNodeParams params{};
    require(cudaGraphKernelNodeGetParams(node, &params));
    if (params.func != reinterpret_cast<void*>(scale)) continue;
    int factor = 5;
    void* arguments[] = {params.kernelParams[0], &factor};
    params.kernelParams = arguments;
    require(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    break;
  }
  require(cudaGraphLaunch(exec, stream));
  require(value_of(a) == 200, "50 + 150");
  require(cudaGraphExecDestroy(exec));
  require(cudaGraphDestroy(graph));
}

static void built(int* a) {
  cudaGraph_t graph, child;
  cudaGraphExec_t exec;
  cudaGraphNode_t set, kernel, host, inner, copy;
  int result = 0, factor = 7;
  require(cudaGraphCreate(&graph, 0));
  require(cudaGraphCreate(&child, 0));
  cudaMemsetParams fill{};
  fill.dst = a;
  fill.elementSize = 4;
  fill.value = 6;
  fill.width = 32;
  fill.height = 1;
  fill.pitch = 128;
  require(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  void* arguments[] = {&a, &factor};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(scale);
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(32);
  launch.kernelParams = arguments;
  require(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &launch));
  factor = 0;  // arguments are copied
  require(cudaGraphAddChildGraphNode(&kernel, graph, &set, 1, child));
  cudaHostNodeParams call{count_call, nullptr};
  require(cudaGraphAddHostNode(&host, graph, nullptr, 0, &call));
  require(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, &result, a + 5, 4,
                                   cudaMemcpyDeviceToHost));
  require(cudaGraphAddDependencies(graph, &copy, &host, nullptr, 1));
  std::size_t edges = 0;
  require(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  require(edges == 3, "three edges");

  cudaUserObject_t object;
  require(
      cudaUserObjectCreate(&object, nullptr, destroy_object, 1, cudaUserObjectNoDestructorSync));
  require(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));

  calls = 0;
  require(cudaGraphInstantiate(&exec, graph, 0));
  require(cudaGraphLaunch(exec, nullptr));
  require(cudaStreamSynchronize(nullptr));
  require(result == 42 && calls == 1, "6 * 7");
  require(cudaGraphNodeSetEnabled(exec, kernel, 0), cudaErrorInvalidValue, "a child graph");
  require(cudaGraphNodeSetEnabled(exec, copy, 0));
  result = 1;
  require(cudaGraphLaunch(exec, nullptr));
  require(cudaStreamSynchronize(nullptr));
  require(result == 1, "without the copy");
  require(cudaGraphNodeSetEnabled(exec, copy, 1));

  fill.value = 9;
  require(cudaGraphMemsetNodeSetParams(set, &fill));
  cudaGraphExecUpdateResultInfo info;
  require(cudaGraphExecUpdate(exec, graph, &info));
  require(cudaGraphLaunch(exec, nullptr));
  require(cudaStreamSynchronize(nullptr));
  require(result == 63, "9 * 7");
  require(cudaGraphRemoveDependencies(graph, &copy, &host, nullptr, 1));
  require(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure,
          "another shape");
  require(info.result == cudaGraphExecUpdateErrorTopologyChanged, "its reason");
  require(cudaGraphAddDependencies(graph, &copy, &set, nullptr, 1));
  cudaGraphExec_t cyclic;
  require(cudaGraphInstantiate(&cyclic, graph, 0), cudaErrorInvalidValue, "a cycle");
  require(cudaGraphDestroy(graph));
  require(destroyed == 0, "the instantiated graph keeps the object");
  require(cudaGraphExecDestroy(exec));
  // The destructor runs in a thread of its own.
  for (int i = 0; i < 1000 && destroyed == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  require(destroyed == 1, "nobody does");
}

static void refused(int* a) {
  cudaStream_t stream, other;
  cudaGraph_t graph = nullptr;
  cudaEvent_t event;
  require(cudaStreamCreate(&stream));
  require(cudaStreamCreate(&other));
  require(cudaEventCreate(&event));
  require(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
          cudaErrorStreamCaptureUnsupported, "the legacy stream");
  require(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState, "nothing was begun");
  const auto begin = [&] { require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)); };
  const auto is_broken = [&](const char* what) {
    require(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated, what);
  };
  begin();
  require(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported,
          "a wait for the stream");
  is_broken("the wait broke it");
  begin();
  require(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported, "a wait for the device");
  is_broken("the wait for the device broke it");
  begin();
  scale<<<1, 32>>>(a, 1);
  require(cudaGetLastError(), cudaErrorStreamCaptureImplicit, "work of the legacy stream");
  is_broken("the legacy stream broke it");
  unsigned long long id = 0;
  begin();
  require(cudaStreamGetId(other, &id), "the id of another stream");
  require(cudaStreamGetId(stream, &id), cudaErrorStreamCaptureUnsupported, "the id of the stream");
  is_broken("the question for its id broke it");
  begin();
  require(cudaStreamGetId(nullptr, &id), cudaErrorStreamCaptureImplicit,
          "the id of the legacy stream");
  is_broken("the question for the legacy stream's id broke it");
  begin();
  void* memory = nullptr;
  require(cudaMalloc(&memory, 8), cudaErrorStreamCaptureUnsupported, "an allocation");
  is_broken("the allocation broke it");
  begin();
  require(cudaEventRecord(event, stream));
  require(cudaStreamWaitEvent(other, event));
  scale<<<1, 32, 0, other>>>(a, 1);
  require(cudaEventQuery(event), cudaErrorCapturedEvent, "a captured event");
  is_broken("the question broke it");
  begin();
  require(cudaEventRecord(event, stream));
  require(cudaStreamWaitEvent(other, event));
  scale<<<1, 32, 0, other>>>(a, 1);
  require(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched,
          "the other stream's end");
  is_broken("the other stream's end broke it");
  begin();
  require(cudaEventRecord(event, stream));
  require(cudaStreamWaitEvent(other, event));
  scale<<<1, 32, 0, other>>>(a, 1);
  require(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined,
          "a stream that did not join");
  require(cudaStreamSynchronize(other), "the stream is itself again");
}

int main() {
  int *a, *b;
  require(cudaMalloc(&a, 128));
  require(cudaMalloc(&b, 128));
  captured(a, b);
  built(a);
  refused(a);
  require(cudaDeviceSynchronize());
}
