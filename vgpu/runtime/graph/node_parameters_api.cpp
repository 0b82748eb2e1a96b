// SPDX-License-Identifier: Apache-2.0
// Reading and changing what the nodes of a graph do.
#include <fmt/format.h>

#include "runtime/graph/known.hpp"
#include "runtime/graph/parameters.hpp"

using namespace vgpu::runtime;

namespace {

// Replaces the node's work by that which `make(Runtime&, arguments...)` returns.
template <class Make, class... Arguments>
cudaError_t set(Make make, cudaGraphNode_t node, Arguments... arguments) {
  return call([&](Runtime& runtime) {
    replace_work(known_node(runtime, node), make(runtime, arguments...));
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

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return call_for(params, [&](Runtime& runtime) {
    return parameters_of(known_work<KernelWork>(runtime, node));
  });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            const cudaKernelNodeAttrValue* value) {
  return call([&](Runtime& runtime) {
    if (value == nullptr) refuse();
    auto& work = known_work<KernelWork>(runtime, node);
    if (attribute == cudaLaunchAttributeCooperative) {
      work.cooperative = value->cooperative != 0;
    } else if (attribute == cudaLaunchAttributeClusterDimension) {
      work.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    } else if (attribute != cudaLaunchAttributePriority &&
               attribute != cudaLaunchAttributeAccessPolicyWindow) {
      refuse(cudaErrorNotSupported, fmt::format("a kernel node's attribute {} is not implemented",
                                                static_cast<int>(attribute)));
    }
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            cudaKernelNodeAttrValue* value) {
  return call([&](Runtime& runtime) {
    if (value == nullptr) refuse();
    *value = {};
    const auto& work = known_work<KernelWork>(runtime, node);
    if (attribute == cudaLaunchAttributeCooperative) value->cooperative = work.cooperative ? 1 : 0;
    if (attribute == cudaLaunchAttributeClusterDimension) {
      value->clusterDim.x = work.cluster.x;
      value->clusterDim.y = work.cluster.y;
      value->clusterDim.z = work.cluster.z;
    }
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return call([&](Runtime& runtime) {
    known_work<KernelWork>(runtime, to).cooperative =
        known_work<KernelWork>(runtime, from).cooperative;
    known_work<KernelWork>(runtime, to).cluster = known_work<KernelWork>(runtime, from).cluster;
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return call_for(params,
                  [&](Runtime& runtime) { return known_work<CopyWork>(runtime, node).what; });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return call_for(params,
                  [&](Runtime& runtime) { return known_work<SetWork>(runtime, node).what; });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return call([&](Runtime& runtime) {
    if (params == nullptr) refuse();
    const auto& work = known_work<HostWork>(runtime, node);
    *params = {work.function, work.data};
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return call_for(graph, [&](Runtime& runtime) {
    return handle_of(known_work<ChildWork>(runtime, node).graph.get());
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return call_for(event,
                  [&](Runtime& runtime) { return known_work<EventWork>(runtime, node).event; });
}

VGPU_BY(cudaGraphEventWaitNodeGetEvent, 2, cudaGraphEventRecordNodeGetEvent(a0, a1));

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    if (runtime.streams.find(event) == nullptr) refuse();
    known_work<EventWork>(runtime, node).event = event;
  });
}

VGPU_BY(cudaGraphEventWaitNodeSetEvent, 2, cudaGraphEventRecordNodeSetEvent(a0, a1));

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return call_for(params,
                  [&](Runtime& runtime) { return known_work<AllocateWork>(runtime, node).what; });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return call([&](Runtime& runtime) {
    if (pointer == nullptr) refuse();
    *static_cast<void**>(pointer) = known_work<FreeWork>(runtime, node).pointer;
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t handle, cudaGraphNodeParams* params) {
  return call([&](Runtime& runtime) {
    Node& node = known_node(runtime, handle);
    if (params == nullptr || params->type != type_of(node)) refuse();
    node.work = work_of(runtime, static_cast<const cudaGraphNodeParams*>(params));
  });
}
