// SPDX-License-Identifier: Apache-2.0
#include "runtime/shared_event.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/graph/capture.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

constexpr std::uint32_t kEventMagic = 0x69706365;

// The memory file of the process that created the event.
struct EventFile {
  std::uint32_t magic = kEventMagic;
  std::int32_t process = 0, file = -1;
};
static_assert(sizeof(EventFile) <= sizeof(cudaIpcEventHandle_t));

}  // namespace

std::shared_ptr<SharedEvent> SharedEvent::map(int file) {
  void* const at = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) {
    ::close(file);
    refuse(cudaErrorMapBufferObjectFailed);
  }
  return std::shared_ptr<SharedEvent>(new SharedEvent(file, static_cast<Counts*>(at)));
}

std::shared_ptr<SharedEvent> SharedEvent::create() {
  const int file = memfd_create("vgpu event", MFD_CLOEXEC);
  if (file < 0) refuse(cudaErrorMemoryAllocation);
  if (ftruncate(file, sizeof(Counts)) != 0) {
    ::close(file);
    refuse(cudaErrorMemoryAllocation);
  }
  return map(file);
}

std::shared_ptr<SharedEvent> SharedEvent::open(const cudaIpcEventHandle_t& handle) {
  EventFile of;
  std::memcpy(static_cast<void*>(&of), &handle, sizeof of);
  if (of.magic != kEventMagic) refuse();
  if (of.process == getpid()) refuse(cudaErrorDeviceUninitialized);
  const std::string path = fmt::format("/proc/{}/fd/{}", of.process, of.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 || lseek(file, 0, SEEK_END) != sizeof(Counts)) {
    const std::string why = file < 0 ? std::strerror(errno) : "it is no event";
    if (file >= 0) ::close(file);
    refuse(cudaErrorMapBufferObjectFailed,
           fmt::format("cudaIpcOpenEventHandle: {}: {}", path, why));
  }
  return map(file);
}

SharedEvent::~SharedEvent() {
  munmap(counts_, sizeof(Counts));
  ::close(file_);
}

cudaIpcEventHandle_t SharedEvent::handle() const {
  const EventFile of{kEventMagic, getpid(), file_};
  cudaIpcEventHandle_t handle{};
  std::memcpy(&handle, &of, sizeof of);
  return handle;
}

void SharedEvent::complete(std::uint64_t n) {
  std::uint64_t former = counts_->completed;
  while (former < n && !counts_->completed.compare_exchange_weak(former, n)) {
  }
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

VGPU_CALL(cudaIpcGetEventHandle, cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  refuse_in_capture(runtime);
  if (handle == nullptr) refuse();
  const Event& found = runtime.streams.known(event);
  if (found.shared == nullptr) refuse(cudaErrorInvalidResourceHandle);
  *handle = found.shared->handle();
}

VGPU_CALL(cudaIpcOpenEventHandle, cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  refuse_in_capture(runtime);
  if (event == nullptr) refuse();
  std::shared_ptr<SharedEvent> shared = SharedEvent::open(handle);
  *event = runtime.streams.create_event(cudaEventDisableTiming | cudaEventInterprocess,
                                        std::move(shared));
}
