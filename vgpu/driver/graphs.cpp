// SPDX-License-Identifier: Apache-2.0
// Graphs, their nodes and the nodes' parameters. CUDA Driver API, "Graph Management".
#include <tuple>
#include <utility>

#include "driver/structures.hpp"

using namespace vgpu::driver;

namespace {

// Calls use(the parameters as the runtime has them). Older structures lack a kernel and a context
// at their end, and a CUfunction is a CUkernel.
template <class Params, class Use>
CUresult with_kernel(const char* name, const Params* params, Use use) {
  return with_driver(name, [&] {
    if (params == nullptr) refuse();
    const void* function = params->func;
    if constexpr (requires { params->kern; }) {
      if (function == nullptr) function = params->kern;
    }
    Arguments arguments(function, params->kernelParams, params->extra);
    const cudaKernelNodeParams node{const_cast<void*>(function),
                                    {params->gridDimX, params->gridDimY, params->gridDimZ},
                                    {params->blockDimX, params->blockDimY, params->blockDimZ},
                                    params->sharedMemBytes,
                                    arguments.pointers(),
                                    nullptr};
    return use(&node);
  });
}

template <class Params>
CUresult get_kernel(const char* name, CUgraphNode node, Params* params) {
  return with_driver(name, [&] {
    cudaKernelNodeParams known{};
    if (params == nullptr) refuse();
    require(cudaGraphKernelNodeGetParams(node, &known));
    return vgpu::runtime::query([&](Runtime& runtime) {
      *params = {};
      // The runtime names a kernel by its host stub, if it has one.
      params->func = reinterpret_cast<CUfunction>(runtime.modules.function(known.func));
      params->gridDimX = known.gridDim.x;
      params->gridDimY = known.gridDim.y;
      params->gridDimZ = known.gridDim.z;
      params->blockDimX = known.blockDim.x;
      params->blockDimY = known.blockDim.y;
      params->blockDimZ = known.blockDim.z;
      params->sharedMemBytes = known.sharedMemBytes;
      params->kernelParams = known.kernelParams;
    });
  });
}

// Calls use(the copy as the runtime has it).
template <class Use>
CUresult with_copy(const char* name, const CUDA_MEMCPY3D* copy, Use use) {
  return with_driver(name, [&] {
    cudaMemcpy3DParms what{};
    require(vgpu::runtime::query([&](Runtime&) {
      if (copy == nullptr) refuse();
      what = parameters_of(*copy);
    }));
    return use(&what);
  });
}

template <class Use>
CUresult with_fill(const char* name, const CUDA_MEMSET_NODE_PARAMS* fill, Use use) {
  return with_driver(name, [&] { return use(same<const cudaMemsetParams>(fill)); });
}

// The runtime's function with the same arguments, of which the last are a node's parameters. A
// context behind them is left out.
template <class... To, class... From>
CUresult forward_node(const char* name, cudaError_t (*function)(To...), From... arguments) {
  const std::tuple all(arguments...);
  constexpr std::size_t kLast = sizeof...(To) - 1;
  const auto* const params = std::get<kLast>(all);
  const auto use = [&](const auto* as_runtime) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return function(std::get<i>(all)..., as_runtime);
    }
    (std::make_index_sequence<kLast>());
  };
  if constexpr (std::is_same_v<decltype(params), const CUDA_MEMCPY3D* const>)
    return with_copy(name, params, use);
  else if constexpr (std::is_same_v<decltype(params), const CUDA_MEMSET_NODE_PARAMS* const>)
    return with_fill(name, params, use);
  else
    return with_kernel(name, params, use);
}
#define VGPU_FORWARD_NODE(name, function, count)                        \
  CUresult name(VGPU_PARAMETERS_##count(name)) {                        \
    return forward_node(__func__, &(function), VGPU_ARGUMENTS_##count); \
  }                                                                     \
  static_assert(true)

}  // namespace

