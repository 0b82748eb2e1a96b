// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams.hpp"

#include <algorithm>
#include <atomic>

#include "runtime/device_properties.hpp"
#include "runtime/graph/capture.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;  // as an H200 reports them

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&](Runtime& runtime) {
    if (stream == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) {
      refuse();
    }
    *stream =
        runtime.streams.create(flags, std::clamp(priority, kGreatestPriority, kLeastPriority));
  });
}

// Stores a member of a live stream.
template <class T, class U>
cudaError_t get(cudaStream_t handle, T* out, U Stream::*member) {
  return call([&](Runtime& runtime) {
    const Stream& stream = runtime.streams.known(handle);
    if (out == nullptr) refuse();
    *out = stream.*member;
  });
}

// The number of the calling thread. The per-thread stream is destroyed when the thread ends.
unsigned long long thread_number() {
  struct Thread {
    Thread() {
      static std::atomic<unsigned long long> next{1};
      number = next++;
    }
    ~Thread() {
      Runtime& runtime = Runtime::get();
      const std::scoped_lock lock(runtime.mutex);
      runtime.streams.end_thread(number);
    }
    unsigned long long number;
  };
  thread_local const Thread thread;
  return thread.number;
}

}  // namespace

cudaStream_t Streams::create(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>(
      Stream{flags, priority, next_id_++, Runtime::ordinal(), nullptr, {}});
  stream->context = &owning_context(Runtime::get());
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_[handle] = std::move(stream);
  return handle;
}

cudaStream_t resolved(cudaStream_t handle) {
  if (handle != kDefaultStream) return handle;
  return PerThreadDefault::active() ? cudaStreamPerThread : cudaStreamLegacy;
}

Stream* Streams::find(cudaStream_t handle) {
  handle = resolved(handle);
  if (handle == cudaStreamPerThread) {
    const int device = Runtime::ordinal();
    std::unique_ptr<Stream>& own = per_thread_[{thread_number(), device}];
    if (own == nullptr) {
      own = std::make_unique<Stream>();
      own->id = next_id_++;
      own->device = device;
    }
    return own.get();
  }
  if (handle == cudaStreamLegacy) return &legacy(Runtime::ordinal());
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

Stream& Streams::known(cudaStream_t handle) {
  if (Stream* const stream = find(handle)) return *stream;
  refuse(cudaErrorInvalidResourceHandle);
}

Stream& Streams::legacy(int device) {
  std::unique_ptr<Stream>& stream = legacy_[device];
  if (stream == nullptr) {
    stream = std::make_unique<Stream>();
    stream->id = device == 0 ? 0 : next_id_++;
    stream->device = device;
  }
  return *stream;
}

// A stream that is being captured is kept, because its capture refers to it.
void Streams::end_thread(unsigned long long thread) {
  std::erase_if(per_thread_, [&](const auto& item) {
    return item.first.first == thread && item.second->capture == nullptr;
  });
}

void Streams::destroy_all(const Context& context) {
  std::erase_if(streams_, [&](const auto& item) { return item.second->context == &context; });
}

bool Streams::destroy(cudaStream_t handle) { return streams_.erase(handle) != 0; }

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create(stream, cudaStreamDefault, kLeastPriority);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create(stream, flags, kLeastPriority);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create(stream, flags, priority);
}

VGPU_CALL(cudaStreamDestroy, cudaStream_t stream) {
  if (!runtime.streams.destroy(stream)) refuse(cudaErrorInvalidResourceHandle);
}

