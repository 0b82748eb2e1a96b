// SPDX-License-Identifier: Apache-2.0
// Handles of graphs and nodes to what they stand for; throws Failure for others.
#pragma once
#include "runtime/graph/graph.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {

inline Graph& known_graph(Runtime& runtime, cudaGraph_t handle) {
  Graph* graph = runtime.graphs.find(handle);
  if (graph == nullptr) throw Failure{cudaErrorInvalidValue, ""};
  return *graph;
}

inline Node& known_node(Runtime& runtime, cudaGraphNode_t handle) {
  Node* node = runtime.graphs.find(handle);
  if (node == nullptr) throw Failure{cudaErrorInvalidValue, ""};
  return *node;
}

// The node's work, which must be of this kind.
template <class T>
T& known_work(Runtime& runtime, cudaGraphNode_t handle) {
  T* work = std::get_if<T>(&known_node(runtime, handle).work);
  if (work == nullptr) throw Failure{cudaErrorInvalidValue, ""};
  return *work;
}

}  // namespace vgpu::runtime
