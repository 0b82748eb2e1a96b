// SPDX-License-Identifier: Apache-2.0
// Reading and changing what the nodes of a graph do.
#include <fmt/format.h>

#include "runtime/graph/parameters.hpp"
#include "runtime/runtime.hpp"

using namespace vgpu::runtime;

namespace {

// Replaces the node's work by that which `make(Runtime&, arguments...)` returns.
template <class Make, class... Arguments>
cudaError_t set(Make make, cudaGraphNode_t node, Arguments... arguments) {
  return call([&](Runtime& runtime) {
    replace_work(runtime.graphs.known(node), make(runtime, arguments...));
  });
}

}  // namespace

VGPU_NODE(cudaGraphKernelNodeSetParams, 2, set, work_of);
VGPU_NODE(cudaGraphMemcpyNodeSetParams, 2, set, work_of);
VGPU_NODE(cudaGraphMemcpyNodeSetParams1D, 5, set, copy_1d);
VGPU_NODE(cudaGraphMemcpyNodeSetParamsToSymbol, 6, set, copy_to_symbol);
VGPU_NODE(cudaGraphMemcpyNodeSetParamsFromSymbol, 6, set, copy_from_symbol);
VGPU_NODE(cudaGraphMemsetNodeSetParams, 2, set, work_of);
VGPU_NODE(cudaGraphHostNodeSetParams, 2, set, work_of);

// Defines `name(node, result)`, which stores `value`, an expression of the node's `work`.
#define VGPU_NODE_GET(name, Work, value)                 \
  cudaError_t name(VGPU_PARAMETERS_2(name)) {            \
    return call_for(a1, [&](Runtime& runtime) {          \
      const auto& work = runtime.graphs.work<Work>(a0);  \
      return std::remove_pointer_t<decltype(a1)>(value); \
    });                                                  \
  }                                                      \
  static_assert(true)
VGPU_NODE_GET(cudaGraphKernelNodeGetParams, KernelWork, parameters_of(work));
VGPU_NODE_GET(cudaGraphMemcpyNodeGetParams, CopyWork, work.what);
VGPU_NODE_GET(cudaGraphMemsetNodeGetParams, SetWork, work.what);
VGPU_NODE_GET(cudaGraphHostNodeGetParams, HostWork, (cudaHostNodeParams{work.function, work.data}));
VGPU_NODE_GET(cudaGraphChildGraphNodeGetGraph, ChildWork, handle_of(work.graph.get()));
VGPU_NODE_GET(cudaGraphEventRecordNodeGetEvent, EventWork, work.event);
VGPU_NODE_GET(cudaGraphMemAllocNodeGetParams, AllocateWork, work.what);

VGPU_CALL(cudaGraphKernelNodeSetAttribute, cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
          const cudaKernelNodeAttrValue* value) {
  if (value == nullptr) refuse();
  auto& work = runtime.graphs.work<KernelWork>(node);
  if (attribute == cudaLaunchAttributeCooperative) {
    work.cooperative = value->cooperative != 0;
  } else if (attribute == cudaLaunchAttributeClusterDimension) {
    work.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
  } else if (attribute != cudaLaunchAttributePriority &&
             attribute != cudaLaunchAttributeAccessPolicyWindow) {
    refuse(cudaErrorNotSupported, fmt::format("a kernel node's attribute {} is not implemented",
                                              static_cast<int>(attribute)));
  }
}

VGPU_CALL(cudaGraphKernelNodeGetAttribute, cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
          cudaKernelNodeAttrValue* value) {
  if (value == nullptr) refuse();
  *value = {};
  const auto& work = runtime.graphs.work<KernelWork>(node);
  if (attribute == cudaLaunchAttributeCooperative) value->cooperative = work.cooperative ? 1 : 0;
  if (attribute == cudaLaunchAttributeClusterDimension) {
    value->clusterDim.x = work.cluster.x;
    value->clusterDim.y = work.cluster.y;
    value->clusterDim.z = work.cluster.z;
  }
}

VGPU_CALL(cudaGraphKernelNodeCopyAttributes, cudaGraphNode_t to, cudaGraphNode_t from) {
  auto &target = runtime.graphs.work<KernelWork>(to),
       &source = runtime.graphs.work<KernelWork>(from);
  target.cooperative = source.cooperative;
  target.cluster = source.cluster;
}

VGPU_BY(cudaGraphEventWaitNodeGetEvent, 2, cudaGraphEventRecordNodeGetEvent(a0, a1));

VGPU_CALL(cudaGraphEventRecordNodeSetEvent, cudaGraphNode_t node, cudaEvent_t event) {
  if (runtime.streams.find(event) == nullptr) refuse();
  runtime.graphs.work<EventWork>(node).event = event;
}

VGPU_BY(cudaGraphEventWaitNodeSetEvent, 2, cudaGraphEventRecordNodeSetEvent(a0, a1));

VGPU_CALL(cudaGraphMemFreeNodeGetParams, cudaGraphNode_t node, void* pointer) {
  if (pointer == nullptr) refuse();
  *static_cast<void**>(pointer) = runtime.graphs.work<FreeWork>(node).pointer;
}

VGPU_CALL(cudaGraphNodeSetParams, cudaGraphNode_t handle, cudaGraphNodeParams* params) {
  Node& node = runtime.graphs.known(handle);
  if (params == nullptr || params->type != type_of(node)) refuse();
  node.work = work_of(runtime, static_cast<const cudaGraphNodeParams*>(params));
}
