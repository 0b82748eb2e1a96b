// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/graph.hpp"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

#include "machine/device_runtime.hpp"
#include "runtime/allocations.hpp"
#include "runtime/copies.hpp"
#include "runtime/launch.hpp"
#include "runtime/memory_operations.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

template <class T>
constexpr bool always_false = false;

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

Graph::~Graph() {
  for (cudaUserObject_t object : objects) release_user_object(object, 1);
}

bool Graph::has_memory_nodes() const {
  return std::ranges::any_of(nodes, [](const std::unique_ptr<Node>& node) {
    return std::holds_alternative<AllocateWork>(node->work) ||
           std::holds_alternative<FreeWork>(node->work);
  });
}

cudaGraph_t handle_of(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }
cudaGraphNode_t handle_of(Node* node) { return reinterpret_cast<cudaGraphNode_t>(node); }

cudaGraph_t Graphs::create() { return keep(std::make_unique<Graph>()); }

cudaGraph_t Graphs::keep(std::unique_ptr<Graph> graph) {
  const cudaGraph_t handle = handle_of(graph.get());
  graphs_[handle] = std::move(graph);
  return handle;
}

bool Graphs::destroy(cudaGraph_t handle) { return graphs_.erase(handle) != 0; }

// What find(graph) returns for the first of the node's graphs for which it is not null.
template <class Find>
static auto find_in_children(const Node& node, Find find)
    -> decltype(find(std::declval<Graph&>())) {
  if (const auto* child = std::get_if<ChildWork>(&node.work)) return find(*child->graph);
  if (const auto* work = std::get_if<ConditionalWork>(&node.work)) {
    for (const auto& body : work->bodies) {
      if (auto* found = find(*body)) return found;
    }
  }
  return nullptr;
}

static Graph* find_graph(Graph& graph, const void* handle) {
  if (&graph == handle) return &graph;
  for (const auto& node : graph.nodes) {
    if (Graph* found = find_in_children(*node, [&](Graph& g) { return find_graph(g, handle); }))
      return found;
  }
  return nullptr;
}

static Node* find_node(Graph& graph, const void* handle) {
  for (const auto& node : graph.nodes) {
    if (node.get() == handle) return node.get();
    if (Node* found = find_in_children(*node, [&](Graph& g) { return find_node(g, handle); }))
      return found;
  }
  return nullptr;
}

Graph* Graphs::find(cudaGraph_t handle) {
  if (const auto found = graphs_.find(handle); found != graphs_.end()) return found->second.get();
  for (Graph* graph : known_) {
    if (handle_of(graph) == handle) return graph;
  }
  for (const auto& [key, graph] : graphs_) {
    if (Graph* found = find_graph(*graph, handle)) return found;
  }
  return nullptr;
}

Node* Graphs::find(cudaGraphNode_t handle) {
  for (const auto& [key, graph] : graphs_) {
    if (Node* found = find_node(*graph, handle)) return found;
  }
  for (Graph* graph : known_) {
    if (Node* found = find_node(*graph, handle)) return found;
  }
  return nullptr;
}

cudaGraphExec_t Graphs::keep(std::unique_ptr<GraphExec> exec) {
  const auto handle = reinterpret_cast<cudaGraphExec_t>(exec.get());
  execs_[handle] = std::move(exec);
  return handle;
}

GraphExec* Graphs::find(cudaGraphExec_t handle) {
  const auto found = execs_.find(handle);
  return found == execs_.end() ? nullptr : found->second.get();
}

bool Graphs::destroy(cudaGraphExec_t handle) { return execs_.erase(handle) != 0; }

cudaGraphNodeType type_of(const Node& node) {
  constexpr cudaGraphNodeType kTypes[] = {
      cudaGraphNodeTypeEmpty,       cudaGraphNodeTypeKernel,   cudaGraphNodeTypeMemcpy,
      cudaGraphNodeTypeMemset,      cudaGraphNodeTypeHost,     cudaGraphNodeTypeGraph,
      cudaGraphNodeTypeWaitEvent,   cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemFree,
      cudaGraphNodeTypeConditional, kMemoryOperationsNode};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  if (const auto* event = std::get_if<EventWork>(&node.work); event != nullptr && event->records)
    return cudaGraphNodeTypeEventRecord;
  return kTypes[node.work.index()];
}

Node* add_node(Graph& graph, Work work, std::vector<Node*> needs) {
  auto node = std::make_unique<Node>();
  node->graph = &graph;
  node->work = std::move(work);
  node->needs = std::move(needs);
  node->device = Runtime::ordinal();
  return graph.nodes.emplace_back(std::move(node)).get();
}

std::unique_ptr<Graph> clone(const Graph& graph, std::map<Node*, Node*>* copies) {
  auto copy = std::make_unique<Graph>();
  std::map<Node*, Node*> made;
  for (const auto& node : graph.nodes) {
    Work work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) child->graph = clone(*child->graph, copies);
    if (auto* conditional = std::get_if<ConditionalWork>(&work)) {
      for (std::size_t i = 0; i < conditional->bodies.size(); ++i) {
        conditional->bodies[i] = clone(*conditional->bodies[i], copies);
        conditional->handles[i] = handle_of(conditional->bodies[i].get());
      }
    }
    if (auto* kernel = std::get_if<KernelWork>(&work)) {
      for (std::size_t i = 0; i < kernel->values.size(); ++i)
        kernel->pointers[i] = kernel->values[i].data();
    }
    Node* const added = add_node(*copy, std::move(work), node->needs);
    added->device = node->device;
    added->enabled = node->enabled;
    made[node.get()] = added;
  }
  for (const auto& node : copy->nodes) {
    for (Node*& need : node->needs) need = made.at(need);
  }
  copy->conditions = graph.conditions;
  for (cudaUserObject_t object : graph.objects) {
    retain_user_object(object, 1);
    copy->objects.push_back(object);
  }
  if (copies != nullptr) copies->insert(made.begin(), made.end());
  return copy;
}

