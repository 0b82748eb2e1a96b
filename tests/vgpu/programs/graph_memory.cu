// SPDX-License-Identifier: Apache-2.0
// Memory that graphs allocate: at the same address in every launch, from the launch until it is
// freed, by the graph, another one or the program.

#include "require.hpp"

constexpr int kCount = 256;

static cudaGraph_t graph;

static cudaGraphNode_t add_allocation(void** pointer, size_t bytes = kCount * sizeof(int)) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, 0};
  params.bytesize = bytes;
  cudaGraphNode_t node;
  require(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), "an allocation node");
  *pointer = params.dptr;
  return node;
}

static cudaGraphNode_t add_fill(cudaGraphNode_t after, void* pointer, unsigned value) {
  cudaMemsetParams params{};
  params.dst = pointer;
  params.value = value;
  params.elementSize = sizeof(int);
  params.width = kCount;
  params.height = 1;
  cudaGraphNode_t node;
  require(cudaGraphAddMemsetNode(&node, graph, &after, 1, &params), "a memset node");
  return node;
}

static cudaGraphExec_t instantiate(unsigned flags = 0) {
  cudaGraphExec_t exec;
  require(cudaGraphInstantiate(&exec, graph, flags));
  return exec;
}

static int last_of(const void* pointer) {
  int value = 0;
  const int* const last = static_cast<const int*>(pointer) + kCount - 1;
  require(cudaMemcpy(&value, last, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

int main() {
  void* pointer;
  // The program frees.
  require(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t allocated = add_allocation(&pointer);
  add_fill(allocated, pointer, 7);
  cudaGraphExec_t exec = instantiate();
  for (int i = 0; i < 3; ++i) {
    require(cudaGraphLaunch(exec, nullptr));
    require(last_of(pointer) == 7, "what the graph wrote");
    require(i == 1 ? cudaFreeAsync(pointer, nullptr) : cudaFree(pointer), "the program frees it");
  }
  require(cudaGraphLaunch(exec, nullptr));
  require(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue, "a launch without a free");
  require(last_of(pointer) == 7, "memory stays");
  require(cudaGraphExecDestroy(exec));
  require(cudaGraphDestroy(graph));
  require(last_of(pointer) == 7, "memory stays after its graph");
  require(cudaFree(pointer), "it is the program's now");

  // The graph frees: in a node, or at the next launch.
  require(cudaGraphCreate(&graph, 0));
  allocated = add_allocation(&pointer);
  add_fill(allocated, pointer, 8);
  exec = instantiate(cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int i = 0; i < 3; ++i) require(cudaGraphLaunch(exec, nullptr), "it frees what it has");
  require(last_of(pointer) == 8, "what the graph wrote");
  require(cudaFree(pointer));
  require(cudaGraphExecDestroy(exec));
  require(cudaGraphDestroy(graph));
  require(cudaGraphCreate(&graph, 0));
  allocated = add_allocation(&pointer);
  const cudaGraphNode_t filled = add_fill(allocated, pointer, 9);
  cudaGraphNode_t node;
  require(cudaGraphAddMemFreeNode(&node, graph, &filled, 1, pointer), "a free node");
  exec = instantiate();
  for (int i = 0; i < 3; ++i) require(cudaGraphLaunch(exec, nullptr));
  cudaGraphExec_t second;
  cudaGraph_t copy;
  require(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported, "a second instance");
  require(cudaGraphClone(&copy, graph), cudaErrorNotSupported, "a clone");

  // Captured.
  cudaStream_t stream;
  int* data;
  require(cudaStreamCreate(&stream));
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  require(cudaMallocAsync(&data, kCount * sizeof(int), stream));
  require(cudaMemsetAsync(data, 0, kCount * sizeof(int), stream));
  require(cudaFreeAsync(data, stream));
  cudaGraph_t captured;
  require(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t again;
  require(cudaGraphInstantiate(&again, captured, 0));
  for (int i = 0; i < 3; ++i) require(cudaGraphLaunch(again, stream));
  require(cudaStreamSynchronize(stream));

  for (const cudaGraphExec_t each : {exec, again}) require(cudaGraphExecDestroy(each));
  for (const cudaGraph_t each : {graph, captured}) require(cudaGraphDestroy(each));
}
