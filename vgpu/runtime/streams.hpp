// SPDX-License-Identifier: Apache-2.0
// Streams and events. An event stands for the tasks that were its stream's last ones when it was
// recorded; its time is the host's clock when they had ended.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/api.hpp"
#include "runtime/interprocess.hpp"
#include "runtime/work_queue.hpp"

namespace vgpu::runtime {

struct Capture;  // graph/capture.hpp
struct Context;  // context.hpp
struct Node;

constexpr cudaStream_t kDefaultStream = nullptr;
// The default stream's handle stands for cudaStreamLegacy or cudaStreamPerThread.
cudaStream_t resolved(cudaStream_t handle);

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  int device = 0;                      // ordinal
  std::shared_ptr<Capture> capture;    // null if the stream is not being captured
  std::vector<Node*> last;             // the dependencies of the next captured node
  std::vector<Ticket> tail = {};       // the tasks that its next work follows (stream_order.hpp)
  std::uint64_t last_task = 0;         // the highest number of those and all earlier ones
  const Context* context = nullptr;    // null for the default streams: the calling thread's
  cudaAccessPolicyWindow window = {};  // without effect
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::vector<Ticket> work = {};  // the tasks that it stands for
  std::uint64_t last_task = 0;    // the highest number of those and all earlier ones
  Task::Clock::time_point time;   // when it was recorded
  // the capture in which it was last recorded, after the nodes of `after`
  std::weak_ptr<Capture> capture;
  std::vector<Node*> after;
  bool captured = false;
  std::shared_ptr<SharedEvent> shared;  // null unless other processes may use the event
};

class Streams {
 public:
  cudaStream_t create(unsigned flags, int priority);
  // Null for a handle of no live stream. The default streams (0, legacy, per-thread) always exist,
  // for each device. The handle means that of the calling thread's device.
  Stream* find(cudaStream_t handle);
  Stream& known(cudaStream_t handle);  // as find(), but throws Failure for no live stream
  Stream& legacy(int device);
  bool destroy(cudaStream_t handle);  // also false for the default streams
  void destroy_all(const Context& context);
  void end_thread(unsigned long long thread);
  template <class Use>
  void for_each(Use use) {
    for (auto& [device, stream] : legacy_) use(*stream);
    for (auto& [key, stream] : per_thread_) use(*stream);
    for (auto& [handle, stream] : streams_) use(*stream);
  }

  cudaEvent_t create_event(unsigned flags, std::shared_ptr<SharedEvent> shared);
  Event* find(cudaEvent_t handle);
  Event& known(cudaEvent_t handle);
  bool destroy(cudaEvent_t handle);

 private:
  unsigned long long next_id_ = 1;
  std::map<int, std::unique_ptr<Stream>> legacy_;  // by device
  // by thread number and device
  std::map<std::pair<unsigned long long, int>, std::unique_ptr<Stream>> per_thread_;
  std::unordered_map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::unordered_map<cudaEvent_t, std::unique_ptr<Event>> events_;
};

}  // namespace vgpu::runtime
