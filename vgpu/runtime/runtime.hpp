// SPDX-License-Identifier: Apache-2.0
// The state of the virtual GPU's CUDA runtime in one process, and the wrapper in which every entry
// point runs. One lock guards the whole state. Kernels and functions of the program run without it
// (work_queue.hpp).
#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "devices/devices.hpp"
#include "engine/engine.hpp"
#include "memory/heap.hpp"
#include "memory/memory.hpp"
#include "runtime/api.hpp"
#include "runtime/arrays.hpp"
#include "runtime/check_report.hpp"
#include "runtime/context.hpp"
#include "runtime/findings.hpp"
#include "runtime/graph/graph.hpp"
#include "runtime/interprocess.hpp"
#include "runtime/known_launches.hpp"
#include "runtime/launch_log.hpp"
#include "runtime/modules.hpp"
#include "runtime/pointers.hpp"
#include "runtime/pools.hpp"
#include "runtime/settings.hpp"
#include "runtime/streams.hpp"
#include "runtime/work_queue.hpp"

namespace vgpu::runtime {

// The sticky fault that ended a kernel. No work runs afterwards. Every call that uses the device
// returns its error, as on a real device, once the program has synchronised with the kernel.
struct LastFault {
  cudaError_t code = cudaSuccess;
  std::string kind, report;
  std::uint64_t task = 0;  // its number
  bool seen = false;       // by the program
};

// What a kernel printed. It is shown when the program synchronises with the kernel.
struct Printed {
  std::uint64_t task = 0;
  std::string text;
};

class Runtime {
 public:
  // Created on first use and never destroyed, because destructors of the program may still call the
  // runtime.
  static Runtime& get();

  // At the program's first call by either API: keeps the devices that are visible. Not earlier,
  // because a program may choose among them at the start of `main`.
  void begin();

  std::mutex mutex;
  WorkQueue queue{mutex};
  Settings settings;
  Memory memory;
  KnownLaunches known{memory};
  Contexts contexts;
  Modules modules;
  Pointers pointers;
  Pools pools;
  Arrays arrays;
  TextureRegistry textures;
  Interprocess interprocess;
  Streams streams;
  Graphs graphs;
  LaunchLog log;
  LastFault fault;
  FoundList found;
  LaunchErrors launch_errors;
  std::deque<Printed> output;
  std::atomic<bool> initialised = false;  // by cuInit or by a call of the runtime API, with success
  bool forked = false;                    // the parent had unfinished work at the fork
  bool reported = false;                  // a check has failed, in a kernel or in a host call
  // Indexed by cudaLimit, with the values of a new process on an H200. The engine uses the limits
  // of the stack, printf and malloc.
  std::array<std::size_t, 7> limits = {1024, 8650752, DeviceHeap::kDefaultBytes, 0, 2048,
                                       64,   11796480};
  DeviceHeap heap;              // for malloc in kernels
  std::uint64_t clock = 0;      // LaunchReport::end_clock of the last launch
  bool printed = false;         // a kernel has printed
  bool time_said = false;       // the message that events measure the host's time was printed
  bool shortage_said = false;   // the message that the host lacks memory was printed
  bool registers_said = false;  // the message that a kernel's attributes lack registers was printed

  // The calling thread's device and its ordinal. Every device is a separate object, even if several
  // are of the same kind.
  const Device& device() const { return settings.devices[static_cast<std::size_t>(ordinal())]; }
  static int& ordinal();
  // Whether the calling thread runs a function of the program that is in a stream.
  static bool& in_host_function();
  static bool&
  marks_writes();  // the running host function marks what it writes (vgpuWrittenIsMarked)
  bool has_device(int number) const {
    return number >= 0 && static_cast<std::size_t>(number) < settings.devices.size();
  }
  const Device& known_device(int number) const {  // refuses others
    if (!has_device(number)) refuse(cudaErrorInvalidDevice);
    return settings.devices[static_cast<std::size_t>(number)];
  }

 private:
  Runtime();