std::vector<Node*> order_of(const Graph& graph) {
  std::map<const Node*, std::size_t> waiting;
  std::vector<Node*> order;
  std::multimap<const Node*, Node*> dependents;
  for (const auto& node : graph.nodes) {
    waiting[node.get()] = node->needs.size();
    if (node->needs.empty()) order.push_back(node.get());
    for (const Node* need : node->needs) dependents.emplace(need, node.get());
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [first, last] = dependents.equal_range(order[i]);
    for (auto next = first; next != last; ++next) {
      if (--waiting[next->second] == 0) order.push_back(next->second);
    }
  }
  return order.size() == graph.nodes.size() ? order : std::vector<Node*>();
}

KernelWork kernel_work(Runtime& runtime, const void* handle, dim3 grid, dim3 block,
                       std::size_t shared, void** arguments, bool cooperative) {
  Function& function = known_function(runtime, handle);
  const auto& params = attributes(loaded_kernel(runtime, function)).params;
  if (!params.empty() && arguments == nullptr) refuse();
  const void* stub = function.host_function;
  KernelWork work{
      stub != nullptr ? stub : &function, grid, block, shared, cooperative, {0, 0, 0}, {}, {}};
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(arguments[i]);
    work.values.emplace_back(bytes, bytes + params[i].size);
  }
  for (auto& value : work.values) work.pointers.push_back(value.data());
  return work;
}

CopyWork copy_work(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  CopyWork work{};
  work.what.srcPtr = {const_cast<void*>(from), from_pitch, width, height};
  work.what.dstPtr = {to, to_pitch, width, height};
  work.what.extent = {width, height, 1};
  work.what.kind = kind;
  return work;
}

void submit_node(Runtime& runtime, Stream& stream, const Node& node) {
  std::visit(
      [&](const auto& work) {
        using T = std::decay_t<decltype(work)>;
        if constexpr (std::is_same_v<T, KernelWork>) {
          Request request{work.grid,   work.block, const_cast<void**>(work.pointers.data()),
                          work.shared, nullptr,    work.cooperative,
                          work.cluster};
          launch(runtime, stream, work.handle, request);
        } else if constexpr (std::is_same_v<T, CopyWork>) {
          submit_copy(runtime, stream, "a graph's memcpy node", work.what);
        } else if constexpr (std::is_same_v<T, SetWork>) {
          submit_set(runtime, stream, "a graph's memset node", work.what);
        } else if constexpr (std::is_same_v<T, HostWork>) {
          submit_host_function(
              runtime, stream,
              [function = work.function, data = work.data](cudaError_t) { function(data); }, false);
        } else if constexpr (std::is_same_v<T, EventWork>) {
          Event& event = runtime.streams.known(work.event);
          if (work.records)
            mark(runtime, event, stream);
          else
            follow(runtime, stream, event);
        } else if constexpr (std::is_same_v<T, AllocateWork>) {
          work.memory->allocate(runtime);
        } else if constexpr (std::is_same_v<T, FreeWork>) {
          const Block* const block = runtime.pointers.starting_at(work.pointer);
          if (block != nullptr && !block->of_graph) refuse();
          submit_release(runtime, stream, "a graph's memory free node", work.pointer);
        } else if constexpr (std::is_same_v<T, MemoryWork>) {
          submit(runtime, stream, work);
        } else if constexpr (!std::is_same_v<T, EmptyWork>) {
          static_assert(std::is_same_v<T, ChildWork> || std::is_same_v<T, ConditionalWork> ||
                        always_false<T>);
          refuse(cudaErrorUnknown);  // the launch itself submits their nodes
        }
      },
      node.work);
}

GraphMemory::GraphMemory(Runtime& runtime, std::size_t bytes, int device, const void* caller)
    : bytes_(bytes), device_(device), caller_(caller) {
  const OnDevice there(device);
  runtime::allocate(runtime, &pointer_, bytes, Origin::kDevice, 0, caller);
  if (pointer_ == nullptr) refuse();
  runtime.pointers.remove(pointer_);
  runtime.memory.suspend(pointer_);
}

GraphMemory::~GraphMemory() {
  Runtime& runtime = Runtime::get();
  if (Block* const block = runtime.pointers.starting_at(pointer_); block != nullptr) {
    block->of_graph = false;
  } else if (runtime.memory.resume(pointer_)) {
    runtime.memory.free(pointer_);
  }
}

bool GraphMemory::exists(const Runtime& runtime) const {
  return runtime.pointers.starting_at(pointer_) != nullptr;
}

void GraphMemory::allocate(Runtime& runtime) const {
  if (!runtime.memory.resume(pointer_)) refuse(out_of_memory(runtime));
  Block& block = runtime.pointers.add(pointer_, bytes_, Origin::kDevice, device_);
  block.caller = caller_;
  block.of_graph = true;
}

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
