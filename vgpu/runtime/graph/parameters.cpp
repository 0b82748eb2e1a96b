// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/parameters.hpp"

#include <fmt/format.h>

#include <cstring>

#include "runtime/copies.hpp"
#include "runtime/memory_operations.hpp"

namespace vgpu::runtime {
namespace {

Work event_work(Runtime& runtime, cudaEvent_t event, bool records) {
  if (runtime.streams.find(event) == nullptr) refuse();
  return EventWork{event, records};
}

}  // namespace

Work work_of(Runtime& runtime, const cudaKernelNodeParams* params) {
  if (params == nullptr) refuse();
  if (params->extra != nullptr)
    refuse(cudaErrorNotSupported, "a kernel node's `extra` is not implemented; kernelParams is");
  return kernel_work(runtime, params->func, params->gridDim, params->blockDim,
                     params->sharedMemBytes, params->kernelParams, false);
}

Work work_of(Runtime&, const cudaMemcpy3DParms* params) {
  if (params == nullptr) refuse();
  return CopyWork{*params};
}

Work work_of(Runtime&, const cudaMemsetParams* params) {
  if (params == nullptr || params->dst == nullptr) refuse();
  if (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4) refuse();
  return SetWork{*params};
}

Work work_of(Runtime&, const cudaHostNodeParams* params) {
  if (params == nullptr || params->fn == nullptr) refuse();
  return HostWork{params->fn, params->userData};
}

Work work_of(Runtime& runtime, const cudaGraphNodeParams* params) {
  if (params == nullptr) refuse();
  if (params->type == kMemoryOperationsNode) {  // of the driver API only
    MemoryOperations operations;
    std::memcpy(static_cast<void*>(&operations), &params->reserved1, sizeof operations);
    return memory_work(runtime, operations);
  }
  switch (params->type) {
    case cudaGraphNodeTypeKernel: {
      const auto& p = params->kernel;
      const cudaKernelNodeParams old{p.func,           p.gridDim,      p.blockDim,
                                     p.sharedMemBytes, p.kernelParams, p.extra};
      return work_of(runtime, &old);
    }
    case cudaGraphNodeTypeMemcpy: return work_of(runtime, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const auto& p = params->memset;
      const cudaMemsetParams old{p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
      return work_of(runtime, &old);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams old{params->host.fn, params->host.userData};
      return work_of(runtime, &old);
    }
    case cudaGraphNodeTypeGraph: return child_work(runtime, params->graph.graph);
    case cudaGraphNodeTypeEmpty: return EmptyWork{};
    case cudaGraphNodeTypeEventRecord: return record_work(runtime, params->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent: return wait_work(runtime, params->eventWait.event);
    default:
      refuse(cudaErrorNotSupported, fmt::format("graph nodes of type {} are not implemented",
                                                static_cast<int>(params->type)));
  }
}

cudaKernelNodeParams parameters_of(const KernelWork& work) {
  return {const_cast<void*>(work.handle),
          work.grid,
          work.block,
          static_cast<unsigned>(work.shared),
          const_cast<void**>(work.pointers.data()),
          nullptr};
}

Work copy_1d(Runtime&, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy_work(to, bytes, from, bytes, bytes, 1, kind);
}

Work copy_to_symbol(Runtime& runtime, const void* symbol, const void* from, size_t bytes,
                    size_t offset, cudaMemcpyKind kind) {
  return copy_1d(runtime, symbol_slice(runtime, symbol, offset, bytes), from, bytes, kind);
}

Work copy_from_symbol(Runtime& runtime, void* to, const void* symbol, size_t bytes, size_t offset,
                      cudaMemcpyKind kind) {
  return copy_1d(runtime, to, symbol_slice(runtime, symbol, offset, bytes), bytes, kind);
}

Work child_work(Runtime& runtime, cudaGraph_t child) {
  return ChildWork{clone(runtime.graphs.known(child), nullptr)};
}

Work record_work(Runtime& runtime, cudaEvent_t event) { return event_work(runtime, event, true); }
Work wait_work(Runtime& runtime, cudaEvent_t event) { return event_work(runtime, event, false); }

void replace_work(Node& node, Work work) {
  if (work.index() != node.work.index()) refuse();
  if (auto* kernel = std::get_if<KernelWork>(&work)) {
    kernel->cooperative = std::get<KernelWork>(node.work).cooperative;
    kernel->cluster = std::get<KernelWork>(node.work).cluster;
  }
  node.work = std::move(work);
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

// Reading and changing what the nodes of a graph do.

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
