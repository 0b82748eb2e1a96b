// SPDX-License-Identifier: Apache-2.0
// Launching and changing instantiated graphs.
#include <algorithm>
#include <utility>

#include "runtime/allocations.hpp"
#include "runtime/graph/capture.hpp"
#include "runtime/graph/parameters.hpp"
#include "runtime/stream_order.hpp"

using namespace vgpu::runtime;

namespace {

void instantiate(Runtime& runtime, cudaGraphExec_t* out, cudaGraph_t handle,
                 unsigned long long flags, cudaGraphInstantiateResult* result) {
  constexpr unsigned long long kKnown =
      cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
      cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  Graph* graph = runtime.graphs.find(handle);
  if (result != nullptr) *result = cudaGraphInstantiateError;
  if (out == nullptr || graph == nullptr || (flags & ~kKnown) != 0) refuse();
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0)
    refuse(cudaErrorNotSupported,
           "cudaGraphInstantiate: launches from the device are not implemented");
  if (order_of(*graph).empty() && !graph->nodes.empty()) {
    if (result != nullptr) *result = cudaGraphInstantiateInvalidStructure;
    refuse();
  }
  // Memory is at one address, so that a graph that allocates or frees has one instance at a time.
  if (graph->has_memory_nodes() && !graph->owner.expired()) refuse(cudaErrorNotSupported);
  auto exec = std::make_unique<GraphExec>();
  graph->owner = exec->owns;
  exec->flags = flags;
  exec->graph = clone(*graph, &exec->copies);
  *out = runtime.graphs.keep(std::move(exec));
  if (result != nullptr) *result = cudaGraphInstantiateSuccess;
}

// Lists the enabled nodes in execution order. Child graphs are replaced by their nodes.
void flatten(const Graph& graph, std::vector<Node*>& list) {
  for (Node* node : order_of(graph)) {
    if (!node->enabled) continue;
    if (const auto* child = std::get_if<ChildWork>(&node->work))
      flatten(*child->graph, list);
    else
      list.push_back(node);
  }
}

// Memory of the graph's last launch that was not freed: frees it if the graph was instantiated with
// AutoFreeOnLaunch, else throws Failure.
void free_former(Runtime& runtime, const std::vector<Node*>& list, unsigned long long flags) {
  for (const Node* node : list) {
    const auto* work = std::get_if<AllocateWork>(&node->work);
    if (work == nullptr || !work->memory->exists(runtime)) continue;
    if ((flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) == 0) {
      refuse(cudaErrorInvalidValue,
             "cudaGraphLaunch: memory that the graph's last launch allocated was not freed");
    }
    release(runtime, "cudaGraphLaunch", work->memory->pointer(), false);
  }
}

bool has_memory(const std::vector<Node*>& list) {
  return std::ranges::any_of(
      list, [](const Node* node) { return std::holds_alternative<AllocateWork>(node->work); });
}

void submit_nodes(Runtime& runtime, Stream& stream, const std::vector<Node*>& list);

// Runs the body that the node's value selects; for a while node, as long as the value is not 0.
// Waits for the earlier nodes, which set the value, and for each round of a loop.
void submit_conditional(Runtime& runtime, Stream& stream, const ConditionalWork& work) {
  for (;;) {
    await(runtime, predecessors(runtime, stream));
    const Graph* const body = chosen_body(work);
    if (body == nullptr) return;
    std::vector<Node*> list;
    flatten(*body, list);
    submit_nodes(runtime, stream, list);
    if (work.type != cudaGraphCondTypeWhile) return;
  }
}

void submit_nodes(Runtime& runtime, Stream& stream, const std::vector<Node*>& list) {
  for (const Node* node : list) {
    const OnDevice there(node->device);
    if (const auto* const conditional = std::get_if<ConditionalWork>(&node->work))
      submit_conditional(runtime, stream, *conditional);
    else
      submit_node(runtime, stream, *node);
  }
}

// Submits the nodes one by one. They follow the graph's former launch.
void launch_graph(Runtime& runtime, GraphExec& exec, Stream& stream) {
  const std::shared_ptr<Graph> graph = exec.graph;
  std::vector<Node*> list;
  flatten(*graph, list);
  if (exec.last != nullptr && !exec.last->done) stream.tail.push_back(exec.last);
  if (has_memory(list)) {
    await(runtime, predecessors(runtime, stream));
    free_former(runtime, list, exec.flags);
  }
  if (has_conditions(*graph)) {
    await(runtime, predecessors(runtime, stream));
    reset_conditions(*graph);
  }
  submit_nodes(runtime, stream, list);
  const bool unfinished = !predecessors(runtime, stream).unfinished.empty();
  if (unfinished && !graph->objects.empty()) submit(runtime, stream, [graph] {});  // keeps them
  if (unfinished) exec.last = stream.tail.back();
}

// The node of the instantiated graph that was copied from `node`.
Node& copy_in(Runtime& runtime, cudaGraphExec_t handle, cudaGraphNode_t node) {
  GraphExec& exec = runtime.graphs.known(handle);
  const auto found = exec.copies.find(reinterpret_cast<Node*>(node));
  if (found == exec.copies.end()) refuse();
  return *found->second;
}

// Replaces the node's work by that which `make(Runtime&, arguments...)` returns.
template <class Make, class... Arguments>
cudaError_t replace(Make make, cudaGraphExec_t exec, cudaGraphNode_t handle,
                    Arguments... arguments) {
  return call([&](Runtime& runtime) {
    Node& node = copy_in(runtime, exec, handle);
    replace_work(node, make(runtime, arguments...));
  });
}

}  // namespace

