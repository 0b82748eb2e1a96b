// SPDX-License-Identifier: Apache-2.0
#include "device/loan.hpp"
#include "device/relaxed_capture.hpp"
#include "device/runtime.cuh"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace ladder {
namespace {

constexpr std::uint64_t kProbation = 16;  // a stream's first calls, which end with an event
constexpr std::uint64_t kAnswerAge = 8;   // calls for which keep_answer() holds
constexpr std::uint64_t kMostAge = 64;    // calls after which a stream counts as gone
constexpr std::size_t kAnswerBytes = 64;
constexpr unsigned long long kNoCapture = ~0ULL;

struct FreeMemory {
  void operator()(void* at) const {
    const RelaxedCapture relaxed;
    static_cast<void>(cudaFree(at));  // waits for kernels that use it
  }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
};
struct Buffer {
  std::unique_ptr<void, FreeMemory> at;
  std::size_t bytes = 0;
};

// A stream of a device. Ids of streams are unique in a process and tell apart the streams that
// cudaStreamPerThread stands for; in a capture `stream` is name_in_capture().
struct Place {
  int device = -1;
  unsigned long long stream = 0, capture = 0;  // capture: 0 where the stream is not being captured
  bool operator==(const Place&) const = default;
};

}  // namespace

struct CallMemory::Slot {
  Place owner;
  Buffer scratch, flags;
  bool busy = false;    // a call is being enqueued
  bool answer = false;  // keep_answer()
  bool marked = true;   // `done` was recorded after the last call, or there is nothing to wait for
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent> done;
  std::uint64_t calls = 0, last = 0;        // of the owner; number of the last one
  std::shared_ptr<std::atomic<bool>> held;  // by a graph; null: by none

  bool idle() const { return !busy && (held == nullptr || !held->load(std::memory_order_acquire)); }
};

namespace {

using Slot = CallMemory::Slot;
using Slots = std::vector<std::unique_ptr<Slot>>;

class Pool {
 public:
  static Pool& get() {
    static Pool one;
    return one;
  }

  // The slot for the next call at this place, busy until release(). `scratch` and `flags` are what
  // the call needs, in bytes.
  Slot& acquire(const Place& place, std::size_t scratch, std::size_t flags) {
    Slots gone;  // freed when the lock is
    std::unique_lock lock(mutex_);
    ++calls_;
    Slot* own = nullptr;
    while ((own = owned_by(place)) != nullptr && own->busy) released_.wait(lock);
    if (own != nullptr && place.capture != 0 &&
        (own->scratch.bytes < scratch || own->flags.bytes < flags)) {
      own->owner.capture = kNoCapture;  // the graph's earlier kernels use it
      own = nullptr;
    }
    if (own == nullptr) {
      const RelaxedCapture relaxed;
      remove(place.device, kMostAge, gone);
      own = ended(place.device);
      if (own == nullptr) own = slots_.emplace_back(std::make_unique<Slot>()).get();
      own->held = nullptr;
      own->owner = place;
      own->calls = 0;
    }
    own->busy = true;
    own->answer = false;
    own->last = calls_;
    ++own->calls;
    return *own;
  }

  void release(Slot& slot) {
    {
      const std::lock_guard lock(mutex_);
      slot.busy = false;
    }
    released_.notify_all();
  }

  void free_idle(int device) {
    Slots gone;
    const std::lock_guard lock(mutex_);
    remove(device, 0, gone);
  }

