// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/parameters.hpp"

#include <fmt/format.h>

#include <cstring>

#include "runtime/launch.hpp"
#include "runtime/memory_operations.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

[[noreturn]] void refuse() { throw Failure{cudaErrorInvalidValue, ""}; }

}  // namespace

Work work_of(Runtime& runtime, const cudaKernelNodeParams* params) {
  if (params == nullptr) refuse();
  if (params->extra != nullptr)
    throw Failure{cudaErrorNotSupported,
                  "a kernel node's `extra` is not implemented; kernelParams is"};
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
    case cudaGraphNodeTypeMemcpy:
      return work_of(runtime, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const auto& p = params->memset;
      const cudaMemsetParams old{p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
      return work_of(runtime, &old);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams old{params->host.fn, params->host.userData};
      return work_of(runtime, &old);
    }
    case cudaGraphNodeTypeGraph: {
      const Graph* child = runtime.graphs.find(params->graph.graph);
      if (child == nullptr) refuse();
      return ChildWork{clone(*child, nullptr)};
    }
    case cudaGraphNodeTypeEmpty:
      return EmptyWork{};
    case cudaGraphNodeTypeEventRecord:
      if (runtime.streams.find(params->eventRecord.event) == nullptr) refuse();
      return EventWork{params->eventRecord.event, true};
    case cudaGraphNodeTypeWaitEvent:
      if (runtime.streams.find(params->eventWait.event) == nullptr) refuse();
      return EventWork{params->eventWait.event, false};
    default:
      throw Failure{cudaErrorNotSupported, fmt::format("graph nodes of type {} are not implemented",
                                                       static_cast<int>(params->type))};
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

}  // namespace vgpu::runtime
