// SPDX-License-Identifier: Apache-2.0
// Streams and events. All work is done when it is asked for (unless the stream is being captured),
// so that a stream is always idle, an event is always complete, and an event's time is the host's
// clock when it was recorded.
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
struct Node;

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  int device = -1;                   // the ordinal; of the default streams, the calling thread's
  std::shared_ptr<Capture> capture;  // null where it is not being captured
  std::vector<Node*> last;           // what the next captured work follows
};

struct Event {
  unsigned flags = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded;
  std::weak_ptr<Capture> capture;  // in which it was recorded last, behind these nodes
  std::vector<Node*> after;
  bool captured = false;
};

class Streams {
 public:
  cudaStream_t create(unsigned flags, int priority);
  // Null for a handle that is no live stream. The default streams (0, legacy, the calling thread's)
  // are always there.
  Stream* find(cudaStream_t handle);
  bool destroy(cudaStream_t handle);  // false for the default streams too
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
  std::unordered_map<unsigned long long, std::unique_ptr<Stream>>
      per_thread_;  // by the thread's number
  std::unordered_map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::unordered_map<cudaEvent_t, std::unique_ptr<Event>> events_;
};

}  // namespace vgpu::runtime