 private:
  // Moves what is found towards the front, since graphs may own many slots.
  Slot* owned_by(const Place& place) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]->owner != place) continue;
      std::swap(slots_[i], slots_[i / 2]);
      return slots_[i / 2].get();
    }
    return nullptr;
  }

  std::uint64_t age(const Slot& slot) const { return calls_ - slot.last; }

  void remove(int device, std::uint64_t age_from, Slots& gone) {
    const auto first = std::partition(slots_.begin(), slots_.end(), [&](const auto& slot) {
      return slot->owner.device != device || !slot->idle() || age(*slot) < age_from;
    });
    std::move(first, slots_.end(), std::back_inserter(gone));
    slots_.erase(first, slots_.end());
  }

  // The largest of those whose kernels have ended. While an error of another library's call is
  // pending no event is queried: "not ready" would replace it.
  Slot* ended(int device) {
    const bool may_ask = cudaPeekAtLastError() == cudaSuccess;
    Slot* best = nullptr;
    for (const auto& slot : slots_) {
      const bool kept = slot->answer && age(*slot) < kAnswerAge;
      if (slot->owner.device != device || !slot->idle() || !slot->marked || kept) continue;
      if (best != nullptr && best->scratch.bytes >= slot->scratch.bytes) continue;
      if (slot->done != nullptr && slot->held == nullptr) {
        if (!may_ask) continue;
        if (cudaEventQuery(slot->done.get()) != cudaSuccess) {
          static_cast<void>(cudaGetLastError());  // not ready
          continue;
        }
      }
      best = slot.get();
    }
    return best;
  }

  std::mutex mutex_;
  std::condition_variable released_;
  std::uint64_t calls_ = 0;
  Slots slots_;
};

// The old content is lost.
cudaError_t grow(Buffer& buffer, std::size_t bytes, int device) {
  const RelaxedCapture relaxed;
  buffer = {};
  void* at = nullptr;
  cudaError_t error = cudaMalloc(&at, bytes);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    Pool::get().free_idle(device);
    error = cudaMalloc(&at, bytes);
  }
  if (error != cudaSuccess) return error;
  buffer.at.reset(at);
  buffer.bytes = bytes;
  return cudaSuccess;
}

// Tells apart the streams of a capture. The id of one that is being captured cannot be queried, as
// that breaks the capture.
unsigned long long name_in_capture(cudaStream_t stream) {
  thread_local const char of_thread = 0;
  return reinterpret_cast<std::uintptr_t>(
      stream == cudaStreamPerThread ? static_cast<const void*>(&of_thread) : stream);
}

cudaError_t place_of(cudaStream_t stream, Place& place, cudaGraph_t& graph) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long capture = 0;
  cudaError_t error = cudaGetDevice(&place.device);
#if CUDART_VERSION >= 13000
  if (error == cudaSuccess) error = cudaStreamGetCaptureInfo(stream, &status, &capture, &graph);
#else
  if (error == cudaSuccess) error = cudaStreamGetCaptureInfo_v2(stream, &status, &capture, &graph);
#endif
  if (error != cudaSuccess) return error;
  if (status == cudaStreamCaptureStatusInvalidated) return cudaErrorStreamCaptureInvalidated;
  if (status == cudaStreamCaptureStatusNone) return cudaStreamGetId(stream, &place.stream);
  place.capture = capture;
  place.stream = name_in_capture(stream);
  return cudaSuccess;
}

// The slot is the graph's until that and its executable graphs are gone and have ended.
cudaError_t hold(Slot& slot, cudaGraph_t graph) {
  using Held = std::shared_ptr<std::atomic<bool>>;
  auto held = std::make_shared<std::atomic<bool>>(true);
  auto payload = std::make_unique<Held>(held);
  // It runs in a thread of the driver and may call none of its functions.
  const auto release = [](void* at) {
    const std::unique_ptr<Held> released(static_cast<Held*>(at));
    (*released)->store(false, std::memory_order_release);
  };
  cudaUserObject_t object = nullptr;
  cudaError_t error =
      cudaUserObjectCreate(&object, payload.get(), release, 1, cudaUserObjectNoDestructorSync);
  if (error != cudaSuccess) return error;
  static_cast<void>(payload.release());
  error = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  if (error != cudaSuccess) {
    static_cast<void>(cudaUserObjectRelease(object, 1));
    return error;
  }
  slot.held = std::move(held);
  slot.marked = true;
  return cudaSuccess;
}

// Zeros, in the stream's order, or at once where the stream is being captured: a replay need not
// write them again.
cudaError_t clear(void* at, std::size_t bytes, cudaStream_t stream, bool captured) {
  return captured ? clear_now(at, bytes) : cudaMemsetAsync(at, 0, bytes, stream);
}

