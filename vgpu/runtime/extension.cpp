// SPDX-License-Identifier: Apache-2.0
// The C interface beyond the CUDA runtime (vgpu/vgpu.h).
#include <mutex>
#include <string>
#include <utility>

#include "runtime/check_report.hpp"
#include "runtime/runtime.hpp"
#include "runtime/stream_order.hpp"

using namespace vgpu::runtime;

namespace {

// Keeps a returned text valid until the same function is called again.
const char* keep(std::string& place, std::string text) {
  place = std::move(text);
  return place.c_str();
}

// Waits until nothing is queued.
void settle(Runtime& runtime) {
  try {
    await(runtime, all_tasks(runtime));
  } catch (const Failure&) {  // the sticky error, which later calls return
  }
}

}  // namespace

const char* vgpuDeviceName() {
  const Runtime& runtime = Runtime::get();
  return runtime.settings.error.empty() ? runtime.settings.devices.front().id.data() : "";
}

void vgpuResetCounters() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  settle(runtime);
  runtime.log.reset();
}

const char* vgpuCountersJson() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  settle(runtime);
  static std::string text;
  return keep(text, runtime.log.json());
}

int vgpuSetTrace(int on) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  return std::exchange(runtime.settings.trace, on != 0);
}

const char* vgpuTraceJson() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  settle(runtime);
  static std::string text;
  return keep(text, runtime.log.trace_json());
}

int vgpuSetRaceCheck(int on) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  return std::exchange(runtime.settings.checks.race, on != 0);
}

const char* vgpuSetSchedule(const char* schedule) {
  vgpu::CopySchedule wanted;
  if (schedule == nullptr || !vgpu::parse_schedule(schedule, wanted).empty()) return nullptr;
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  static std::string text;
  return keep(text, vgpu::to_string(std::exchange(runtime.settings.schedule, wanted)));
}

const char* vgpuLastFault() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  settle(runtime);
  static std::string text;
  return keep(text, runtime.fault.report);
}

const char* vgpuLastFaultKind() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  settle(runtime);
  static std::string text;
  return keep(text, runtime.fault.kind);
}

void vgpuClearFault() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  settle(runtime);
  if (std::exchange(runtime.reported, false)) vgpu::report_cleared(runtime.settings.report_file);
  runtime.fault = {};
  runtime.found.clear();
  last_error() = cudaSuccess;
}

void vgpuMarkWritten(const void* pointer, size_t bytes) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.memory.mark_written(pointer, bytes);
}

int vgpuDeviceContains(const void* pointer, size_t bytes) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  return runtime.memory.contains(pointer, bytes);
}

size_t vgpuMemoryUsed(int device) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  return runtime.pointers.bytes_on(device);
}
