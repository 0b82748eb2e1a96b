// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/graph.hpp"

#include <algorithm>
#include <new>

#include "machine/device_runtime.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

// Calls `use` with all graphs in a graph, itself included.
template <class Use>
void for_each_graph(const Graph& graph, Use use) {
  use(graph);
  for (const auto& node : graph.nodes) {
    if (const auto* child = std::get_if<ChildWork>(&node->work)) for_each_graph(*child->graph, use);
    if (const auto* work = std::get_if<ConditionalWork>(&node->work)) {
      for (const auto& body : work->bodies) for_each_graph(*body, use);
    }
  }
}

}  // namespace

Condition::Condition(Runtime& runtime, unsigned initial, bool assigns)
    : runtime_(runtime), initial_(initial), assigns_(assigns) {
  void* const word = runtime.memory.allocate(sizeof initial, std::string(machine::kConditionName));
  if (word == nullptr) throw std::bad_alloc();
  word_ = static_cast<volatile unsigned*>(word);
  *word_ = initial;
}

Condition::~Condition() { runtime_.memory.free(const_cast<unsigned*>(word_)); }

cudaGraphConditionalHandle Condition::handle() const {
  return reinterpret_cast<cudaGraphConditionalHandle>(word_);
}

ConditionalWork conditional_work(const Graph& graph, const cudaConditionalNodeParams& params) {
  const auto found = std::ranges::find_if(
      graph.conditions, [&](const auto& known) { return known->handle() == params.handle; });
  const bool fits = params.type == cudaGraphCondTypeIf      ? params.size == 1 || params.size == 2
                    : params.type == cudaGraphCondTypeWhile ? params.size == 1
                                                            : params.size != 0;
  if (found == graph.conditions.end() || !fits || params.type < cudaGraphCondTypeIf ||
      params.type > cudaGraphCondTypeSwitch)
    refuse();
  ConditionalWork work{*found, params.type, {}, {}};
  for (unsigned i = 0; i < params.size; ++i) {
    work.bodies.push_back(std::make_shared<Graph>());
    work.handles.push_back(handle_of(work.bodies.back().get()));
  }
  return work;
}

bool has_conditions(const Graph& graph) {
  bool found = false;
  for_each_graph(graph, [&](const Graph& one) {
    found |= std::ranges::any_of(one.nodes, [](const auto& node) {
      return std::holds_alternative<ConditionalWork>(node->work);
    });
  });
  return found;
}

void reset_conditions(const Graph& graph) {
  for_each_graph(graph, [](const Graph& one) {
    for (const auto& condition : one.conditions) condition->reset();
  });
}

const Graph* chosen_body(const ConditionalWork& work) {
  const unsigned value = work.condition->value();
  std::size_t index = value;
  if (work.type == cudaGraphCondTypeIf) index = value != 0 ? 0 : 1;
  if (work.type == cudaGraphCondTypeWhile) index = value != 0 ? 0 : work.bodies.size();
  return index < work.bodies.size() ? work.bodies[index].get() : nullptr;
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

VGPU_CALL(cudaGraphConditionalHandleCreate, cudaGraphConditionalHandle* handle, cudaGraph_t graph,
          unsigned initial, unsigned flags) {
  if (handle == nullptr || (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0) refuse();
  Graph& known = runtime.graphs.known(graph);
  known.conditions.push_back(
      std::make_shared<Condition>(runtime, initial, (flags & cudaGraphCondAssignDefault) != 0));
  *handle = known.conditions.back()->handle();
}
