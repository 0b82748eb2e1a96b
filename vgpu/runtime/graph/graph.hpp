// SPDX-License-Identifier: Apache-2.0
// Graphs of work. A node stores its work as the API describes it, so that its parameters can be
// read back. The work is executed when the graph is launched, in an order that the dependencies
// allow.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "runtime/api.hpp"
#include "runtime/graph/memory_operation.hpp"
#include "runtime/work_queue.hpp"

namespace vgpu::runtime {

class Condition;  // conditional.hpp
class GraphMemory;
class Runtime;
struct Function;
struct Graph;
struct Stream;

struct EmptyWork {};
struct KernelWork {
  const void* handle = nullptr;  // the host stub
  dim3 grid, block;
  std::size_t shared = 0;
  bool cooperative = false;
  dim3 cluster{0, 0, 0};
  std::vector<std::vector<std::byte>> values;  // the arguments, copied
  std::vector<void*> pointers;                 // pointers to the values
};
struct CopyWork {
  cudaMemcpy3DParms what;
};
struct SetWork {
  cudaMemsetParams what;
};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct EventWork {
  cudaEvent_t event = nullptr;
  bool records = false;  // false: a wait node
};
struct AllocateWork {
  cudaMemAllocNodeParams what;
  std::shared_ptr<GraphMemory> memory;  // of all copies of the node
};
struct FreeWork {
  void* pointer = nullptr;
};
struct ConditionalWork {
  std::shared_ptr<Condition> condition;
  cudaGraphConditionalNodeType type{};
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<cudaGraph_t> handles;  // of the bodies, as the program gets them
};
struct MemoryWork {
  void* context = nullptr;  // as the program named it
  std::vector<MemoryOperation> operations;
};
using Work = std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork, ChildWork, EventWork,
                          AllocateWork, FreeWork, ConditionalWork, MemoryWork>;

struct Node {
  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> needs;
  int device = 0;
  bool enabled = true;
};

struct Graph {
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::vector<std::unique_ptr<Node>> nodes;  // in order of creation
  std::vector<std::shared_ptr<Condition>> conditions;
  std::vector<cudaUserObject_t> objects;  // retained objects, one entry per reference
  std::weak_ptr<const void> owner;        // of its memory: what the instantiated graph holds

  bool has_memory_nodes() const;
};

// An instantiated graph. It has its own nodes and maps the original nodes to them.
struct GraphExec {
  std::shared_ptr<Graph> graph;
  std::map<Node*, Node*> copies;  // from the original's nodes
  unsigned long long flags = 0;
  std::shared_ptr<const void> owns = std::make_shared<int>();  // while it is alive
  Ticket last;                                                 // the last task of its last launch
};

// All live handles.
class Graphs {
 public:
  cudaGraph_t create();
  cudaGraph_t keep(std::unique_ptr<Graph> graph);
  bool destroy(cudaGraph_t handle);
  Graph* find(cudaGraph_t handle);  // also finds the graphs of child nodes
  Node* find(cudaGraphNode_t handle);

  cudaGraphExec_t keep(std::unique_ptr<GraphExec> exec);
  GraphExec* find(cudaGraphExec_t handle);
  bool destroy(cudaGraphExec_t handle);

  // Registers and unregisters the graph of a capture in progress.
  void add(Graph* graph) { known_.insert(graph); }
  void remove(Graph* graph) { known_.erase(graph); }

 private:
  std::map<cudaGraph_t, std::unique_ptr<Graph>> graphs_;
  std::map<cudaGraphExec_t, std::unique_ptr<GraphExec>> execs_;
  std::set<Graph*> known_;
};

cudaGraph_t handle_of(Graph* graph);
cudaGraphNode_t handle_of(Node* node);
cudaGraphNodeType type_of(const Node& node);

Node* add_node(Graph& graph, Work work, std::vector<Node*> needs);

// A copy with its own nodes. `copies`, if not null, receives the map from original nodes to copies.
std::unique_ptr<Graph> clone(const Graph& graph, std::map<Node*, Node*>* copies);

// A topological order of the nodes. It is empty if the graph has a cycle (or no nodes).
std::vector<Node*> order_of(const Graph& graph);

// Submits a node of any kind but child graphs to the stream. Throws Failure.
void submit_node(Runtime& runtime, Stream& stream, const Node& node);

// Creates the work and copies the arguments. Throws Failure if the kernel is unknown.
KernelWork kernel_work(Runtime& runtime, const void* handle, dim3 grid, dim3 block,
                       std::size_t shared, void** arguments, bool cooperative);
CopyWork copy_work(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height, cudaMemcpyKind kind);

}  // namespace vgpu::runtime
