// SPDX-License-Identifier: Apache-2.0
// Graphs of work. A node is work as the API describes it, so that its parameters can be read back;
// it is executed when its graph is launched, in an order that its dependencies allow.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "runtime/api.hpp"

namespace vgpu::runtime {

class Runtime;
struct Function;
struct Graph;

struct EmptyWork {};
struct KernelWork {
  const void* handle = nullptr;  // the host stub
  dim3 grid, block;
  std::size_t shared = 0;
  bool cooperative = false;
  dim3 cluster{0, 0, 0};
  std::vector<std::vector<std::byte>> values;  // the arguments, copied
  std::vector<void*> pointers;                 // to them
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
  bool records = false;  // else it waits, which is nothing here
};
struct AllocateWork {
  cudaMemAllocNodeParams what;
};
struct FreeWork {
  void* pointer = nullptr;
};
using Work = std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork, ChildWork, EventWork,
                          AllocateWork, FreeWork>;

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
  std::vector<cudaUserObject_t> objects;     // retained, one for each count
};

// An instantiated graph: nodes of its own, with the ones they were made from.
struct GraphExec {
  std::shared_ptr<Graph> graph;
  std::map<Node*, Node*> copies;  // of the original's nodes
  unsigned long long flags = 0;
};

// All handles that are alive.
class Graphs {
 public:
  cudaGraph_t create();
  cudaGraph_t keep(std::unique_ptr<Graph> graph);
  bool destroy(cudaGraph_t handle);
  Graph* find(cudaGraph_t handle);  // a child node's too
  Node* find(cudaGraphNode_t handle);

  cudaGraphExec_t keep(std::unique_ptr<GraphExec> exec);
  GraphExec* find(cudaGraphExec_t handle);
  bool destroy(cudaGraphExec_t handle);

  // Called by what makes and removes nodes.
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

// A copy with nodes of its own; `copies`, if given, says which became which.
std::unique_ptr<Graph> clone(const Graph& graph, std::map<Node*, Node*>* copies);

// An order in which every node follows what it needs; empty where there is none (a cycle) and there
// are nodes.
std::vector<Node*> order_of(const Graph& graph);

// Everything but host functions, which run without the runtime's lock. Throws Failure.
cudaError_t execute(Runtime& runtime, const Node& node);

// The work of these arguments, copied. Throws Failure where the kernel is not known.
KernelWork kernel_work(Runtime& runtime, const void* handle, dim3 grid, dim3 block,
                       std::size_t shared, void** arguments, bool cooperative);
CopyWork copy_work(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height, cudaMemcpyKind kind);

}  // namespace vgpu::runtime
