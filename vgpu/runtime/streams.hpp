// SPDX-License-Identifier: Apache-2.0
// Streams and events. All work is executed during the call that submits it, unless the stream is
// being captured. A stream is therefore always idle, an event is always complete, and an event's
// time is the host's clock when the event was recorded.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/api.hpp"

namespace vgpu::runtime {

struct Capture;  // graph/capture.hpp
struct Context;  // context.hpp
struct Node;

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  // device ordinal; -1 for the default streams: the calling thread's device
  int device = -1;
  std::shared_ptr<Capture> capture;  // null if the stream is not being captured
  std::vector<Node*> last;           // the dependencies of the next captured node
  const Context* context = nullptr;  // null for the default streams: the calling thread's
};

struct Event {
  unsigned flags = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded;
  // the capture in which it was last recorded, after the nodes of `after`
  std::weak_ptr<Capture> capture;
  std::vector<Node*> after;
  bool captured = false;
};

class Streams {
 public:
  cudaStream_t create(unsigned flags, int priority);
  // Null for a handle of no live stream. The default streams (0, legacy, per-thread) always exist.
  Stream* find(cudaStream_t handle);
  bool destroy(cudaStream_t handle);  // also false for the default streams
  void destroy_all(const Context& context);
  void end_thread(unsigned long long thread);
  template <class Use>
  void for_each(Use use) {
    use(default_);
    for (auto& [thread, stream] : per_thread_) use(*stream);
    for (auto& [handle, stream] : streams_) use(*stream);
  }

  cudaEvent_t create_event(unsigned flags);
  Event* find(cudaEvent_t handle);
  bool destroy(cudaEvent_t handle);

 private:
  Stream default_;
  unsigned long long next_id_ = 1;
  std::unordered_map<unsigned long long, std::unique_ptr<Stream>> per_thread_;  // by thread number
  std::unordered_map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::unordered_map<cudaEvent_t, std::unique_ptr<Event>> events_;
};

}  // namespace vgpu::runtime
