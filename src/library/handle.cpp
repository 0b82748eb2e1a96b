// SPDX-License-Identifier: Apache-2.0
#include "library/handle.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "device/relaxed_capture.hpp"
#include "host/query.hpp"

namespace ladder::api {
namespace {

thread_local char last_error[1024] = "";

ladder_status status_of(Code code) {
  switch (code) {
    case Code::kOk: return LADDER_STATUS_OK;
    case Code::kInvalidArgument: return LADDER_STATUS_INVALID_ARGUMENT;
    case Code::kUnsupportedProblem:
    case Code::kUnsupportedDevice: return LADDER_STATUS_NOT_SUPPORTED;
    case Code::kOutOfMemory: return LADDER_STATUS_OUT_OF_MEMORY;
    default: return LADDER_STATUS_EXECUTION_FAILED;
  }
}

// Frees what a handle holds.
struct Destroy {
  void operator()(ladder_context* handle) const {
    const RelaxedCapture relaxed;
    static_cast<void>(cudaFree(handle->scratch));
    delete handle;
  }
};

// Replaces the handle's memory: scratch, then flags.
Outcome obtain_memory(ladder_context& handle, std::int64_t scratch_bytes) {
  const std::int64_t scratch = part_bytes(std::max(scratch_bytes, ladder_context::kOwn.scratch));
  if (scratch == handle.own.scratch) return {};
  const auto bytes = static_cast<std::size_t>(scratch + ladder_context::kOwn.flags * 4);
  void* memory = nullptr;
  cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaSuccess) error = clear_now(memory, bytes);
  if (error == cudaSuccess) error = cudaFree(handle.scratch);  // waits for kernels that use it
  if (error != cudaSuccess) {
    static_cast<void>(cudaFree(memory));
    return cuda_outcome("memory of the handle", error);
  }
  handle.scratch = static_cast<char*>(memory);
  handle.flags = reinterpret_cast<unsigned*>(handle.scratch + scratch);
  handle.own = {scratch, ladder_context::kOwn.flags};
  handle.owner.reset();
  return {};
}

// The stream's id, where it may be queried. The default stream may not while any is being captured.
Outcome id_of(cudaStream_t stream, std::optional<unsigned long long>& id) {
  id.reset();
  if (stream == cudaStreamPerThread) return {};
  if (stream == nullptr || stream == cudaStreamLegacy) {
    id = ladder_context::kDefaultStream;
    return {};
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(stream, &status);
  if (error == cudaErrorInvalidResourceHandle || error == cudaErrorInvalidValue ||
      error == cudaErrorContextIsDestroyed)
    return invalid("stream: " + std::string(cudaGetErrorString(error)));
  if (error != cudaSuccess) return cuda_outcome("stream", error);
  if (status != cudaStreamCaptureStatusNone) return {};
  unsigned long long found = 0;
  error = cudaStreamGetId(stream, &found);
  if (error == cudaSuccess) id = found;
  return cuda_outcome("stream", error);
}

// Stores a member of the handle for the caller, whose argument has this name.
template <class T>
ladder_status get(ladder_context* handle, T ladder_context::*member, const char* name, T* value) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    if (value == nullptr) return invalid(std::string(name) + ": null");
    *value = h.*member;
    return {};
  });
}

}  // namespace

Outcome::Outcome(const Status& status)
    : status_(status_of(status.code())), text_(status.message()) {}

ladder_status failed(ladder_status status, const char* text) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", text);
  return status;
}

Outcome check_device(const ladder_context& handle) {
  int current = 0;
  const cudaError_t error = cudaGetDevice(&current);
  if (error != cudaSuccess) return cuda_outcome("device", error);
  if (current == handle.device.ordinal) return {};
  return {LADDER_STATUS_NO_DEVICE, "device: the handle is of device " +
                                       std::to_string(handle.device.ordinal) + ", but device " +
                                       std::to_string(current) + " is the current one"};
}

}  // namespace ladder::api

using namespace ladder::api;
using ladder::clear_now;
using ladder::RelaxedCapture;

