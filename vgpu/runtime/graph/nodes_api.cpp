// SPDX-License-Identifier: Apache-2.0
// Creating graphs, nodes and edges, and querying them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "runtime/graph/parameters.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

struct UserObject {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned count = 0;
};

std::map<cudaUserObject_t, std::unique_ptr<UserObject>>& objects() {
  static auto* const all = new std::map<cudaUserObject_t, std::unique_ptr<UserObject>>;
  return *all;
}

}  // namespace

bool retain_user_object(cudaUserObject_t handle, unsigned count) {
  const auto found = objects().find(handle);
  if (found == objects().end() || count == 0) return false;
  found->second->count += count;
  return true;
}

bool release_user_object(cudaUserObject_t handle, unsigned count) {
  const auto found = objects().find(handle);
  if (found == objects().end() || count == 0 || count > found->second->count) return false;
  found->second->count -= count;
  if (found->second->count != 0) return true;
  const auto object = std::move(found->second);
  objects().erase(found);
  // the destructor must not call the runtime, according to the CUDA manual
  object->destroy(object->pointer);
  return true;
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

namespace {

// Adds a node with the work that `make(Runtime&, arguments...)` returns.
template <class Make, class... Arguments>
cudaError_t add(Make make, cudaGraphNode_t* out, cudaGraph_t handle, const cudaGraphNode_t* after,
                std::size_t count, Arguments... arguments) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || (after == nullptr && count != 0)) refuse();
    Graph& graph = runtime.graphs.known(handle);
    std::vector<Node*> needs;
    for (std::size_t i = 0; i < count; ++i) {
      needs.push_back(&runtime.graphs.known(after[i]));
      const bool twice = std::find(needs.begin(), needs.end() - 1, needs.back()) != needs.end() - 1;
      if (needs.back()->graph != &graph || twice) refuse();
    }
    *out = handle_of(add_node(graph, make(runtime, arguments...), std::move(needs)));
  });
}

// Copies `list` to the caller as the API specifies. If `out` is null, only the length is returned.
template <class T>
void give(const std::vector<T>& list, T* out, std::size_t* count) {
  if (count == nullptr) refuse();
  if (out != nullptr) {
    const std::size_t n = std::min(*count, list.size());
    std::copy_n(list.begin(), n, out);
    std::fill(out + n, out + *count, T{});
    *count = n;
  } else {
    *count = list.size();
  }
}

// Gives the graph's nodes for which `is(node)` holds.
template <class Is>
void give_nodes(const Graph& graph, cudaGraphNode_t* out, std::size_t* count, Is is) {
  std::vector<cudaGraphNode_t> list;
  for (const auto& node : graph.nodes) {
    if (is(*node)) list.push_back(handle_of(node.get()));
  }
  give(list, out, count);
}

}  // namespace

VGPU_CALL(cudaGraphCreate, cudaGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) refuse();
  *graph = runtime.graphs.create();
}

VGPU_CALL(cudaGraphDestroy, cudaGraph_t graph) {
  if (!runtime.graphs.destroy(graph)) refuse();
}

VGPU_CALL(cudaGraphClone, cudaGraph_t* out, cudaGraph_t graph) {
  if (out == nullptr) refuse();
  const Graph& original = runtime.graphs.known(graph);
  if (original.has_memory_nodes()) refuse(cudaErrorNotSupported);
  *out = runtime.graphs.keep(clone(original, nullptr));
}

// The nodes of a clone are in the same order as those of the original.
VGPU_CALL(cudaGraphNodeFindInClone, cudaGraphNode_t* out, cudaGraphNode_t handle,
          cudaGraph_t copy) {
  if (out == nullptr) refuse();
  const Node& node = runtime.graphs.known(handle);
  const auto& nodes = node.graph->nodes;
  const auto& copies = runtime.graphs.known(copy).nodes;
  const auto at = std::ranges::find_if(nodes, [&](const auto& n) { return n.get() == &node; });
  const auto index = static_cast<std::size_t>(at - nodes.begin());
  if (index >= copies.size()) refuse();
  *out = handle_of(copies[index].get());
}

