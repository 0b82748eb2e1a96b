// SPDX-License-Identifier: Apache-2.0
// Resolve handles of graphs and nodes; throw Failure for invalid handles.
#pragma once
#include "runtime/graph/graph.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {

inline Graph& known_graph(Runtime& runtime, cudaGraph_t handle) {
  Graph* graph = runtime.graphs.find(handle);
  if (graph == nullptr) refuse();
  return *graph;
}

inline Node& known_node(Runtime& runtime, cudaGraphNode_t handle) {
  Node* node = runtime.graphs.find(handle);
  if (node == nullptr) refuse();
  return *node;
}

// The node's work; throws Failure if it is of another kind.
template <class T>
T& known_work(Runtime& runtime, cudaGraphNode_t handle) {
  T* work = std::get_if<T>(&known_node(runtime, handle).work);
  if (work == nullptr) refuse();
  return *work;
}

}  // namespace vgpu::runtime
