// SPDX-License-Identifier: Apache-2.0
// Graphs of work. A node stores its work as the API describes it, so that its parameters can be
// read back. The work is executed when the graph is launched, in an order that the dependencies
// allow.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "runtime/api.hpp"
#include "runtime/work_queue.hpp"

namespace vgpu::runtime {

class Runtime;
struct Function;
struct Graph;
struct Stream;

// An operation on a value in memory, with the layout of the driver's CUstreamBatchMemOpParams.
struct MemoryOperation {
  enum Type : std::uint32_t { kWait32 = 1, kWrite32 = 2, kWait64 = 4, kWrite64 = 5, kBarrier = 6 };
  enum Condition : std::uint32_t { kGreaterOrEqual, kEqual, kAnd, kNor };

  std::uint32_t type = 0;
  std::uint32_t barrier = 0;  // the scope of kBarrier
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  std::uint32_t flags = 0;  // a Condition, or how a write is ordered
  std::uint64_t alias = 0, unused = 0;

  bool waits() const { return type == kWait32 || type == kWait64; }
  std::uint32_t bytes() const { return type == kWait64 || type == kWrite64 ? 8 : 4; }
};

// Memory that a graph allocates. Its address is fixed from the node's creation on; it exists from a
// launch of the node until the program or a graph frees it, and again after the next launch.
class GraphMemory {
 public:
  // Reserves the address. Throws Failure.
  GraphMemory(Runtime& runtime, std::size_t bytes, int device, const void* caller);
  // Memory that exists now becomes the program's to free.
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* pointer() const { return pointer_; }
  bool exists(const Runtime& runtime) const;
  void allocate(Runtime& runtime) const;

 private:
  void* pointer_ = nullptr;
  std::size_t bytes_;
  int device_;
  const void* caller_;
};

// The value in device memory by which a conditional node's graphs run; kernels set it
// (cudaGraphSetConditional). Its handle is its address.
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

  // As find(), but throw Failure if there is no such object.
  Graph& known(cudaGraph_t handle) { return found(find(handle)); }
  Node& known(cudaGraphNode_t handle) { return found(find(handle)); }
  GraphExec& known(cudaGraphExec_t handle) { return found(find(handle)); }
  // The node's work. Throws Failure if it is of another kind.
  template <class T>
  T& work(cudaGraphNode_t handle) {
    return found(std::get_if<T>(&known(handle).work));
  }

  // Registers and unregisters the graph of a capture in progress.
  void add(Graph* graph) { known_.insert(graph); }
  void remove(Graph* graph) { known_.erase(graph); }

 private:
  template <class T>
  static T& found(T* object) {
    if (object == nullptr) refuse();
    return *object;
  }

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

// The work of a conditional node in `graph`, whose bodies are empty yet. Throws Failure.
ConditionalWork conditional_work(const Graph& graph, const cudaConditionalNodeParams& params);
// Whether the graph or one of its children has a conditional node.
bool has_conditions(const Graph& graph);
// Resets the values of the graph and of all graphs in it.
void reset_conditions(const Graph& graph);
// Which body runs now; null if none does.
const Graph* chosen_body(const ConditionalWork& work);

// Reference-counted objects that graphs keep alive. The last release calls the program's
// destructor. False: not a live object.
bool retain_user_object(cudaUserObject_t object, unsigned count);
bool release_user_object(cudaUserObject_t object, unsigned count);

}  // namespace vgpu::runtime
