// SPDX-License-Identifier: Apache-2.0
// The C interface beyond the CUDA runtime (vgpu/vgpu.h).
#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/stream_order.hpp"

using namespace vgpu::runtime;

namespace {

// Keeps a returned text valid until the same function is called again.
const char* keep(std::string& place, std::string text) {
  place = std::move(text);
  return place.c_str();
}

// body(Runtime&) under the lock.
template <class Body>
auto locked(Body body) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  return body(runtime);
}

// The same when nothing is queued any more.
template <class Body>
auto settled(Body body) {
  return locked([&](Runtime& runtime) {
    try {
      await(runtime, all_tasks(runtime));
    } catch (const Failure&) {  // the sticky error, which later calls return
    }
    return body(runtime);
  });
}

}  // namespace

const char* vgpuDeviceName() {
  const Runtime& runtime = Runtime::get();
  const auto& devices = runtime.settings.devices;
  return runtime.settings.error.empty() && !devices.empty() ? devices.front().id.data() : "";
}

void vgpuResetCounters() {
  settled([](Runtime& runtime) { runtime.log.reset(); });
}

const char* vgpuCountersJson() {
  static std::string text;
  return settled([](Runtime& runtime) { return keep(text, runtime.log.json()); });
}

int vgpuSetTrace(int on) {
  return locked([&](Runtime& runtime) { return std::exchange(runtime.settings.trace, on != 0); });
}

const char* vgpuTraceJson() {
  static std::string text;
  return settled([](Runtime& runtime) { return keep(text, runtime.log.trace_json()); });
}

int vgpuSetRaceCheck(int on) {
  return locked(
      [&](Runtime& runtime) { return std::exchange(runtime.settings.checks.race, on != 0); });
}

int vgpuSetReuse(int on) {
  return locked([&](Runtime& runtime) { return std::exchange(runtime.settings.reuse, on != 0); });
}

size_t vgpuReusedLaunches() {
  return settled([](Runtime& runtime) { return runtime.known.reused(); });
}

const char* vgpuSetSchedule(const char* schedule) {
  vgpu::CopySchedule wanted;
  if (schedule == nullptr || !vgpu::parse_schedule(schedule, wanted).empty()) return nullptr;
  static std::string text;
  return locked([&](Runtime& runtime) {
    return keep(text, vgpu::to_string(std::exchange(runtime.settings.schedule, wanted)));
  });
}

const char* vgpuLastFault() {
  static std::string text;
  return settled([](Runtime& runtime) { return keep(text, runtime.fault.report); });
}

const char* vgpuLastFaultKind() {
  static std::string text;
  return settled([](Runtime& runtime) { return keep(text, runtime.fault.kind); });
}

void vgpuClearFault() {
  settled([](Runtime& runtime) {
    if (std::exchange(runtime.reported, false)) vgpu::report_cleared(runtime.settings.report_file);
    runtime.fault = {};
    runtime.found.clear();
    runtime.launch_errors.clear();
    last_error() = cudaSuccess;
  });
}

void vgpuMarkWritten(const void* pointer, size_t bytes) {
  locked([&](Runtime& runtime) { runtime.memory.mark_written(pointer, bytes); });
}

int vgpuDeviceContains(const void* pointer, size_t bytes) {
  return locked([&](Runtime& runtime) { return runtime.memory.contains(pointer, bytes); });
}

size_t vgpuWrittenIsMarked() {
  return locked([&](Runtime& runtime) -> size_t {
    Runtime::marks_writes() = Runtime::in_host_function();
    return runtime.settings.reuse ? runtime.known.moment() : 0;
  });
}

int vgpuMayHaveChanged(size_t moment, const void* pointer, size_t bytes) {
  return locked([&](Runtime& runtime) {
    return moment == 0 || !runtime.settings.reuse ||
           runtime.known.may_have_changed(moment, reinterpret_cast<std::uint64_t>(pointer), bytes);
  });
}

size_t vgpuMemoryUsed(int device) {
  return locked([&](Runtime& runtime) {
    const auto& visible = runtime.settings.devices;
    const auto found = std::ranges::find(visible, device, &vgpu::Device::place);
    return found == visible.end()
               ? 0
               : runtime.pointers.bytes_on(static_cast<int>(found - visible.begin()));
  });
}
