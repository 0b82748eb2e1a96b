// SPDX-License-Identifier: Apache-2.0
// CUDA Driver API, "Stream Memory Operations", and the nodes of graphs for them.
#include "runtime/memory_operations.hpp"

#include "driver/api.hpp"
#include "runtime/graph/capture.hpp"

using namespace vgpu::driver;
using vgpu::runtime::MemoryOperation;
using vgpu::runtime::MemoryOperations;
using vgpu::runtime::MemoryWork;

namespace {

using Wait = decltype(CUstreamBatchMemOpParams::waitValue);
using Barrier = decltype(CUstreamBatchMemOpParams::memoryBarrier);
static_assert(sizeof(MemoryOperation) == sizeof(CUstreamBatchMemOpParams) &&
              offsetof(MemoryOperation, address) == offsetof(Wait, address) &&
              offsetof(MemoryOperation, value) == offsetof(Wait, value) &&
              offsetof(MemoryOperation, flags) == offsetof(Wait, flags) &&
              offsetof(MemoryOperation, barrier) == offsetof(Barrier, flags));
static_assert(sizeof(MemoryOperations) == sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS_v2));
static_assert(vgpu::runtime::kMemoryOperationsNode ==
              static_cast<cudaGraphNodeType>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP));

CUresult operate(const char* name, CUstream stream, const MemoryOperations& params) {
  return in_context(name, [&](Runtime& runtime) {
    vgpu::runtime::Stream& on = vgpu::runtime::stream_for(runtime, stream);
    MemoryWork work = memory_work(runtime, params);
    if (capture_of(on) != nullptr) return record(on, std::move(work));
    return submit(runtime, on, work);
  });
}

CUresult operate(const char* name, CUstream stream, MemoryOperation::Type type, CUdeviceptr address,
                 cuuint64_t value, unsigned flags) {
  MemoryOperation operation;
  operation.type = type;
  operation.address = address;
  operation.value = value;
  operation.flags = flags;
  return operate(name, stream, MemoryOperations{nullptr, 1, &operation, 0});
}

// The parameters of any node, for those of this kind.
CUgraphNodeParams any_params(const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  any.memOp = {params->ctx, params->count, params->paramArray, params->flags};
  return any;
}

}  // namespace

#define VGPU_MEMORY_OPERATION(name, kind, Value)                                     \
  CUresult name(CUstream stream, CUdeviceptr address, Value value, unsigned flags) { \
    return operate(__func__, stream, MemoryOperation::kind, address, value, flags);  \
  }                                                                                  \
  VGPU_TWIN(name, _ptsz, 4)
VGPU_MEMORY_OPERATION(cuStreamWaitValue32_v2, kWait32, cuuint32_t);
VGPU_MEMORY_OPERATION(cuStreamWaitValue64_v2, kWait64, cuuint64_t);
VGPU_MEMORY_OPERATION(cuStreamWriteValue32_v2, kWrite32, cuuint32_t);
VGPU_MEMORY_OPERATION(cuStreamWriteValue64_v2, kWrite64, cuuint64_t);

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               CUstreamBatchMemOpParams* operations, unsigned flags) {
  return operate(__func__, stream,
                 MemoryOperations{nullptr, count, same<MemoryOperation>(operations), flags});
}
VGPU_TWIN(cuStreamBatchMemOp_v2, _ptsz, 4);

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* needs,
                                  size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams any = any_params(params);
  return cuGraphAddNode(node, graph, needs, count, &any);
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams any = any_params(params);
  return cuGraphNodeSetParams(node, &any);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams any = any_params(params);
  return cuGraphExecNodeSetParams(exec, node, &any);
}

// The array belongs to the node.
VGPU_IN_DRIVER(cuGraphBatchMemOpNodeGetParams, CUgraphNode node,
               CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  if (params == nullptr) refuse();
  auto& work = runtime.graphs.work<MemoryWork>(node);
  *params = {static_cast<CUcontext>(work.context), static_cast<unsigned>(work.operations.size()),
             same<CUstreamBatchMemOpParams>(work.operations.data()), 0};
}
