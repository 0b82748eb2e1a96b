// SPDX-License-Identifier: Apache-2.0
// Events. The times between events are host times: they measure the virtual GPU, not a real GPU.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/graph/capture.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {

cudaEvent_t Streams::create_event(unsigned flags, std::shared_ptr<SharedEvent> shared) {
  auto event = std::make_unique<Event>();
  event->flags = flags;
  event->shared = std::move(shared);
  const auto handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_[handle] = std::move(event);
  return handle;
}

Event* Streams::find(cudaEvent_t handle) {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

Event& Streams::known(cudaEvent_t handle) {
  if (Event* const event = find(handle)) return *event;
  refuse(cudaErrorInvalidResourceHandle);
}

bool Streams::destroy(cudaEvent_t handle) { return events_.erase(handle) != 0; }

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

VGPU_CALL(cudaEventCreateWithFlags, cudaEvent_t* event, unsigned flags) {
  constexpr unsigned kKnown =
      cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (event == nullptr || (flags & ~kKnown) != 0) refuse();
  const bool is_shared = (flags & cudaEventInterprocess) != 0;
  if (is_shared && (flags & cudaEventDisableTiming) == 0) refuse();
  *event = runtime.streams.create_event(flags, is_shared ? SharedEvent::create() : nullptr);
}
VGPU_BY(cudaEventCreate, 1, cudaEventCreateWithFlags(a0, cudaEventDefault));

VGPU_CALL_PTSZ(cudaEventRecordWithFlags, cudaEvent_t handle, cudaStream_t stream, unsigned flags) {
  Event& event = runtime.streams.known(handle);
  Stream& on = stream_for(runtime, stream);
  if (capture_of(on) != nullptr && flags == cudaEventRecordExternal)
    return record(on, EventWork{handle, true});
  event.captured = capture_of(on) != nullptr;
  if (!event.captured) return mark(runtime, event, on);
  event.capture = on.capture;
  event.after = on.last;
}
VGPU_BY(cudaEventRecord, 2, cudaEventRecordWithFlags(a0, a1, cudaEventRecordDefault));
VGPU_TWIN(cudaEventRecord, _ptsz, 2);

namespace {

template <class Use>
cudaError_t with_event(cudaEvent_t handle, Use use) {
  return call([&](Runtime& runtime) {
    const Event& event = runtime.streams.known(handle);
    if (!event.captured) return use(runtime, Tasks{event.work, event.last_task}, event.shared);
    if (const auto capture = event.capture.lock()) capture->broken = true;
    refuse(cudaErrorCapturedEvent);
  });
}

bool is_over(const Event& event) {
  return std::ranges::all_of(event.work, [](const Ticket& task) { return task->done; });
}

Task::Clock::time_point time_of(const Event& event) {
  Task::Clock::time_point time = event.time;
  for (const Ticket& task : event.work) time = std::max(time, task->end);
  return time;
}

}  // namespace

using Shared = std::shared_ptr<SharedEvent>;

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_event(event, [](Runtime& runtime, const Tasks& tasks, const Shared& shared) {
    const cudaError_t own = ask(runtime, tasks);
    if (own != cudaSuccess || shared == nullptr || shared->is_over(shared->recorded())) return own;
    const Unlocked meanwhile(runtime.mutex);
    std::this_thread::yield();
    return cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_event(event, [](Runtime& runtime, const Tasks& tasks, const Shared& shared) {
    const std::uint64_t recorded = shared == nullptr ? 0 : shared->recorded();
    await(runtime, tasks);
    while (shared != nullptr && !shared->is_over(recorded)) {
      const Unlocked meanwhile(runtime.mutex);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
}

VGPU_CALL(cudaEventElapsedTime, float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (milliseconds == nullptr) refuse();
  const Event& first = runtime.streams.known(start);
  const Event& last = runtime.streams.known(end);
  for (const Event* event : {&first, &last}) {
    if (!event->recorded || (event->flags & cudaEventDisableTiming) != 0)
      refuse(cudaErrorInvalidResourceHandle);
  }
  if (!is_over(first) || !is_over(last)) refuse(cudaErrorNotReady);
  if (!std::exchange(runtime.time_said, true))
    say("times between events are those of this host's clock: they say nothing of a GPU's");
  // The clock's resolution may hide a short time, so that the minimum is one clock tick.
  const auto elapsed = time_of(last) - time_of(first);
  const bool forward = &first != &last && elapsed >= elapsed.zero();
  *milliseconds = std::chrono::duration<float, std::milli>(
                      forward ? std::max(elapsed, std::chrono::steady_clock::duration(1)) : elapsed)
                      .count();
}

VGPU_CALL(cudaEventDestroy, cudaEvent_t event) {
  if (!runtime.streams.destroy(event)) refuse(cudaErrorInvalidResourceHandle);
}
