// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams.hpp"

#include <algorithm>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;  // as an H200 reports them

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&](Runtime& runtime) {
    if (stream == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) {
      return cudaErrorInvalidValue;
    }
    *stream = runtime.streams.create(flags, std::clamp(priority, kGreatestPriority, kLeastPriority));
    return cudaSuccess;
  });
}

// `read(const Stream&)` on a live stream.
template <class Read>
cudaError_t with_stream(cudaStream_t handle, Read read) {
  return call([&](Runtime& runtime) {
    const Stream* stream = runtime.streams.find(handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : read(*stream);
  });
}

template <class T, class U>
cudaError_t store(T* out, U value) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = value;
  return cudaSuccess;
}

}  // namespace

cudaStream_t Streams::create(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>(Stream{flags, priority, next_id_++, Runtime::ordinal()});
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_[handle] = std::move(stream);
  return handle;
}

Stream* Streams::find(cudaStream_t handle) {
  if (is_default(handle)) return &default_;
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
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

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with_stream(stream, [](const Stream&) { return cudaSuccess; });
}
VGPU_TWIN(cudaStreamSynchronize, _ptsz);

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_stream(stream, [](const Stream&) { return cudaSuccess; });
}
VGPU_TWIN(cudaStreamQuery, _ptsz);

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call([&](Runtime& runtime) {
    const bool known = runtime.streams.find(stream) != nullptr && runtime.streams.find(event) != nullptr;
    return known ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
VGPU_TWIN(cudaStreamWaitEvent, _ptsz);

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return with_stream(handle, [&](const Stream& stream) { return store(flags, stream.flags); });
}
VGPU_TWIN(cudaStreamGetFlags, _ptsz);

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return with_stream(handle, [&](const Stream& stream) { return store(priority, stream.priority); });
}
VGPU_TWIN(cudaStreamGetPriority, _ptsz);

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return with_stream(handle, [&](const Stream& stream) { return store(id, stream.id); });
}
VGPU_TWIN(cudaStreamGetId, _ptsz);

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

// Nothing can be captured: beginning a capture is refused.
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return with_stream(handle, [&](const Stream&) { return store(status, cudaStreamCaptureStatusNone); });
}
VGPU_TWIN(cudaStreamIsCapturing, _ptsz);

// Host functions run at once, outside the lock, since everything before them in the stream is done.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const auto error = with_stream(
      stream, [&](const Stream&) { return function == nullptr ? cudaErrorInvalidValue : cudaSuccess; });
  if (error == cudaSuccess) function(data);
  return error;
}
VGPU_TWIN(cudaLaunchHostFunc, _ptsz);

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  const auto error = with_stream(stream, [&](const Stream&) {
    return callback == nullptr || flags != 0 ? cudaErrorInvalidValue : cudaSuccess;
  });
  if (error == cudaSuccess) callback(stream, cudaSuccess, data);
  return error;
}
VGPU_TWIN(cudaStreamAddCallback, _ptsz);
