// SPDX-License-Identifier: Apache-2.0
// Events. The times between events are host times: they measure the virtual GPU, not a real GPU.
#include <algorithm>
#include <utility>

#include "runtime/graph/capture.hpp"

namespace vgpu::runtime {

cudaEvent_t Streams::create_event(unsigned flags) {
  auto event = std::make_unique<Event>(Event{flags, {}, {}, {}, false});
  const auto handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_[handle] = std::move(event);
  return handle;
}

Event* Streams::find(cudaEvent_t handle) {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

bool Streams::destroy(cudaEvent_t handle) { return events_.erase(handle) != 0; }

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](Runtime& runtime) {
    constexpr unsigned kKnown =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    *event = runtime.streams.create_event(flags);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream, unsigned flags) {
  return call([&](Runtime& runtime) {
    Event* event = runtime.streams.find(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    Stream& on = stream_for(runtime, stream);
    if (capture_of(on) == nullptr) {
      event->captured = false;
      event->recorded = std::chrono::steady_clock::now();
      return cudaSuccess;
    }
    if (flags == cudaEventRecordExternal) return record(on, EventWork{handle, true});
    event->captured = true;
    event->capture = on.capture;
    event->after = on.last;
    return cudaSuccess;
  });
}
VGPU_TWIN(cudaEventRecordWithFlags, _ptsz);

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
VGPU_TWIN(cudaEventRecord, _ptsz);

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call([&](Runtime& runtime) {
    const Event* event = runtime.streams.find(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (!event->captured) return cudaSuccess;
    if (const auto capture = event->capture.lock()) capture->broken = true;
    return cudaErrorCapturedEvent;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&](Runtime& runtime) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const Event* first = runtime.streams.find(start);
    const Event* last = runtime.streams.find(end);
    for (const Event* event : {first, last}) {
      if (event == nullptr || !event->recorded || (event->flags & cudaEventDisableTiming) != 0) {
        return cudaErrorInvalidResourceHandle;
      }
    }
    if (!std::exchange(runtime.time_said, true))
      say("times between events are those of this host's clock: they say nothing of a GPU's");
    // The clock's resolution may hide a short time, so that the minimum is one clock tick.
    const auto elapsed = *last->recorded - *first->recorded;
    const bool forward = first != last && elapsed >= elapsed.zero();
    *milliseconds =
        std::chrono::duration<float, std::milli>(
            forward ? std::max(elapsed, std::chrono::steady_clock::duration(1)) : elapsed)
            .count();
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    return runtime.streams.destroy(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
