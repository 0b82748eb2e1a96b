// SPDX-License-Identifier: Apache-2.0
// Graphs. CUDA Driver API, "Graph Management". The nodes' parameters are in graph_nodes.cpp.
#include "driver/api.hpp"

using namespace vgpu::driver;

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return with_driver(__func__, [&] { return cudaGraphCreate(graph, flags); });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return with_driver(__func__, [&] { return cudaGraphDestroy(graph); });
}

CUresult cuGraphClone(CUgraph* copy, CUgraph graph) {
  return with_driver(__func__, [&] { return cudaGraphClone(copy, graph); });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph copy) {
  return with_driver(__func__, [&] { return cudaGraphNodeFindInClone(found, original, copy); });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return with_driver(__func__,
                     [&] { return cudaGraphNodeGetType(node, same<cudaGraphNodeType>(type)); });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return with_driver(__func__, [&] { return cudaGraphGetNodes(graph, nodes, count); });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return with_driver(__func__, [&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* edges, size_t* count) {
  return with_driver(__func__, [&] {
    return cudaGraphGetEdges(graph, from, to, same<cudaGraphEdgeData>(edges), count);
  });
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* needs, CUgraphEdgeData* edges,
                                       size_t* count) {
  return with_driver(__func__, [&] {
    return cudaGraphNodeGetDependencies(node, needs, same<cudaGraphEdgeData>(edges), count);
  });
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* edges, size_t* count) {
  return with_driver(__func__, [&] {
    return cudaGraphNodeGetDependentNodes(node, nodes, same<cudaGraphEdgeData>(edges), count);
  });
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edges, size_t count) {
  return with_driver(__func__, [&] {
    return cudaGraphAddDependencies(graph, from, to, same<const cudaGraphEdgeData>(edges), count);
  });
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* edges, size_t count) {
  return with_driver(__func__, [&] {
    return cudaGraphRemoveDependencies(graph, from, to, same<const cudaGraphEdgeData>(edges),
                                       count);
  });
}

// The older forms have no data of edges.
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  return with_driver(__func__, [&] { return cudaGraphDestroyNode(node); });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return with_context(__func__, [&] { return cudaGraphInstantiateWithFlags(exec, graph, flags); });
}

CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log,
                               size_t bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log,
                            size_t bytes) {
  return cuGraphInstantiate_v2(exec, graph, error_node, log, bytes);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return with_context(__func__, [&] {
    return cudaGraphInstantiateWithParams(exec, graph, same<cudaGraphInstantiateParams>(params));
  });
}

VGPU_TWIN(cuGraphInstantiateWithParams, _ptsz, 3);

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return with_driver(__func__,
                     [&] { return cudaGraphExecGetFlags(exec, same<unsigned long long>(flags)); });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  return with_driver(__func__, [&] { return cudaGraphNodeSetEnabled(exec, node, enabled); });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  return with_driver(__func__, [&] { return cudaGraphNodeGetEnabled(exec, node, enabled); });
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return with_context(__func__, [&] { return cudaGraphUpload(exec, stream); });
}

VGPU_TWIN(cuGraphUpload, _ptsz, 2);

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return with_context(__func__, [&] { return cudaGraphLaunch(exec, stream); });
}

VGPU_TWIN(cuGraphLaunch, _ptsz, 2);

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return with_driver(__func__, [&] { return cudaGraphExecDestroy(exec); });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return with_driver(__func__, [&] {
    return cudaGraphExecUpdate(exec, graph, same<cudaGraphExecUpdateResultInfo>(info));
  });
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* update) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = cuGraphExecUpdate_v2(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (update != nullptr) *update = info.result;
  return result;
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return with_driver(__func__, [&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

CUresult cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy, unsigned count,
                            unsigned flags) {
  return with_driver(__func__,
                     [&] { return cudaUserObjectCreate(object, pointer, destroy, count, flags); });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return with_driver(__func__, [&] { return cudaUserObjectRetain(object, count); });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return with_driver(__func__, [&] { return cudaUserObjectRelease(object, count); });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                 unsigned flags) {
  return with_driver(__func__,
                     [&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return with_driver(__func__, [&] { return cudaGraphReleaseUserObject(graph, object, count); });
}