VGPU_CALL(cudaGraphInstantiate, cudaGraphExec_t* exec, cudaGraph_t graph,
          unsigned long long flags) {
  instantiate(runtime, exec, graph, flags, nullptr);
}
VGPU_BY(cudaGraphInstantiateWithFlags, 3, cudaGraphInstantiate(a0, a1, a2));

VGPU_CALL_PTSZ(cudaGraphInstantiateWithParams, cudaGraphExec_t* exec, cudaGraph_t graph,
               cudaGraphInstantiateParams* params) {
  if (params == nullptr) refuse();
  params->errNode_out = nullptr;
  instantiate(runtime, exec, graph, params->flags, &params->result_out);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return call_for(flags, [&](Runtime& runtime) { return runtime.graphs.known(exec).flags; });
}

VGPU_CALL(cudaGraphExecDestroy, cudaGraphExec_t exec) {
  if (!runtime.graphs.destroy(exec)) refuse();
}

VGPU_CALL_PTSZ(cudaGraphUpload, cudaGraphExec_t exec, cudaStream_t stream) {
  runtime.graphs.known(exec);
  stream_for(runtime, stream);
}

VGPU_CALL_PTSZ(cudaGraphLaunch, cudaGraphExec_t handle, cudaStream_t stream) {
  GraphExec& exec = runtime.graphs.known(handle);
  Stream& on = stream_for(runtime, stream);
  if (capture_of(on) != nullptr) return record(on, ChildWork{clone(*exec.graph, nullptr)});
  launch_graph(runtime, exec, on);
}

// Only the nodes' work may change. Both graphs must have the same nodes and edges.
VGPU_CALL(cudaGraphExecUpdate, cudaGraphExec_t handle, cudaGraph_t graph,
          cudaGraphExecUpdateResultInfo* info) {
  GraphExec& exec = runtime.graphs.known(handle);
  const Graph* from = runtime.graphs.find(graph);
  if (from == nullptr) refuse();
  const auto fail = [&](cudaGraphExecUpdateResult result, Node* node) {
    if (info != nullptr) *info = {result, handle_of(node), nullptr};
    refuse(cudaErrorGraphExecUpdateFailure);
  };
  if (from->nodes.size() != exec.graph->nodes.size())
    fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  std::map<const Node*, std::size_t> new_index, old_index;
  for (std::size_t i = 0; i < from->nodes.size(); ++i) {
    new_index[from->nodes[i].get()] = old_index[exec.graph->nodes[i].get()] = i;
  }
  for (std::size_t i = 0; i < from->nodes.size(); ++i) {
    Node* const now = from->nodes[i].get();
    const Node* const before = exec.graph->nodes[i].get();
    if (type_of(*now) != type_of(*before)) fail(cudaGraphExecUpdateErrorNodeTypeChanged, now);
    std::vector<std::size_t> a, b;
    for (const Node* need : now->needs) a.push_back(new_index.at(need));
    for (const Node* need : before->needs) b.push_back(old_index.at(need));
    std::ranges::sort(a);
    std::ranges::sort(b);
    if (a != b) fail(cudaGraphExecUpdateErrorTopologyChanged, now);
  }
  std::map<Node*, Node*> copies;
  exec.graph = clone(*from, &copies);
  // The nodes of the graph from which it was instantiated remain valid handles for its nodes.
  for (auto& [original, copy] : exec.copies) {
    if (const auto at = old_index.find(copy); at != old_index.end())
      copy = exec.graph->nodes[at->second].get();
  }
  exec.copies.insert(copies.begin(), copies.end());
  if (info != nullptr) *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
}

VGPU_NODE(cudaGraphExecKernelNodeSetParams, 3, replace, work_of);
VGPU_NODE(cudaGraphExecMemcpyNodeSetParams, 3, replace, work_of);
VGPU_NODE(cudaGraphExecMemcpyNodeSetParams1D, 6, replace, copy_1d);
VGPU_NODE(cudaGraphExecMemcpyNodeSetParamsToSymbol, 7, replace, copy_to_symbol);
VGPU_NODE(cudaGraphExecMemcpyNodeSetParamsFromSymbol, 7, replace, copy_from_symbol);
VGPU_NODE(cudaGraphExecMemsetNodeSetParams, 3, replace, work_of);
VGPU_NODE(cudaGraphExecHostNodeSetParams, 3, replace, work_of);
VGPU_NODE(cudaGraphExecChildGraphNodeSetParams, 3, replace, child_work);
VGPU_NODE(cudaGraphExecEventRecordNodeSetEvent, 3, replace, record_work);
VGPU_NODE(cudaGraphExecEventWaitNodeSetEvent, 3, replace, wait_work);
VGPU_NODE(cudaGraphExecNodeSetParams, 3, replace, work_of);

// Only kernel, memset and memcpy nodes can be disabled. For others the result is
// cudaErrorInvalidValue.
static Node& switchable(Runtime& runtime, cudaGraphExec_t exec, cudaGraphNode_t handle) {
  Node& node = copy_in(runtime, exec, handle);
  const cudaGraphNodeType type = type_of(node);
  if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemset &&
      type != cudaGraphNodeTypeMemcpy)
    refuse();
  return node;
}

VGPU_CALL(cudaGraphNodeSetEnabled, cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  switchable(runtime, exec, node).enabled = enabled != 0;
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return call_for(
      enabled, [&](Runtime& runtime) { return switchable(runtime, exec, node).enabled ? 1 : 0; });
}
