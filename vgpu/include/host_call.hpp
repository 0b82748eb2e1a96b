// SPDX-License-Identifier: Apache-2.0
// Calls of stand-ins for NVIDIA's libraries: they are enqueued on a stream, and the host executes
// them.
#pragma once
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "include/vgpu/vgpu.h"

namespace vgpu {

// Prints to stderr with the prefix "vgpu: ".
inline void say(const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "vgpu: %s\n", text.c_str());
}

// Enqueues the work behind what is on the stream, or adds it to the graph that captures the stream.
// False if an earlier fault makes that impossible. What the work throws is printed with `name`.
inline bool submit(const char* name, cudaStream_t stream, std::function<void()> work) {
  using Work = std::function<void()>;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) return false;
  // A graph may be launched as long as the program runs.
  const bool once = status == cudaStreamCaptureStatusNone;
  auto mine = std::make_unique<Work>([name, work = std::move(work)] {
    try {
      work();
    } catch (const std::bad_alloc&) {
      say(std::string(name) + ": the host has no memory for it; its result is not written");
    } catch (const std::exception& error) {
      say(std::string(name) + ": " + error.what());
    }
  });
  const auto run = [](void* function) { (*static_cast<Work*>(function))(); };
  const auto run_once = [](void* function) {
    (*std::unique_ptr<Work>(static_cast<Work*>(function)))();
  };
  const cudaHostFn_t how = once ? cudaHostFn_t(run_once) : cudaHostFn_t(run);
  if (cudaLaunchHostFunc(stream, how, mine.get()) != cudaSuccess) return false;
  (void)mine.release();
  return true;
}

// Status codes that cuSPARSE and cuSOLVER have in common.
template <class Status>
struct Codes {
  static constexpr auto kSuccess = Status(0), kNotInitialized = Status(1), kAllocFailed = Status(2),
                        kInvalid = Status(3), kFailed = Status(6);
};

// Functions of opaque objects that programs have pointers to.
template <class Status>
struct Objects : Codes<Status> {
  using Code = Codes<Status>;
  template <class Pointer, class T>
  static Status create(Pointer* to, T value) {
    if (to == nullptr) return Code::kInvalid;
    *to = new (std::nothrow) T(value);
    return *to != nullptr ? Code::kSuccess : Code::kAllocFailed;
  }
  template <class T>
  static Status destroy(const T* object) {
    delete object;
    return Code::kSuccess;
  }
  static Status known(const void* object) {
    return object != nullptr ? Code::kSuccess : Code::kNotInitialized;
  }
  template <class T, class Field>
  static Status set(T* object, Field T::*field, std::type_identity_t<Field> value) {
    if (object != nullptr) object->*field = value;
    return known(object);
  }
  template <class T, class Field>
  static Status get(const T* object, Field T::*field, Field* to) {
    if (object != nullptr && to == nullptr) return Code::kInvalid;
    if (object != nullptr) *to = object->*field;
    return known(object);
  }
  static Status property(libraryPropertyType type, int* value, std::array<int, 3> version) {
    if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return Code::kInvalid;
    *value = version[type];
    return Code::kSuccess;
  }
};

// The arguments of one call, whose first fault is its status. Operands must be in device memory;
// after the work, those that are written are marked.
template <class Status>
class HostCall : Codes<Status> {
  using Codes<Status>::kSuccess, Codes<Status>::kInvalid, Codes<Status>::kFailed;

 public:
  HostCall(const char* name, cudaStream_t stream) : name_(name), stream_(stream) {}

  HostCall& require(bool holds, Status otherwise = kInvalid) {
    if (!holds && status_ == kSuccess) status_ = otherwise;
    return *this;
  }
  // `lines` ranges of `bytes`, one every `pitch` bytes.
  HostCall& in(const void* data, std::size_t bytes, std::size_t lines = 1, std::size_t pitch = 0) {
    const std::size_t all = bytes == 0 || lines == 0 ? 0 : (lines - 1) * pitch + bytes;
    if (status_ == kSuccess && all != 0 && vgpuDeviceContains(data, all) == 0) {
      say(std::string(name_) + ": an operand is not wholly in device memory");
      status_ = kFailed;
    }
    return *this;
  }
  HostCall& out(void* data, std::size_t bytes, std::size_t lines = 1, std::size_t pitch = 0) {
    if (pitch == bytes && lines > 1) return out(data, bytes * lines);
    in(data, bytes, lines, pitch);
    for (std::size_t line = 0; status_ == kSuccess && line < lines; ++line)
      written_.emplace_back(static_cast<char*>(data) + line * pitch, bytes);
    return *this;
  }
  bool captured() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream_, &status) == cudaSuccess &&
           status != cudaStreamCaptureStatusNone;
  }
  Status status() const { return status_; }
  explicit operator bool() const { return status_ == kSuccess; }
  const char* name() const { return name_; }

  template <class Work>
  Status run(Work work) {
    if (status_ != kSuccess) return status_;
    const auto marked = [work = std::move(work), written = std::move(written_)] {
      work();
      for (const auto& [data, bytes] : written) vgpuMarkWritten(data, bytes);
      (void)vgpuWrittenIsMarked();
    };
    return submit(name_, stream_, marked) ? kSuccess : kFailed;
  }
  // For results that the host reads when the function returns. Not while the stream is captured.
  template <class Work>
  Status run_now(Work work) {
    bool done = false;
    require(!captured(), kFailed);
    require(run([&] {
              work();
              done = true;
            }) == kSuccess,
            kFailed);
    if (status_ == kSuccess) (void)cudaStreamSynchronize(stream_);
    return require(done, kFailed).status_;
  }

 private:
  const char* name_;
  cudaStream_t stream_;
  Status status_ = kSuccess;
  std::vector<std::pair<char*, std::size_t>> written_;
};

}  // namespace vgpu
