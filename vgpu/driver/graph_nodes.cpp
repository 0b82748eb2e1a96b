// SPDX-License-Identifier: Apache-2.0
// The nodes of graphs and their parameters. CUDA Driver API, "Graph Management".
#include <tuple>
#include <utility>

#include "driver/copies.hpp"
#include "driver/launch.hpp"

using namespace vgpu::driver;

namespace {

// Calls use(the parameters as the runtime has them). Older structures lack a kernel and a context
// at their end, and a CUfunction is a CUkernel.
template <class Params, class Use>
CUresult with_kernel(const char* name, const Params* params, Use use) {
  return with_driver(name, [&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const void* function = params->func;
    if constexpr (requires { params->kern; }) {
      if (function == nullptr) function = params->kern;
    }
    Arguments arguments(function, params->kernelParams, params->extra);
    if (arguments.error() != cudaSuccess) return arguments.error();
    const cudaKernelNodeParams node{const_cast<void*>(function),
                                    {params->gridDimX, params->gridDimY, params->gridDimZ},
                                    {params->blockDimX, params->blockDimY, params->blockDimZ},
                                    params->sharedMemBytes,
                                    arguments.pointers(),
                                    nullptr};
    return use(&node);
  });
}

// The runtime's function with the same arguments, of which the last are a kernel's parameters.
template <class... To, class... From>
CUresult forward_kernel(const char* name, cudaError_t (*function)(To...), From... arguments) {
  const std::tuple all(arguments...);
  constexpr std::size_t kLast = sizeof...(From) - 1;
  return with_kernel(name, std::get<kLast>(all), [&](const cudaKernelNodeParams* kernel) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return function(std::get<i>(all)..., kernel);
    }
    (std::make_index_sequence<kLast>());
  });
}
#define VGPU_KERNEL_NODE(name, function, count)                           \
  CUresult name(VGPU_PARAMETERS_##count(name)) {                          \
    return forward_kernel(__func__, &(function), VGPU_ARGUMENTS_##count); \
  }                                                                       \
  static_assert(true)

template <class Params>
CUresult get_kernel(const char* name, CUgraphNode node, Params* params) {
  return with_driver(name, [&] {
    cudaKernelNodeParams known{};
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphKernelNodeGetParams(node, &known);
    if (error != cudaSuccess) return error;
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
      return cudaSuccess;
    });
  });
}

// Calls use(the copy as the runtime has it).
template <class Use>
CUresult with_copy(const char* name, const CUDA_MEMCPY3D* copy, Use use) {
  return with_driver(name, [&] {
    cudaMemcpy3DParms what{};
    const cudaError_t error = vgpu::runtime::query([&](Runtime&) {
      if (copy == nullptr) return cudaErrorInvalidValue;
      what = parameters_of(*copy);
      return cudaSuccess;
    });
    return error != cudaSuccess ? error : use(&what);
  });
}

}  // namespace

VGPU_KERNEL_NODE(cuGraphAddKernelNode, cudaGraphAddKernelNode, 5);
VGPU_KERNEL_NODE(cuGraphAddKernelNode_v2, cudaGraphAddKernelNode, 5);
VGPU_KERNEL_NODE(cuGraphKernelNodeSetParams, cudaGraphKernelNodeSetParams, 2);
VGPU_KERNEL_NODE(cuGraphKernelNodeSetParams_v2, cudaGraphKernelNodeSetParams, 2);
VGPU_KERNEL_NODE(cuGraphExecKernelNodeSetParams, cudaGraphExecKernelNodeSetParams, 3);
VGPU_KERNEL_NODE(cuGraphExecKernelNodeSetParams_v2, cudaGraphExecKernelNodeSetParams, 3);

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return get_kernel(__func__, node, params);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return get_kernel(__func__, node, params);
}

VGPU_WITH_DRIVER(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes, 2);
VGPU_WITH_DRIVER(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, 3);
VGPU_WITH_DRIVER(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute, 3);

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                              size_t count, const CUDA_MEMCPY3D* copy, CUcontext) {
  return with_copy(__func__, copy, [&](const cudaMemcpy3DParms* what) {
    return cudaGraphAddMemcpyNode(node, graph, needs, count, what);
  });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* copy) {
  return with_driver(__func__, [&] {
    cudaMemcpy3DParms what{};
    if (copy == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphMemcpyNodeGetParams(node, &what);
    if (error == cudaSuccess) *copy = copy_of(what);
    return error;
  });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  return with_copy(__func__, copy, [&](const cudaMemcpy3DParms* what) {
    return cudaGraphMemcpyNodeSetParams(node, what);
  });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D* copy, CUcontext) {
  return with_copy(__func__, copy, [&](const cudaMemcpy3DParms* what) {
    return cudaGraphExecMemcpyNodeSetParams(exec, node, what);
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return with_driver(__func__, [&] {
    return cudaGraphAddMemsetNode(node, graph, needs, count, same<const cudaMemsetParams>(params));
  });
}

VGPU_WITH_DRIVER(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, 2);
VGPU_WITH_DRIVER(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, 2);

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return with_driver(__func__, [&] {
    return cudaGraphExecMemsetNodeSetParams(exec, node, same<const cudaMemsetParams>(params));
  });
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

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return with_driver(__func__, [&] {
    void* pointer = nullptr;
    const cudaError_t error =
        cudaGraphMemFreeNodeGetParams(node, address != nullptr ? &pointer : nullptr);
    if (error == cudaSuccess) *address = address_of(pointer);
    return error;
  });
}

namespace {

// Calls the function for the type of the parameters, with them as the runtime has them. But for
// kernels and copies they have the same layout in both APIs.
template <class Kernel, class Copy, class Other>
CUresult by_type(const char* name, CUgraphNodeParams* params, Kernel kernel, Copy copy,
                 Other other) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) return with_kernel(name, &params->kernel, kernel);
  if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY)
    return with_copy(name, &params->memcpy.copyParams, copy);
  return with_driver(name, [&] { return other(same<cudaGraphNodeParams>(params)); });
}

}  // namespace

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params) {
  return by_type(
      __func__, params,
      [&](const cudaKernelNodeParams* kernel) {
        return cudaGraphAddKernelNode(node, graph, needs, count, kernel);
      },
      [&](const cudaMemcpy3DParms* what) {
        return cudaGraphAddMemcpyNode(node, graph, needs, count, what);
      },
      [&](cudaGraphNodeParams* other) {
        return cudaGraphAddNode(node, graph, needs, same<const cudaGraphEdgeData>(edges), count,
                                other);
      });
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs, size_t count,
                        CUgraphNodeParams* params) {
  return cuGraphAddNode_v2(node, graph, needs, nullptr, count, params);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return by_type(
      __func__, params,
      [&](const cudaKernelNodeParams* kernel) {
        return cudaGraphKernelNodeSetParams(node, kernel);
      },
      [&](const cudaMemcpy3DParms* what) { return cudaGraphMemcpyNodeSetParams(node, what); },
      [&](cudaGraphNodeParams* other) { return cudaGraphNodeSetParams(node, other); });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  return by_type(
      __func__, params,
      [&](const cudaKernelNodeParams* kernel) {
        return cudaGraphExecKernelNodeSetParams(exec, node, kernel);
      },
      [&](const cudaMemcpy3DParms* what) {
        return cudaGraphExecMemcpyNodeSetParams(exec, node, what);
      },
      [&](cudaGraphNodeParams* other) { return cudaGraphExecNodeSetParams(exec, node, other); });
}