// If the stream is being captured, synchronisation is an error. `use(Tasks)` gets its tasks.
template <class Use>
static cudaError_t synchronise(cudaStream_t handle, Use use) {
  return call([&](Runtime& runtime) {
    Stream& on = stream_for(runtime, handle);
    if (capture_of(on) != nullptr) refuse_capture(on);
    return use(runtime, tasks_of(runtime, on));
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return synchronise(stream, await); }
VGPU_TWIN(cudaStreamSynchronize, _ptsz, 1);

cudaError_t cudaStreamQuery(cudaStream_t stream) { return synchronise(stream, ask); }
VGPU_TWIN(cudaStreamQuery, _ptsz, 1);

// Waiting for an event of a capture adds the stream to that capture.
VGPU_CALL_PTSZ(cudaStreamWaitEvent, cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  Stream& stream = stream_for(runtime, handle);
  const Event& waited = runtime.streams.known(event);
  if (flags == cudaEventWaitExternal && capture_of(stream) != nullptr)
    return record(stream, EventWork{event, false});
  if (!waited.captured) {
    if (capture_of(stream) != nullptr) refuse_capture(stream, cudaErrorStreamCaptureIsolation);
    return follow(runtime, stream, waited);
  }
  const auto capture = waited.capture.lock();
  if (capture == nullptr) return;
  if (stream.capture != nullptr && stream.capture != capture) refuse(cudaErrorStreamCaptureMerge);
  stream.capture = capture;
  for (Node* node : waited.after) {
    if (std::ranges::find(stream.last, node) == stream.last.end()) stream.last.push_back(node);
  }
}

VGPU_BY(cudaStreamGetFlags, 2, get(a0, a1, &Stream::flags));
VGPU_TWIN(cudaStreamGetFlags, _ptsz, 2);

VGPU_BY(cudaStreamGetPriority, 2, get(a0, a1, &Stream::priority));
VGPU_TWIN(cudaStreamGetPriority, _ptsz, 2);

// Invalidates the capture in which the stream takes part, as an H200 (driver 580) does. This is not
// documented.
VGPU_CALL_PTSZ(cudaStreamGetId, cudaStream_t handle, unsigned long long* id) {
  Stream& stream = stream_for(runtime, handle);
  if (stream.capture != nullptr) refuse_capture(stream);
  if (id == nullptr) refuse();
  *id = stream.id;
}

VGPU_BY(cudaStreamGetDevice, 2, get(a0, a1, &Stream::device));
VGPU_TWIN(cudaStreamGetDevice, _ptsz, 2);

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return finish(cudaSuccess);
}

// As an H100 (driver 580) accepts them.
static bool accepts(const cudaAccessPolicyWindow& window) {
  return window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.num_bytes <= kMostAccessPolicyBytes &&
         window.missProp != cudaAccessPropertyPersisting;
}

VGPU_CALL_PTSZ(cudaStreamSetAttribute, cudaStream_t handle, cudaStreamAttrID attribute,
               const cudaStreamAttrValue* value) {
  Stream& stream = runtime.streams.known(handle);
  if (value == nullptr) refuse();
  if (attribute == cudaLaunchAttributePriority)
    stream.priority = std::clamp(value->priority, kGreatestPriority, kLeastPriority);
  if (attribute == cudaLaunchAttributeAccessPolicyWindow) {
    if (!accepts(value->accessPolicyWindow)) refuse();
    stream.window = value->accessPolicyWindow;
  }
  // The other attributes concern scheduling and have no effect here. Reading them returns the
  // defaults.
}

VGPU_CALL_PTSZ(cudaStreamGetAttribute, cudaStream_t handle, cudaStreamAttrID attribute,
               cudaStreamAttrValue* value) {
  const Stream& stream = runtime.streams.known(handle);
  if (value == nullptr) refuse();
  *value = {};
  if (attribute == cudaLaunchAttributePriority) value->priority = stream.priority;
  if (attribute == cudaLaunchAttributeAccessPolicyWindow) value->accessPolicyWindow = stream.window;
  if (attribute == cudaLaunchAttributeSynchronizationPolicy) value->syncPolicy = cudaSyncPolicyAuto;
}

VGPU_CALL_PTSZ(cudaStreamCopyAttributes, cudaStream_t to, cudaStream_t from) {
  Stream& target = runtime.streams.known(to);
  const Stream& source = runtime.streams.known(from);
  target.priority = source.priority;
  target.window = source.window;
}

// Without effect: managed memory is accessible everywhere at all times.
VGPU_CALL_PTSZ(cudaStreamAttachMemAsync, cudaStream_t handle, void* pointer, size_t,
               unsigned flags) {
  runtime.streams.known(handle);
  const Block* block = runtime.pointers.covering(pointer);
  if (block == nullptr || block->origin != Origin::kManaged ||
      (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle))
    refuse();
}

VGPU_CALL_PTSZ(cudaLaunchHostFunc, cudaStream_t stream, cudaHostFn_t function, void* data) {
  Stream& on = stream_for(runtime, stream);
  if (function == nullptr) refuse();
  if (capture_of(on) != nullptr) return record(on, HostWork{function, data});
  submit_host_function(
      runtime, on, [=](cudaError_t) { function(data); }, false);
}

VGPU_CALL_PTSZ(cudaStreamAddCallback, cudaStream_t stream, cudaStreamCallback_t callback,
               void* data, unsigned flags) {
  Stream& on = stream_for(runtime, stream);
  if (callback == nullptr || flags != 0) refuse();
  if (capture_of(on) != nullptr) refuse_capture(on);
  submit_host_function(
      runtime, on, [=](cudaError_t status) { callback(stream, status, data); }, true);
}
