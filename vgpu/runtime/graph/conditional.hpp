// SPDX-License-Identifier: Apache-2.0
// Conditional nodes: graphs in a graph that run as a value in device memory says. Kernels set it
// (cudaGraphSetConditional).
#pragma once

#include "runtime/graph/graph.hpp"

namespace vgpu::runtime {

// The value of a handle, which is its address.
class Condition {
 public:
  Condition(Runtime& runtime, unsigned initial, bool assigns);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  cudaGraphConditionalHandle handle() const;
  unsigned value() const { return *word_; }
  // At a graph's launch.
  void reset() {
    if (assigns_) *word_ = initial_;
  }

 private:
  Runtime& runtime_;
  volatile unsigned* word_;
  unsigned initial_;
  bool assigns_;
};

// The work of a node in `graph`, whose bodies are empty yet. Throws Failure.
ConditionalWork conditional_work(const Graph& graph, const cudaConditionalNodeParams& params);

// Whether the graph or one of its children has a conditional node.
bool has_conditions(const Graph& graph);
// Resets the values of the graph and of all graphs in it.
void reset_conditions(const Graph& graph);

// Which body runs now; null if none does.
const Graph* chosen_body(const ConditionalWork& work);

}  // namespace vgpu::runtime
