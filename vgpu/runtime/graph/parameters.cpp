// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/parameters.hpp"

#include <fmt/format.h>

#include <cstring>

#include "runtime/copies.hpp"
#include "runtime/memory_operations.hpp"
#include "runtime/runtime.hpp"

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