extern "C" {

ladder_status ladder_create(ladder_handle* handle) {
  return outcome_of([&]() -> Outcome {
    if (handle == nullptr) return invalid("handle: null");
    *handle = nullptr;
    const RelaxedCapture relaxed;
    int ordinal = 0;
    if (ladder::cuda_device_count() == 0 || cudaGetDevice(&ordinal) != cudaSuccess)
      return {LADDER_STATUS_NO_DEVICE, "device: the machine has no CUDA device"};
    auto device = ladder::query_device(ordinal);
    if (!device) return device.status();
    std::unique_ptr<ladder_context, Destroy> made(new ladder_context);
    made->device = std::move(device).value();
    if (Outcome o = load_kernels(made->device); !o) return o;
    if (Outcome o = obtain_memory(*made, 0); !o) return o;
    *handle = made.release();
    return {};
  });
}

ladder_status ladder_destroy(ladder_handle handle) {
  return outcome_of([&]() -> Outcome {
    const std::unique_ptr<ladder_context, Destroy> gone(handle);
    return {};
  });
}

ladder_status ladder_set_stream(ladder_handle handle, CUstream_st* stream) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    std::optional<unsigned long long> id;
    if (Outcome o = id_of(stream, id); !o) return o;
    h.stream = stream;
    h.stream_id = id;
    return {};
  });
}

ladder_status ladder_get_stream(ladder_handle handle, CUstream_st** stream) {
  return get(handle, &ladder_context::stream, "stream", stream);
}

ladder_status ladder_set_pointer_mode(ladder_handle handle, ladder_pointer_mode mode) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    if (mode != LADDER_POINTER_MODE_HOST && mode != LADDER_POINTER_MODE_DEVICE)
      return no_enumerator("mode", mode);
    h.pointer_mode = mode;
    return {};
  });
}

ladder_status ladder_get_pointer_mode(ladder_handle handle, ladder_pointer_mode* mode) {
  return get(handle, &ladder_context::pointer_mode, "mode", mode);
}

ladder_status ladder_set_precision(ladder_handle handle, ladder_precision precision) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    if (precision < LADDER_PRECISION_DEFAULT || precision > LADDER_PRECISION_FP16X3)
      return no_enumerator("precision", precision);
    h.precision = precision == LADDER_PRECISION_DEFAULT ? LADDER_PRECISION_IEEE : precision;
    return {};
  });
}

ladder_status ladder_get_precision(ladder_handle handle, ladder_precision* precision) {
  return get(handle, &ladder_context::precision, "precision", precision);
}

ladder_status ladder_set_workspace(ladder_handle handle, void* memory, size_t bytes) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    constexpr std::uintptr_t kAlignment = 256;
    if (memory != nullptr && bytes == 0) return invalid("bytes: 0, but memory is not null");
    if (reinterpret_cast<std::uintptr_t>(memory) % kAlignment != 0)
      return invalid("memory: is not aligned to 256 bytes");
    constexpr std::size_t kMost = std::size_t{1} << 62;
    if (bytes > kMost) return invalid("bytes: more than 2^62");
    if (Outcome o = check_device(h); !o) return o;
    const RelaxedCapture relaxed;
    if (memory == nullptr) {
      if (Outcome o = obtain_memory(h, static_cast<std::int64_t>(bytes)); !o) return o;
      bytes = 0;
    } else {
      cudaPointerAttributes at{};
      if (Outcome o = cuda_outcome("memory", cudaPointerGetAttributes(&at, memory)); !o) return o;
      const bool there = at.type == cudaMemoryTypeDevice || at.type == cudaMemoryTypeManaged;
      if (!there || at.device != h.device.ordinal)
        return invalid("memory: is not on the handle's device");
      // Kernels read the padding of tiles in it, which they do not use. The virtual GPU reports
      // reads of memory that was never written.
      if (h.device.is_virtual) {
        if (Outcome o = cuda_outcome("memory", clear_now(memory, bytes)); !o) return o;
      }
    }
    h.workspace = static_cast<char*>(memory);
    h.workspace_bytes = static_cast<std::int64_t>(bytes);
    return {};
  });
}

const char* ladder_last_error(void) { return last_error; }

const char* ladder_status_string(ladder_status status) {
  static constexpr const char* kNames[] = {"ok",
                                           "invalid argument",
                                           "not supported",
                                           "workspace too small",
                                           "out of memory",
                                           "execution failed",
                                           "no device",
                                           "internal error"};
  if (status < LADDER_STATUS_OK || status > LADDER_STATUS_INTERNAL) return "unknown";
  return kNames[status];
}

int ladder_version(void) {
  return 10000 * LADDER_VERSION_MAJOR + 100 * LADDER_VERSION_MINOR + LADDER_VERSION_PATCH;
}

}  // extern "C"