VGPU_WITH_DRIVER(cuGraphCreate, cudaGraphCreate, 2);
VGPU_WITH_DRIVER(cuGraphDestroy, cudaGraphDestroy, 1);
VGPU_WITH_DRIVER(cuGraphClone, cudaGraphClone, 2);
VGPU_WITH_DRIVER(cuGraphNodeFindInClone, cudaGraphNodeFindInClone, 3);
VGPU_WITH_DRIVER(cuGraphNodeGetType, cudaGraphNodeGetType, 2);
VGPU_WITH_DRIVER(cuGraphGetNodes, cudaGraphGetNodes, 3);
VGPU_WITH_DRIVER(cuGraphGetRootNodes, cudaGraphGetRootNodes, 3);
VGPU_WITH_DRIVER(cuGraphGetEdges_v2, cudaGraphGetEdges, 5);
VGPU_WITH_DRIVER(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies, 4);
VGPU_WITH_DRIVER(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes, 4);
VGPU_WITH_DRIVER(cuGraphAddDependencies_v2, cudaGraphAddDependencies, 5);
VGPU_WITH_DRIVER(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies, 5);

// The older forms have no data of edges.
VGPU_BY(cuGraphGetEdges, 4, cuGraphGetEdges_v2(a0, a1, a2, nullptr, a3));
VGPU_BY(cuGraphNodeGetDependencies, 3, cuGraphNodeGetDependencies_v2(a0, a1, nullptr, a2));
VGPU_BY(cuGraphNodeGetDependentNodes, 3, cuGraphNodeGetDependentNodes_v2(a0, a1, nullptr, a2));
VGPU_BY(cuGraphAddDependencies, 4, cuGraphAddDependencies_v2(a0, a1, a2, nullptr, a3));
VGPU_BY(cuGraphRemoveDependencies, 4, cuGraphRemoveDependencies_v2(a0, a1, a2, nullptr, a3));

VGPU_WITH_DRIVER(cuGraphDestroyNode, cudaGraphDestroyNode, 1);
VGPU_WITH_CONTEXT(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags, 3);

CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log,
                               size_t bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
VGPU_BY(cuGraphInstantiate, 5, cuGraphInstantiate_v2(a0, a1, a2, a3, a4));

VGPU_IN_STREAM(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams, 3);
VGPU_WITH_DRIVER(cuGraphExecGetFlags, cudaGraphExecGetFlags, 2);
VGPU_WITH_DRIVER(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled, 3);
VGPU_WITH_DRIVER(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled, 3);
VGPU_IN_STREAM(cuGraphUpload, cudaGraphUpload, 2);
VGPU_IN_STREAM(cuGraphLaunch, cudaGraphLaunch, 2);
VGPU_WITH_DRIVER(cuGraphExecDestroy, cudaGraphExecDestroy, 1);
VGPU_WITH_DRIVER(cuGraphExecUpdate_v2, cudaGraphExecUpdate, 3);

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* update) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = cuGraphExecUpdate_v2(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (update != nullptr) *update = info.result;
  return result;
}

VGPU_WITH_DRIVER(cuGraphDebugDotPrint, cudaGraphDebugDotPrint, 3);
VGPU_WITH_DRIVER(cuUserObjectCreate, cudaUserObjectCreate, 5);
VGPU_WITH_DRIVER(cuUserObjectRetain, cudaUserObjectRetain, 2);
VGPU_WITH_DRIVER(cuUserObjectRelease, cudaUserObjectRelease, 2);
VGPU_WITH_DRIVER(cuGraphRetainUserObject, cudaGraphRetainUserObject, 4);
VGPU_WITH_DRIVER(cuGraphReleaseUserObject, cudaGraphReleaseUserObject, 3);

VGPU_FORWARD_NODE(cuGraphAddKernelNode, cudaGraphAddKernelNode, 5);
VGPU_FORWARD_NODE(cuGraphAddKernelNode_v2, cudaGraphAddKernelNode, 5);
VGPU_FORWARD_NODE(cuGraphKernelNodeSetParams, cudaGraphKernelNodeSetParams, 2);
VGPU_FORWARD_NODE(cuGraphKernelNodeSetParams_v2, cudaGraphKernelNodeSetParams, 2);
VGPU_FORWARD_NODE(cuGraphExecKernelNodeSetParams, cudaGraphExecKernelNodeSetParams, 3);
VGPU_FORWARD_NODE(cuGraphExecKernelNodeSetParams_v2, cudaGraphExecKernelNodeSetParams, 3);

VGPU_BY(cuGraphKernelNodeGetParams, 2, get_kernel(__func__, a0, a1));
VGPU_BY(cuGraphKernelNodeGetParams_v2, 2, get_kernel(__func__, a0, a1));