VGPU_NODE(cudaGraphAddKernelNode, 5, add, work_of);
VGPU_NODE(cudaGraphAddMemcpyNode, 5, add, work_of);
VGPU_NODE(cudaGraphAddMemcpyNode1D, 8, add, copy_1d);
VGPU_NODE(cudaGraphAddMemcpyNodeToSymbol, 9, add, copy_to_symbol);
VGPU_NODE(cudaGraphAddMemcpyNodeFromSymbol, 9, add, copy_from_symbol);
VGPU_NODE(cudaGraphAddMemsetNode, 5, add, work_of);
VGPU_NODE(cudaGraphAddHostNode, 5, add, work_of);
VGPU_NODE(cudaGraphAddChildGraphNode, 5, add, child_work);
VGPU_NODE(cudaGraphAddEventRecordNode, 5, add, record_work);
VGPU_NODE(cudaGraphAddEventWaitNode, 5, add, wait_work);

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return add([](Runtime&) -> Work { return EmptyWork{}; }, out, graph, after, count);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* params) {
  const void* caller = __builtin_return_address(0);
  const auto make = [&](Runtime& runtime) -> Work {
    if (params == nullptr) refuse();
    const cudaMemLocation& location = params->poolProps.location;
    if (location.type != cudaMemLocationTypeDevice || !runtime.has_device(location.id)) refuse();
    auto memory = std::make_shared<GraphMemory>(runtime, params->bytesize, location.id, caller);
    params->dptr = memory->pointer();
    return AllocateWork{*params, std::move(memory)};
  };
  return add(make, out, graph, after, count);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* pointer) {
  return add([&](Runtime&) -> Work { return FreeWork{pointer}; }, out, graph, after, count);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData*, size_t count, cudaGraphNodeParams* params) {
  const auto make = [&](Runtime& runtime) -> Work {
    if (params == nullptr || params->type != cudaGraphNodeTypeConditional)
      return work_of(runtime, static_cast<const cudaGraphNodeParams*>(params));
    ConditionalWork work = conditional_work(runtime.graphs.known(graph), params->conditional);
    params->conditional.phGraph_out = work.handles.data();
    return work;
  };
  return add(make, out, graph, after, count);
}

VGPU_CALL(cudaGraphDestroyNode, cudaGraphNode_t handle) {
  Node* node = &runtime.graphs.known(handle);
  Graph& graph = *node->graph;
  for (const auto& other : graph.nodes) std::erase(other->needs, node);
  std::erase_if(graph.nodes, [&](const auto& other) { return other.get() == node; });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call_for(type, [&](Runtime& runtime) { return type_of(runtime.graphs.known(node)); });
}

VGPU_CALL(cudaGraphGetNodes, cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  give_nodes(runtime.graphs.known(graph), nodes, count, [](const Node&) { return true; });
}

VGPU_CALL(cudaGraphGetRootNodes, cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  give_nodes(runtime.graphs.known(graph), nodes, count,
             [](const Node& node) { return node.needs.empty(); });
}

VGPU_CALL(cudaGraphGetEdges, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
          cudaGraphEdgeData* edges, size_t* count) {
  if (count == nullptr || (from == nullptr) != (to == nullptr)) refuse();
  std::vector<cudaGraphNode_t> sources, targets;
  for (const auto& node : runtime.graphs.known(graph).nodes) {
    for (Node* need : node->needs) {
      sources.push_back(handle_of(need));
      targets.push_back(handle_of(node.get()));
    }
  }
  if (edges != nullptr) std::memset(edges, 0, std::min(*count, sources.size()) * sizeof *edges);
  std::size_t again = *count;
  give(sources, from, count);
  give(targets, to, &again);
}

VGPU_CALL(cudaGraphNodeGetDependencies, cudaGraphNode_t node, cudaGraphNode_t* nodes,
          cudaGraphEdgeData*, size_t* count) {
  std::vector<cudaGraphNode_t> list;
  for (Node* need : runtime.graphs.known(node).needs) list.push_back(handle_of(need));
  give(list, nodes, count);
}