  bool begun_ = false;
};

// While it lives, `device` is the calling thread's.
class OnDevice {
 public:
  explicit OnDevice(int device) : former_(std::exchange(Runtime::ordinal(), device)) {}
  ~OnDevice() { Runtime::ordinal() = former_; }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int former_;
};

// Prints to stderr, with the prefix "vgpu: " on every line.
void say(std::string_view text);
void say(const CountersFile::Said& about_counters);

// Reports a failed check to the program `vgpu`.
void report_check(Runtime& runtime, const Finding& finding);

// The calling thread's last error, which cudaGetLastError returns.
cudaError_t& last_error();

// The driver function that the calling thread executes; "" outside one. Messages name it instead of
// the runtime's function that implements it.
std::string_view& driver_call();

// Makes the primary context of the thread's device current, if no context is. Does nothing within a
// driver function, which never does that.
void attach(Runtime& runtime);

// Records the error for cudaGetLastError and returns it.
cudaError_t finish(cudaError_t code);
cudaError_t finish(const Failure& failure);

// Returns cudaErrorMemoryAllocation. If the host lacks memory, prints a message the first time.
cudaError_t out_of_memory(Runtime& runtime);

// Returns the reason why the calling thread can't use the runtime at all, or cudaSuccess.
cudaError_t refusal(Runtime& runtime);

template <class Body>
cudaError_t outcome(Body body, Runtime& runtime) {
  if constexpr (std::is_void_v<decltype(body(runtime))>) {
    body(runtime);
    return cudaSuccess;
  } else {
    return body(runtime);
  }
}

// Runs an entry point's body, `cudaError_t` or `void body(Runtime&)`, under the lock and converts
// exceptions to error codes. `call` returns the sticky error if there is one. `query` runs the body
// even then; it is for entry points that only query the device.
template <class Body>
cudaError_t query(Body body) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  if (driver_call().empty()) runtime.begin();
  if (const cudaError_t error = refusal(runtime); error != cudaSuccess) return finish(error);
  try {
    return finish(outcome(body, runtime));
  } catch (const Failure& failure) {
    return finish(failure);
  } catch (const std::bad_alloc&) {
    return finish(out_of_memory(runtime));
  } catch (const std::exception& error) {
    return finish(Failure{cudaErrorUnknown, error.what()});
  }
}

template <class Body>
cudaError_t call(Body body) {
  return query([&](Runtime& runtime) {
    attach(runtime);
    const cudaError_t error = runtime.fault.seen ? runtime.fault.code : outcome(body, runtime);
    runtime.queue.wait_for_room();
    return error;
  });
}

// The same for entry points that store value(Runtime&).
template <class T, class Value>
cudaError_t query_for(T* result, Value value) {
  return query([&](Runtime& runtime) {
    if (result == nullptr) refuse();
    *result = value(runtime);
  });
}
template <class T, class Value>
cudaError_t call_for(T* result, Value value) {
  return call([&](Runtime& runtime) {
    if (result == nullptr) refuse();
    *result = value(runtime);
  });
}

}  // namespace vgpu::runtime

// Defines an entry point of the runtime API by its body, in `call` or `query`:
//   VGPU_CALL(cudaFree, void* pointer) { ... what it does, with `runtime` ... }
// With _PTSZ or _PTDS also its form with that suffix, of the per-thread default stream.
#define VGPU_IN_CALL(name, ...) vgpu::runtime::call(__VA_ARGS__)
#define VGPU_IN_QUERY(name, ...) vgpu::runtime::query(__VA_ARGS__)
#define VGPU_CALL(name, ...) VGPU_ENTRY(VGPU_IN_CALL, name __VA_OPT__(, ) __VA_ARGS__)
#define VGPU_QUERY(name, ...) VGPU_ENTRY(VGPU_IN_QUERY, name __VA_OPT__(, ) __VA_ARGS__)
#define VGPU_CALL_PTSZ(name, ...)                  \
  VGPU_TWIN(name, _ptsz, VGPU_COUNT(__VA_ARGS__)); \
  VGPU_CALL(name, __VA_ARGS__)
#define VGPU_CALL_PTDS(name, ...)                  \
  VGPU_TWIN(name, _ptds, VGPU_COUNT(__VA_ARGS__)); \
  VGPU_CALL(name, __VA_ARGS__)