VGPU_WITH_DRIVER(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes, 2);
VGPU_WITH_DRIVER(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, 3);
VGPU_WITH_DRIVER(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute, 3);

VGPU_FORWARD_NODE(cuGraphAddMemcpyNode, cudaGraphAddMemcpyNode, 6);
VGPU_FORWARD_NODE(cuGraphMemcpyNodeSetParams, cudaGraphMemcpyNodeSetParams, 2);
VGPU_FORWARD_NODE(cuGraphExecMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams, 4);
VGPU_FORWARD_NODE(cuGraphAddMemsetNode, cudaGraphAddMemsetNode, 6);
VGPU_FORWARD_NODE(cuGraphExecMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams, 4);
VGPU_WITH_DRIVER(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, 2);
VGPU_WITH_DRIVER(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, 2);

VGPU_WITHOUT_CONTEXT(cuGraphMemcpyNodeGetParams, CUgraphNode node, CUDA_MEMCPY3D* copy) {
  cudaMemcpy3DParms what{};
  if (copy == nullptr) refuse();
  require(cudaGraphMemcpyNodeGetParams(node, &what));
  *copy = copy_of(what);
}

VGPU_WITH_DRIVER(cuGraphAddHostNode, cudaGraphAddHostNode, 5);
VGPU_WITH_DRIVER(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, 2);
VGPU_WITH_DRIVER(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, 2);
VGPU_WITH_DRIVER(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams, 3);
VGPU_WITH_DRIVER(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode, 5);
VGPU_WITH_DRIVER(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, 2);
VGPU_WITH_DRIVER(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams, 3);
VGPU_WITH_DRIVER(cuGraphAddEmptyNode, cudaGraphAddEmptyNode, 4);
VGPU_WITH_DRIVER(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode, 5);
VGPU_WITH_DRIVER(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent, 2);
VGPU_WITH_DRIVER(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent, 2);
VGPU_WITH_DRIVER(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent, 3);
VGPU_WITH_DRIVER(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode, 5);
VGPU_WITH_DRIVER(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent, 2);
VGPU_WITH_DRIVER(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, 2);
VGPU_WITH_DRIVER(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent, 3);
VGPU_WITH_DRIVER(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode, 5);
VGPU_WITH_DRIVER(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, 2);
VGPU_WITH_DRIVER(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode, 5);

VGPU_WITHOUT_CONTEXT(cuGraphMemFreeNodeGetParams, CUgraphNode node, CUdeviceptr* address) {
  void* pointer = nullptr;
  require(cudaGraphMemFreeNodeGetParams(node, address != nullptr ? &pointer : nullptr));
  *address = address_of(pointer);
}

// Calls the function for the type of the parameters, with them as the runtime has them. But for
// kernels and copies they have the same layout in both APIs.
template <class Kernel, class Copy, class Other, class... First>
static CUresult by_type(const char* name, CUgraphNodeParams* params, Kernel* kernel, Copy* copy,
                        Other other, First... first) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (params->type == CU_GRAPH_NODE_TYPE_KERNEL)
    return forward_node(name, kernel, first..., &params->kernel);
  if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY)
    return forward_node(name, copy, first...,
                        static_cast<const CUDA_MEMCPY3D*>(&params->memcpy.copyParams));
  return with_driver(name, [&] { return other(first..., same<cudaGraphNodeParams>(params)); });
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params) {
  const auto add_other = [&](CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                             cudaGraphNodeParams* other) {
    return cudaGraphAddNode(node, graph, needs, same<const cudaGraphEdgeData>(edges), count, other);
  };
  return by_type(__func__, params, &cudaGraphAddKernelNode, &cudaGraphAddMemcpyNode, add_other,
                 node, graph, needs, count);
}
VGPU_BY(cuGraphAddNode, 5, cuGraphAddNode_v2(a0, a1, a2, nullptr, a3, a4));

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return by_type(__func__, params, &cudaGraphKernelNodeSetParams, &cudaGraphMemcpyNodeSetParams,
                 &cudaGraphNodeSetParams, node);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  return by_type(__func__, params, &cudaGraphExecKernelNodeSetParams,
                 &cudaGraphExecMemcpyNodeSetParams, &cudaGraphExecNodeSetParams, exec, node);
}