// What the slot lacks for a call.
cudaError_t provide(Slot& slot, cudaStream_t stream, cudaGraph_t graph, std::size_t scratch,
                    std::size_t flags) {
  const bool captured = slot.owner.capture != 0;
  const auto provide_in = [&](Buffer& buffer, std::size_t bytes) {
    if (buffer.bytes >= bytes) return cudaSuccess;
    cudaError_t error = grow(buffer, bytes, slot.owner.device);
    if (error == cudaSuccess) error = clear(buffer.at.get(), bytes, stream, captured);
    if (error != cudaSuccess) buffer = {};
    return error;
  };
  cudaError_t error = captured && slot.held == nullptr ? hold(slot, graph) : cudaSuccess;
  if (slot.calls == 1 && !captured && slot.scratch.bytes > 0 && error == cudaSuccess) {
    error =
        clear(slot.scratch.at.get(), std::min(slot.scratch.bytes, kAnswerBytes), stream, captured);
  }
  if (error == cudaSuccess) error = provide_in(slot.scratch, scratch);
  if (error == cudaSuccess) error = provide_in(slot.flags, flags);
  return error;
}

// Records the end of the slot's last call, so that another stream may use the memory even where
// this one is destroyed. Not for ever: an event keeps the next call's first kernel from starting
// early.
void mark(Slot& slot, cudaStream_t stream) {
  slot.marked = slot.held != nullptr || slot.scratch.bytes + slot.flags.bytes == 0;
  if (slot.marked || slot.calls > kProbation) return;
  if (slot.done == nullptr) {
    const RelaxedCapture relaxed;
    cudaEvent_t event = nullptr;
    if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) return;
    slot.done.reset(event);
  }
  slot.marked = cudaEventRecord(slot.done.get(), stream) == cudaSuccess;
}

}  // namespace

cudaError_t clear_now(void* at, std::size_t bytes) {
  const RelaxedCapture relaxed;
  cudaStream_t aside = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
  if (error != cudaSuccess) return error;
  error = cudaMemsetAsync(at, 0, bytes, aside);
  if (error == cudaSuccess) error = cudaStreamSynchronize(aside);
  static_cast<void>(cudaStreamDestroy(aside));
  return error;
}

CallMemory::~CallMemory() {
  if (slot_ == nullptr) return;
  mark(*slot_, stream_);
  Pool::get().release(*slot_);
}

Status CallMemory::take(cudaStream_t stream, std::int64_t scratch_bytes, std::int64_t flag_count) {
  if (Loan* const loan = Loan::current()) return loan->take({scratch_bytes, flag_count});
  const auto scratch = static_cast<std::size_t>(scratch_bytes);
  const std::size_t flags = static_cast<std::size_t>(flag_count) * sizeof(unsigned);
  Place place;
  cudaGraph_t graph = nullptr;
  cudaError_t error = place_of(stream, place, graph);
  if (error != cudaSuccess) return cuda_failure("workspace", error);
  if (place.capture != 0 && scratch + flags == 0) return Status::ok();
  slot_ = &Pool::get().acquire(place, scratch, flags);
  stream_ = stream;
  error = provide(*slot_, stream, graph, scratch, flags);
  return error == cudaSuccess ? Status::ok() : cuda_failure("workspace", error);
}

char* CallMemory::scratch() const {
  if (const Loan* const loan = Loan::current()) return loan->scratch();
  return slot_ == nullptr ? nullptr : static_cast<char*>(slot_->scratch.at.get());
}

unsigned* CallMemory::flags() const {
  if (const Loan* const loan = Loan::current()) return loan->flags();
  return slot_ == nullptr ? nullptr : static_cast<unsigned*>(slot_->flags.at.get());
}

void CallMemory::keep_answer() {
  if (slot_ != nullptr) slot_->answer = true;
}

Status sm_count(int& sms) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  return error == cudaSuccess ? Status::ok() : cuda_failure("SM count", error);
}

cudaError_t allow_shared(const void* kernel, int bytes) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, int> allowed;  // bytes
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  const std::lock_guard lock(mutex);
  int& most = allowed[{device, kernel}];
  if (bytes <= most) return cudaSuccess;
  const RelaxedCapture relaxed;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error == cudaSuccess) most = bytes;
  return error;
}

}  // namespace ladder
