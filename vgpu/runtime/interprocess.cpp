// SPDX-License-Identifier: Apache-2.0
#include "runtime/interprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/graph/capture.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMagic = 0x69706376;

// A run of pages in one file of the exporting process. Small allocations may share their first and
// last page with others that were exported before, so that there are at most three runs.
struct Piece {
  std::int32_t file = -1;
  std::uint32_t first = 0, count = 0;  // pages
};

struct Shared {
  std::uint32_t magic = kMagic;
  std::int32_t process = 0;
  std::uint64_t bytes = 0;
  std::uint32_t offset = 0;  // in the first page
  std::uint32_t pieces = 0;
  Piece piece[3];
};
static_assert(sizeof(Shared) <= sizeof(cudaIpcMemHandle_t));

std::uint64_t page_down(std::uint64_t address) { return address / kPage * kPage; }
std::uint64_t page_up(std::uint64_t address) { return page_down(address + kPage - 1); }

Shared read_handle(const cudaIpcMemHandle_t& handle) {
  Shared shared;
  std::memcpy(static_cast<void*>(&shared), &handle, sizeof shared);
  if (shared.magic != kMagic || shared.pieces == 0 || shared.pieces > 3 || shared.offset >= kPage)
    refuse();
  return shared;
}

constexpr std::uint32_t kEventMagic = 0x69706365;

// The memory file of the process that created the event.
struct EventFile {
  std::uint32_t magic = kEventMagic;
  std::int32_t process = 0, file = -1;
};
static_assert(sizeof(EventFile) <= sizeof(cudaIpcEventHandle_t));

}  // namespace

// Copies the pages to a new file and maps it in their place.
void Interprocess::move_to_file(std::uint64_t begin, std::uint64_t end) {
  const int file = memfd_create("vgpu", MFD_CLOEXEC);
  if (file < 0) refuse(cudaErrorMemoryAllocation);
  const std::size_t bytes = end - begin;
  void* const at = reinterpret_cast<void*>(begin);
  bool copied = ftruncate(file, static_cast<off_t>(bytes)) == 0;
  for (std::size_t done = 0; copied && done < bytes;) {
    const ssize_t n = pwrite(file, static_cast<const std::byte*>(at) + done, bytes - done,
                             static_cast<off_t>(done));
    copied = n > 0;
    if (copied) done += static_cast<std::size_t>(n);
  }
  if (!copied ||
      mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    ::close(file);
    refuse(cudaErrorMemoryAllocation);
  }
  shared_[begin] = {end, file};
}

cudaIpcMemHandle_t Interprocess::share(Runtime& runtime, const void* pointer, std::size_t bytes) {
  runtime.memory.share(pointer);  // what the other process writes is not tracked
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  Shared shared;
  shared.process = getpid();
  shared.bytes = bytes;
  shared.offset = static_cast<std::uint32_t>(address % kPage);
  const std::uint64_t end = page_up(address + bytes);
  for (std::uint64_t at = page_down(address); at < end;) {
    auto next = shared_.upper_bound(at);
    const bool known = next != shared_.begin() && std::prev(next)->second.end > at;
    if (!known) {
      move_to_file(at, next == shared_.end() ? end : std::min(end, next->first));
      next = shared_.upper_bound(at);
    }
    const auto& [begin, pages] = *std::prev(next);
    const std::uint64_t stop = std::min(end, pages.end);
    if (shared.pieces == 3) refuse();
    shared.piece[shared.pieces++] = {pages.file, static_cast<std::uint32_t>((at - begin) / kPage),
                                     static_cast<std::uint32_t>((stop - at) / kPage)};
    at = stop;
  }
  exported_[pointer] = bytes;
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, &shared, sizeof shared);
  return handle;
}

void* Interprocess::open(Runtime& runtime, const cudaIpcMemHandle_t& handle) {
  const Shared shared = read_handle(handle);
  if (shared.process == getpid()) refuse(cudaErrorDeviceUninitialized);
  for (auto& [pointer, known] : opened_) {
    if (std::memcmp(&known.handle, &handle, sizeof handle) != 0) continue;
    ++known.count;
    return const_cast<void*>(pointer);
  }
  std::size_t mapped = 0;
  for (std::uint32_t i = 0; i < shared.pieces; ++i) mapped += shared.piece[i].count * kPage;
  if (shared.offset + shared.bytes > mapped) refuse();
  void* const mapping = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) refuse(cudaErrorMemoryAllocation);
  std::byte* at = static_cast<std::byte*>(mapping);
  for (std::uint32_t i = 0; i < shared.pieces; ++i) {
    const Piece& piece = shared.piece[i];
    const std::string path = fmt::format("/proc/{}/fd/{}", shared.process, piece.file);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool done =
        file >= 0 && mmap(at, piece.count * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                          file, static_cast<off_t>(piece.first * kPage)) != MAP_FAILED;
    if (file >= 0) ::close(file);
    if (!done) {
      munmap(mapping, mapped);
      refuse(cudaErrorMapBufferObjectFailed,
             fmt::format("cudaIpcOpenMemHandle: {}: {}", path, std::strerror(errno)));
    }
    at += piece.count * kPage;
  }
  void* const pointer = static_cast<std::byte*>(mapping) + shared.offset;
  if (!runtime.memory.adopt(pointer, shared.bytes, "memory of another process")) {
    munmap(mapping, mapped);
    refuse(cudaErrorMapBufferObjectFailed);
  }
  runtime.pointers.add(pointer, shared.bytes, Origin::kDevice, Runtime::ordinal());
  opened_[pointer] = {mapping, mapped, 1, handle};
  return pointer;
}

void Interprocess::close(Runtime& runtime, void* pointer) {
  const auto found = opened_.find(pointer);
  if (found == opened_.end()) refuse();
  if (--found->second.count != 0) return;
  runtime.memory.disown(pointer);
  runtime.pointers.remove(pointer);
  munmap(found->second.mapping, found->second.mapped);
  opened_.erase(found);
}

void Interprocess::forget(const void* pointer) {
  const auto found = exported_.find(pointer);
  if (found == exported_.end()) return;
  const std::size_t bytes = found->second;
  exported_.erase(found);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  // Pages that other allocations share stay in their files.
  const std::uint64_t begin = page_up(address), end = page_down(address + bytes);
  for (auto at = shared_.begin(); at != shared_.end();) {
    const auto& [first, pages] = *at;
    if (first < begin || pages.end > end) {
      ++at;
      continue;
    }
    mmap(reinterpret_cast<void*>(first), pages.end - first, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    ::close(pages.file);
    at = shared_.erase(at);
  }
}

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

VGPU_CALL(cudaIpcGetMemHandle, cudaIpcMemHandle_t* handle, void* pointer) {
  refuse_in_capture(runtime);
  const Block* const block = runtime.pointers.covering(pointer);
  if (handle == nullptr || block == nullptr || block->origin != Origin::kDevice ||
      block->pool != nullptr || runtime.interprocess.has_opened(pointer))
    refuse();
  await(runtime, all_tasks(runtime));
  *handle =
      runtime.interprocess.share(runtime, reinterpret_cast<void*>(block->begin), block->bytes);
}

VGPU_CALL(cudaIpcOpenMemHandle, void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  refuse_in_capture(runtime);
  if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) refuse();
  *pointer = runtime.interprocess.open(runtime, handle);
}

VGPU_CALL(cudaIpcCloseMemHandle, void* pointer) {
  refuse_in_capture(runtime);
  await(runtime, all_tasks(runtime));
  runtime.interprocess.close(runtime, pointer);
}

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
