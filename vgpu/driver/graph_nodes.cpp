// SPDX-License-Identifier: Apache-2.0
// The nodes of graphs and their parameters. CUDA Driver API, "Graph Management".
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

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return with_kernel(__func__, params, [&](const cudaKernelNodeParams* kernel) {
    return cudaGraphAddKernelNode(node, graph, needs, count, kernel);
  });
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return get_kernel(__func__, node, params);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return with_kernel(__func__, params, [&](const cudaKernelNodeParams* kernel) {
    return cudaGraphKernelNodeSetParams(node, kernel);
  });
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return with_kernel(__func__, params, [&](const cudaKernelNodeParams* kernel) {
    return cudaGraphExecKernelNodeSetParams(exec, node, kernel);
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return with_kernel(__func__, params, [&](const cudaKernelNodeParams* kernel) {
    return cudaGraphAddKernelNode(node, graph, needs, count, kernel);
  });
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return get_kernel(__func__, node, params);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return with_kernel(__func__, params, [&](const cudaKernelNodeParams* kernel) {
    return cudaGraphKernelNodeSetParams(node, kernel);
  });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return with_kernel(__func__, params, [&](const cudaKernelNodeParams* kernel) {
    return cudaGraphExecKernelNodeSetParams(exec, node, kernel);
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return with_driver(__func__, [&] { return cudaGraphKernelNodeCopyAttributes(to, from); });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       CUkernelNodeAttrValue* value_out) {
  return with_driver(__func__, [&] {
    return cudaGraphKernelNodeGetAttribute(
        node, static_cast<cudaLaunchAttributeID>(static_cast<int>(attribute)),
        same<cudaKernelNodeAttrValue>(value_out));
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue* value) {
  return with_driver(__func__, [&] {
    return cudaGraphKernelNodeSetAttribute(
        node, static_cast<cudaLaunchAttributeID>(static_cast<int>(attribute)),
        same<const cudaKernelNodeAttrValue>(value));
  });
}

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

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  return with_driver(
      __func__, [&] { return cudaGraphMemsetNodeGetParams(node, same<cudaMemsetParams>(params)); });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  return with_driver(__func__, [&] {
    return cudaGraphMemsetNodeSetParams(node, same<const cudaMemsetParams>(params));
  });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return with_driver(__func__, [&] {
    return cudaGraphExecMemsetNodeSetParams(exec, node, same<const cudaMemsetParams>(params));
  });
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                            size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  return with_driver(__func__, [&] {
    return cudaGraphAddHostNode(node, graph, needs, count, same<const cudaHostNodeParams>(params));
  });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  return with_driver(
      __func__, [&] { return cudaGraphHostNodeGetParams(node, same<cudaHostNodeParams>(params)); });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return with_driver(__func__, [&] {
    return cudaGraphHostNodeSetParams(node, same<const cudaHostNodeParams>(params));
  });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* params) {
  return with_driver(__func__, [&] {
    return cudaGraphExecHostNodeSetParams(exec, node, same<const cudaHostNodeParams>(params));
  });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                  size_t count, CUgraph child) {
  return with_driver(__func__,
                     [&] { return cudaGraphAddChildGraphNode(node, graph, needs, count, child); });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return with_driver(__func__, [&] { return cudaGraphChildGraphNodeGetGraph(node, graph); });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return with_driver(__func__,
                     [&] { return cudaGraphExecChildGraphNodeSetParams(exec, node, child); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                             size_t count) {
  return with_driver(__func__, [&] { return cudaGraphAddEmptyNode(node, graph, needs, count); });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                   size_t count, CUevent event) {
  return with_driver(__func__,
                     [&] { return cudaGraphAddEventRecordNode(node, graph, needs, count, event); });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return with_driver(__func__, [&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return with_driver(__func__, [&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return with_driver(__func__,
                     [&] { return cudaGraphExecEventRecordNodeSetEvent(exec, node, event); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                 size_t count, CUevent event) {
  return with_driver(__func__,
                     [&] { return cudaGraphAddEventWaitNode(node, graph, needs, count, event); });
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return with_driver(__func__, [&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return with_driver(__func__, [&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return with_driver(__func__,
                     [&] { return cudaGraphExecEventWaitNodeSetEvent(exec, node, event); });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return with_driver(__func__, [&] {
    return cudaGraphAddMemAllocNode(node, graph, needs, count,
                                    same<cudaMemAllocNodeParams>(params));
  });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return with_driver(__func__, [&] {
    return cudaGraphMemAllocNodeGetParams(node, same<cudaMemAllocNodeParams>(params));
  });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                               size_t count, CUdeviceptr address) {
  return with_driver(__func__, [&] {
    return cudaGraphAddMemFreeNode(node, graph, needs, count, pointer_of(address));
  });
}

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
