// SPDX-License-Identifier: Apache-2.0
// The state of the stand-in CUDA runtime of one process, and the guard that every entry point runs
// under. The virtual GPU executes when it is asked to, so that one lock around everything is enough
// and streams need no order.
#pragma once
#include <array>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "devices/devices.hpp"
#include "engine/engine.hpp"
#include "engine/memory/heap.hpp"
#include "engine/memory/memory.hpp"
#include "runtime/api.hpp"
#include "runtime/failure.hpp"
#include "runtime/graph/graph.hpp"
#include "runtime/launch_log.hpp"
#include "runtime/modules.hpp"
#include "runtime/pointers.hpp"
#include "runtime/pools.hpp"
#include "runtime/settings.hpp"
#include "runtime/streams.hpp"

namespace vgpu::runtime {

// The fault that ended a kernel; from then on the device answers nothing else, as a real one does.
struct LastFault {
  cudaError_t code = cudaSuccess;
  std::string kind, report;
};

class Runtime {
 public:
  // Created on first use and never destroyed: the program's own destructors may still call the
  // runtime.
  static Runtime& get();

  std::mutex mutex;
  Settings settings;
  Memory memory;
  Modules modules;
  Pointers pointers;
  Pools pools;
  Streams streams;
  Graphs graphs;
  LaunchLog log;
  LastFault fault;
  bool reported = false;  // a check fired, of a kernel or of what the host asked for
  // By cudaLimit, as a fresh process on an H200 finds them. The engine needs those of printf and
  // malloc.
  std::array<std::size_t, 7> limits = {1024, 8650752, DeviceHeap::kDefaultBytes, 0, 2048,
                                       64,   11796480};
  DeviceHeap heap;             // of malloc in kernels
  bool printed = false;        // a kernel has
  bool time_said = false;      // that events tell the host's time
  bool shortage_said = false;  // that the host has too little memory

  // The calling thread's, and its number. Each device is an object of its own, even where two are
  // of one kind.
  const Device& device() const { return settings.devices[static_cast<std::size_t>(ordinal())]; }
  static int& ordinal();
  bool has_device(int number) const {
    return number >= 0 && static_cast<std::size_t>(number) < settings.devices.size();
  }

 private:
  Runtime();
};

// To stderr, every line under the prefix "vgpu: ".
void say(std::string_view text);
void say(const CountersFile::Said& about_counters);

// Tells the program vgpu that a check fired; `kernel` is "" where none runs.
void report_check(Runtime& runtime, std::string_view kind, std::string_view kernel);

// The calling thread's last error, as cudaGetLastError has it.
cudaError_t& last_error();

// Records the error for cudaGetLastError and returns it.
cudaError_t finish(cudaError_t code);
cudaError_t finish(const Failure& failure);

// cudaErrorMemoryAllocation. The first time, what the host lacks is said, if that is why.
cudaError_t out_of_memory(Runtime& runtime);

// Runs an entry point's body, `cudaError_t body(Runtime&)`, under the lock, exceptions turned into
// error codes. `call` refuses while a fault is sticky, `query` answers all the same (what asks
// about the device only).
template <class Body>
cudaError_t query(Body body) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  if (!runtime.settings.error.empty()) return finish(cudaErrorInitializationError);
  try {
    return finish(body(runtime));
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
    return runtime.fault.code != cudaSuccess ? runtime.fault.code : body(runtime);
  });
}

}  // namespace vgpu::runtime