VGPU_CALL(cudaGraphNodeGetDependentNodes, cudaGraphNode_t handle, cudaGraphNode_t* nodes,
          cudaGraphEdgeData*, size_t* count) {
  Node& node = runtime.graphs.known(handle);
  give_nodes(*node.graph, nodes, count, [&](const Node& other) {
    return std::ranges::find(other.needs, &node) != other.needs.end();
  });
}

// Calls `change(needs, node)` for every edge; it returns false for an invalid edge.
template <class Change>
static cudaError_t change_edges(cudaGraph_t handle, const cudaGraphNode_t* from,
                                const cudaGraphNode_t* to, size_t count, Change change) {
  return call([&](Runtime& runtime) {
    if (count != 0 && (from == nullptr || to == nullptr)) refuse();
    const Graph& graph = runtime.graphs.known(handle);
    for (std::size_t i = 0; i < count; ++i) {
      Node& source = runtime.graphs.known(from[i]);
      Node& target = runtime.graphs.known(to[i]);
      if (source.graph != &graph || target.graph != &graph || &source == &target) refuse();
      if (!change(target.needs, &source)) refuse();
    }
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     size_t count) {
  return change_edges(graph, from, to, count, [](std::vector<Node*>& needs, Node* node) {
    if (std::ranges::find(needs, node) != needs.end()) return false;
    needs.push_back(node);
    return true;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        size_t count) {
  return change_edges(graph, from, to, count, [](std::vector<Node*>& needs, Node* node) {
    return std::erase(needs, node) != 0;
  });
}

VGPU_CALL(cudaGraphDebugDotPrint, cudaGraph_t handle, const char* path, unsigned) {
  constexpr const char* kNames[] = {"kernel", "memcpy", "memset", "host",
                                    "graph",  "empty",  "wait",   "record"};
  const Graph& graph = runtime.graphs.known(handle);
  std::string text = "digraph {\n";
  for (const auto& node : graph.nodes) {
    const auto type = static_cast<std::size_t>(type_of(*node));
    text += fmt::format("  \"{}\" [label=\"{}\"];\n", fmt::ptr(node.get()),
                        type < std::size(kNames) ? kNames[type] : "memory");
    for (const Node* need : node->needs)
      text += fmt::format("  \"{}\" -> \"{}\";\n", fmt::ptr(need), fmt::ptr(node.get()));
  }
  text += "}\n";
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "we");
  if (file == nullptr) refuse();
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) refuse(cudaErrorOperatingSystem);
}

VGPU_CALL(cudaUserObjectCreate, cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
          unsigned count, unsigned flags) {
  if (object == nullptr || destroy == nullptr || count == 0 ||
      flags != cudaUserObjectNoDestructorSync)
    refuse();
  auto made = std::make_unique<UserObject>(UserObject{pointer, destroy, count});
  *object = reinterpret_cast<cudaUserObject_t>(made.get());
  objects()[*object] = std::move(made);
}

VGPU_CALL(cudaUserObjectRetain, cudaUserObject_t object, unsigned count) {
  if (!retain_user_object(object, count)) refuse();
}

VGPU_CALL(cudaUserObjectRelease, cudaUserObject_t object, unsigned count) {
  if (!release_user_object(object, count)) refuse();
}

VGPU_CALL(cudaGraphRetainUserObject, cudaGraph_t graph, cudaUserObject_t object, unsigned count,
          unsigned flags) {
  Graph* found = runtime.graphs.find(graph);
  if (found == nullptr || (flags & ~static_cast<unsigned>(cudaGraphUserObjectMove)) != 0) refuse();
  if (flags != cudaGraphUserObjectMove && !retain_user_object(object, count)) refuse();
  found->objects.insert(found->objects.end(), count, object);
}

VGPU_CALL(cudaGraphReleaseUserObject, cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  auto& objects_of = runtime.graphs.known(graph).objects;
  if (std::ranges::count(objects_of, object) < count) refuse();
  for (unsigned i = 0; i < count; ++i) objects_of.erase(std::ranges::find(objects_of, object));
  if (!release_user_object(object, count)) refuse();
}
