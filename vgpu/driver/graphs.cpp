// SPDX-License-Identifier: Apache-2.0
// Graphs. CUDA Driver API, "Graph Management". The nodes' parameters are in graph_nodes.cpp.
#include "driver/api.hpp"

using namespace vgpu::driver;

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
