// SPDX-License-Identifier: Apache-2.0
// Conditional nodes of graphs: if and else, loops, a choice of several, one in another.
#include "device_array.hpp"

namespace {

__global__ void set(cudaGraphConditionalHandle handle, unsigned value) {
  cudaGraphSetConditional(handle, value);
}

__global__ void add(int* to, int what) { *to += what; }

// Counts, and lets the loop go on below `end`.
__global__ void count(int* counter, int end, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, ++*counter < end ? 1 : 0);
}

template <class... Parameters, class... Arguments>
cudaGraphNode_t kernel_node(cudaGraph_t graph, cudaGraphNode_t after, void (*kernel)(Parameters...),
                            Arguments... arguments) {
  void* pointers[] = {&arguments...};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = pointers;
  cudaGraphNode_t node = nullptr;
  require(cudaGraphAddKernelNode(&node, graph, after == nullptr ? nullptr : &after,
                                 after == nullptr ? 0 : 1, &params));
  return node;
}

struct Conditional {
  cudaGraphNode_t node;
  cudaGraph_t* bodies;
};

Conditional conditional_node(cudaGraph_t graph, cudaGraphNode_t after,
                             cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                             unsigned size) {
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  require(cudaGraphAddNode(&node, graph, after == nullptr ? nullptr : &after, nullptr,
                           after == nullptr ? 0 : 1, &params));
  return {node, params.conditional.phGraph_out};
}

int run(cudaGraph_t graph, int* value, int times = 1) {
  cudaGraphExec_t exec = nullptr;
  require(cudaGraphInstantiate(&exec, graph));
  require(cudaMemset(value, 0, sizeof(int)));
  for (int i = 0; i < times; ++i) require(cudaGraphLaunch(exec, nullptr));
  require(cudaGraphExecDestroy(exec));
  return download(value, 1)[0];
}

struct New {
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle = 0;
  explicit New(unsigned initial = 0, unsigned flags = 0) {
    require(cudaGraphCreate(&graph, 0));
    require(cudaGraphConditionalHandleCreate(&handle, graph, initial, flags));
  }
  ~New() { cudaGraphDestroy(graph); }
};

}  // namespace

int main() {
  int* value = nullptr;
  require(cudaMalloc(&value, sizeof(int)));

  for (const unsigned condition : {0u, 1u, 7u}) {
    const New a;
    const auto first = kernel_node(a.graph, nullptr, set, a.handle, condition);
    const auto made = conditional_node(a.graph, first, a.handle, cudaGraphCondTypeIf, 2);
    kernel_node(made.bodies[0], nullptr, add, value, 10);
    kernel_node(made.bodies[1], nullptr, add, value, 20);
    kernel_node(a.graph, made.node, add, value, 1);
    require(run(a.graph, value) == (condition != 0 ? 11 : 21), "if and else");
    cudaGraphNodeType type{};
    require(cudaGraphNodeGetType(made.node, &type));
    require(type == cudaGraphNodeTypeConditional, "the node's type");
  }

  {  // The default value is assigned at each launch.
    const New a(1, cudaGraphCondAssignDefault);
    const auto made = conditional_node(a.graph, nullptr, a.handle, cudaGraphCondTypeWhile, 1);
    kernel_node(made.bodies[0], nullptr, count, value, 5, a.handle);
    require(run(a.graph, value) == 5, "a loop");
    require(run(a.graph, value, 3) == 7, "a loop launched again");
  }

  for (const unsigned condition : {0u, 2u, 3u}) {
    const New a(condition, cudaGraphCondAssignDefault);
    const auto made = conditional_node(a.graph, nullptr, a.handle, cudaGraphCondTypeSwitch, 3);
    for (int body = 0; body < 3; ++body)
      kernel_node(made.bodies[body], nullptr, add, value, 100 * (body + 1));
    const int expected[] = {100, 200, 300, 0};
    require(run(a.graph, value) == expected[condition], "a choice");
  }

  {  // A loop whose body, which a stream captures, has a condition of its own.
    const New a(1, cudaGraphCondAssignDefault);
    const auto loop = conditional_node(a.graph, nullptr, a.handle, cudaGraphCondTypeWhile, 1);
    cudaGraph_t body = loop.bodies[0];
    cudaGraphConditionalHandle inner = 0;
    require(cudaGraphConditionalHandleCreate(&inner, body, 1, cudaGraphCondAssignDefault),
            "a handle of a body");
    const auto choice = conditional_node(body, nullptr, inner, cudaGraphCondTypeIf, 1);
    cudaStream_t stream = nullptr;
    require(cudaStreamCreate(&stream));
    require(cudaStreamBeginCaptureToGraph(stream, choice.bodies[0], nullptr, nullptr, 0,
                                          cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(value, 10);
    require(cudaStreamEndCapture(stream, nullptr));
    kernel_node(body, choice.node, count, value, 40, a.handle);
    require(run(a.graph, value) == 44, "a condition in a loop");
    require(cudaStreamDestroy(stream));
  }

  const New a;
  cudaGraphNodeParams wrong{};
  wrong.type = cudaGraphNodeTypeConditional;
  wrong.conditional.handle = a.handle;
  wrong.conditional.type = cudaGraphCondTypeWhile;
  wrong.conditional.size = 2;
  cudaGraphNode_t node = nullptr;
  require(cudaGraphAddNode(&node, a.graph, nullptr, nullptr, 0, &wrong), cudaErrorInvalidValue,
          "two bodies of a loop");
  wrong.conditional.size = 1;
  wrong.conditional.handle = 12345;
  require(cudaGraphAddNode(&node, a.graph, nullptr, nullptr, 0, &wrong), cudaErrorInvalidValue,
          "a handle that does not exist");
  require(cudaFree(value));
}
