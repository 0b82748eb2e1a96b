// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams.hpp"

#include <algorithm>
#include <atomic>

#include "runtime/graph/capture.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;  // as an H200 reports them

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&](Runtime& runtime) {
    if (stream == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) {
      return cudaErrorInvalidValue;
    }
    *stream =
        runtime.streams.create(flags, std::clamp(priority, kGreatestPriority, kLeastPriority));
    return cudaSuccess;
  });
}

// Calls `read(const Stream&)` for a live stream.
template <class Read>
cudaError_t with_stream(cudaStream_t handle, Read read) {
  return call([&](Runtime& runtime) {
    const Stream* stream = runtime.streams.find(handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : read(*stream);
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

template <class T, class U>
cudaError_t store(T* out, U value) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = value;
  return cudaSuccess;
}

}  // namespace

cudaStream_t Streams::create(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>(Stream{flags,
                                                priority,
                                                next_id_++,
                                                Runtime::ordinal(),
                                                nullptr,
                                                {},
                                                &owning_context(Runtime::get())});
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_[handle] = std::move(stream);
  return handle;
}

Stream* Streams::find(cudaStream_t handle) {
  if (handle == cudaStreamPerThread) {
    std::unique_ptr<Stream>& own = per_thread_[thread_number()];
    if (own == nullptr) {
      own = std::make_unique<Stream>();
      own->id = next_id_++;
    }
    return own.get();
  }
  if (handle == nullptr || handle == cudaStreamLegacy) return &default_;
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

// A stream that is being captured is kept, because its capture refers to it.
void Streams::end_thread(unsigned long long thread) {
  const auto found = per_thread_.find(thread);
  if (found != per_thread_.end() && found->second->capture == nullptr) per_thread_.erase(found);
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

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    return runtime.streams.destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

// A stream is always idle. If it is being captured, synchronisation is an error.
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    Stream& on = stream_for(runtime, stream);
    if (capture_of(on) == nullptr) return cudaSuccess;
    break_capture(on);
    return cudaErrorStreamCaptureUnsupported;
  });
}
VGPU_TWIN(cudaStreamSynchronize, _ptsz);

cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
VGPU_TWIN(cudaStreamQuery, _ptsz);

// Waiting for an event of a capture adds the stream to that capture.
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  return call([&](Runtime& runtime) {
    Stream& stream = stream_for(runtime, handle);
    const Event* waited = runtime.streams.find(event);
    if (waited == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags == cudaEventWaitExternal && capture_of(stream) != nullptr)
      return record(stream, EventWork{event, false});
    if (!waited->captured) {
      if (capture_of(stream) == nullptr) return cudaSuccess;
      break_capture(stream);
      return cudaErrorStreamCaptureIsolation;
    }
    const auto capture = waited->capture.lock();
    if (capture == nullptr || (stream.capture != nullptr && stream.capture != capture))
      return capture == nullptr ? cudaSuccess : cudaErrorStreamCaptureMerge;
    stream.capture = capture;
    for (Node* node : waited->after) {
      if (std::find(stream.last.begin(), stream.last.end(), node) == stream.last.end())
        stream.last.push_back(node);
    }
    return cudaSuccess;
  });
}
VGPU_TWIN(cudaStreamWaitEvent, _ptsz);

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return with_stream(handle, [&](const Stream& stream) { return store(flags, stream.flags); });
}
VGPU_TWIN(cudaStreamGetFlags, _ptsz);

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return with_stream(handle,
                     [&](const Stream& stream) { return store(priority, stream.priority); });
}
VGPU_TWIN(cudaStreamGetPriority, _ptsz);

// Invalidates the capture in which the stream takes part, as an H200 (driver 580) does. This is not
// documented.
cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return call([&](Runtime& runtime) {
    Stream& stream = stream_for(runtime, handle);
    if (stream.capture == nullptr) return store(id, stream.id);
    break_capture(stream);
    return cudaErrorStreamCaptureUnsupported;
  });
}
extern "C" __attribute__((visibility("default"))) cudaError_t cudaStreamGetId_ptsz(
    cudaStream_t handle, unsigned long long* id) {
  return cudaStreamGetId(handle == nullptr ? cudaStreamPerThread : handle, id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return with_stream(handle, [&](const Stream& stream) {
    return store(device, stream.device < 0 ? Runtime::ordinal() : stream.device);
  });
}
VGPU_TWIN(cudaStreamGetDevice, _ptsz);

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return finish(cudaSuccess);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  return call([&](Runtime& runtime) {
    Stream* stream = runtime.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (value == nullptr) return cudaErrorInvalidValue;
    if (attribute == cudaLaunchAttributePriority)
      stream->priority = std::clamp(value->priority, kGreatestPriority, kLeastPriority);
    // The other attributes concern scheduling and have no effect here. Reading them returns the
    // defaults.
    return cudaSuccess;
  });
}
VGPU_TWIN(cudaStreamSetAttribute, _ptsz);

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  return with_stream(handle, [&](const Stream& stream) {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    if (attribute == cudaLaunchAttributePriority) value->priority = stream.priority;
    if (attribute == cudaLaunchAttributeSynchronizationPolicy)
      value->syncPolicy = cudaSyncPolicyAuto;
    return cudaSuccess;
  });
}
VGPU_TWIN(cudaStreamGetAttribute, _ptsz);

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call([&](Runtime& runtime) {
    Stream* target = runtime.streams.find(to);
    const Stream* source = runtime.streams.find(from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidResourceHandle;
    target->priority = source->priority;
    return cudaSuccess;
  });
}
VGPU_TWIN(cudaStreamCopyAttributes, _ptsz);

// Without effect: managed memory is accessible everywhere at all times.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, size_t, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (runtime.streams.find(handle) == nullptr) return cudaErrorInvalidResourceHandle;
    const Block* block = runtime.pointers.covering(pointer);
    const bool good = block != nullptr && block->origin == Origin::kManaged &&
                      (flags == cudaMemAttachGlobal || flags == cudaMemAttachHost ||
                       flags == cudaMemAttachSingle);
    return good ? cudaSuccess : cudaErrorInvalidValue;
  });
}
VGPU_TWIN(cudaStreamAttachMemAsync, _ptsz);

// Host functions run immediately, without the lock, since all earlier work of the stream is
// complete.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  bool captured = false;
  const auto error = call([&](Runtime& runtime) {
    Stream& on = stream_for(runtime, stream);
    if (function == nullptr) return cudaErrorInvalidValue;
    captured = capture_of(on) != nullptr;
    return captured ? record(on, HostWork{function, data}) : cudaSuccess;
  });
  if (error == cudaSuccess && !captured) function(data);
  return error;
}
VGPU_TWIN(cudaLaunchHostFunc, _ptsz);

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  const auto error = call([&](Runtime& runtime) {
    Stream& on = stream_for(runtime, stream);
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (capture_of(on) == nullptr) return cudaSuccess;
    break_capture(on);
    return cudaErrorStreamCaptureUnsupported;
  });
  if (error == cudaSuccess) callback(stream, cudaSuccess, data);
  return error;
}
VGPU_TWIN(cudaStreamAddCallback, _ptsz);
