// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "runtime/allocations.hpp"
#include "runtime/printable.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

// Pinned host memory is allocated from the device's address space, so that kernels can access it,
// but does not count towards the device's size. This is the additional space for it.
constexpr std::size_t kHostRoom = std::size_t{64} << 30;

std::size_t memory_of(const std::vector<Device>& devices) {
  std::size_t bytes = 0;
  for (const Device& device : devices) bytes += device.memory_bytes;
  return bytes;
}

const char* environment(const char* name) { return std::getenv(name); }

void close_log() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  say(runtime.log.close());
  const Selection& selection = runtime.settings.selection;
  if (selection.took_none())
    say(fmt::format("--kernel, --launch-skip and --launch-count leave none of the {} launches",
                    selection.asked()));
}

// No kernel runs when the program's and the runtime's objects are destroyed.
void end_work() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  if (runtime.forked) return;
  runtime.queue.close();
  try {
    show_results(runtime, runtime.queue.last_number());
  } catch (const Failure&) {  // the sticky error, which was reported
  }
}

void before_fork() { Runtime::get().mutex.lock(); }
void after_fork() { Runtime::get().mutex.unlock(); }
void after_fork_in_child() {
  Runtime& runtime = Runtime::get();
  runtime.forked |= !runtime.queue.after_fork();
  runtime.found.clear();
  runtime.mutex.unlock();
}

void say_found() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  if (const std::string text = runtime.found.summary(); !text.empty()) say(text);
}

void say_reused() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  if (const std::uint64_t launches = runtime.known.reused(); launches != 0)
    say(fmt::format("{} launch{} repeated an earlier one, and reused its results", launches,
                    launches == 1 ? "" : "es"));
}

void report_launch_errors() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  for (const Finding& error : runtime.launch_errors.all()) {
    say(error.message);
    report_check(runtime, error);
  }
}

void report_leaks() {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  if (runtime.fault.code != cudaSuccess) return;  // since then cudaFree fails
  const std::string report = leaks(runtime);
  if (report.empty()) return;
  say(report);
  report_check(runtime, {"leak", "", report, "", 0});
}

}  // namespace

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

int& Runtime::ordinal() {
  thread_local int current = 0;
  return current;
}

bool& Runtime::in_host_function() {
  thread_local bool inside = false;
  return inside;
}

bool& Runtime::marks_writes() {
  thread_local bool marks = false;
  return marks;
}

Runtime::Runtime()
    : settings(settings_from(environment)), memory(memory_of(settings.devices) + kHostRoom) {
  if (settings.error.empty())
    settings.error = log.open(settings.devices, settings.counters_file, settings.counters_claims);
  if (!settings.error.empty()) say(settings.error);
  if (settings.checks.init || settings.checks.race) memory.track(settings.checks.race);
  // These handlers are registered before the program's own and therefore called after them.
  if (!settings.counters_file.empty()) std::atexit(close_log);
  if (!settings.fail_fast) std::atexit(say_found);
  if (settings.verbose) std::atexit(say_reused);
  if (settings.checks.leak) std::atexit(report_leaks);
  if (settings.checks.memory) std::atexit(report_launch_errors);
  std::atexit(end_work);
  ::pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void Runtime::begin() {
  if (!settings.error.empty() || std::exchange(begun_, true)) return;
  const char* const chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  settings.devices = visible_devices(settings.devices, chosen);
  initialised = !settings.devices.empty();
  if (!initialised)
    say(fmt::format("CUDA_VISIBLE_DEVICES='{}' leaves no virtual device visible", chosen));
}

cudaError_t refusal(Runtime& runtime) {
  if (!runtime.settings.error.empty()) return cudaErrorInitializationError;
  if (runtime.settings.devices.empty()) return cudaErrorNoDevice;
  if (Runtime::in_host_function()) return cudaErrorNotPermitted;
  if (!runtime.forked) return cudaSuccess;
  static bool said = false;
  if (!std::exchange(said, true)) {
    say("this process was forked while kernels were running, so that it can't use the device; fork "
        "before the first use of the device, or after cudaDeviceSynchronize()");
  }
  return cudaErrorInitializationError;
}

cudaError_t out_of_memory(Runtime& runtime) {
  const Bound room = runtime.memory.room();
  if (!room.by.empty() && !std::exchange(runtime.shortage_said, true)) {
    const bool checked = runtime.memory.cost(1024) > 1024;
    say(fmt::format(
        "out of memory: {} leaves room for {} MB of device memory{}; raise it, or allocate less",
        room.by, room.bytes >> 20,
        checked ? " and what the checks note of it (less with --check none)" : ""));
  }
  return cudaErrorMemoryAllocation;
}

void say(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines += fmt::format("vgpu: {}\n", printable(text.substr(0, end)));
    text = end == text.npos ? "" : text.substr(end + 1);
  }
  std::fflush(stdout);
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

void report_check(Runtime& runtime, const Finding& finding) {
  runtime.reported = true;
  const std::string problem = report_finding(runtime.settings.report_file, finding);
  if (!problem.empty()) say(problem);
}

void say(const CountersFile::Said& about_counters) {
  if (!about_counters.note.empty()) say(about_counters.note);
  if (!about_counters.error.empty()) say(about_counters.error);
}

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

std::string_view& driver_call() {
  thread_local std::string_view name;
  return name;
}

void attach(Runtime& runtime) {
  if (current_context() != nullptr || !driver_call().empty()) return;
  Context& primary = runtime.contexts.primary(Runtime::ordinal());
  primary.used = true;
  primary.destroyed = false;
  push_context(primary);
}

cudaError_t finish(cudaError_t code) {
  if (code != cudaSuccess && code != cudaErrorNotReady) last_error() = code;
  return code;
}

cudaError_t finish(const Failure& failure) {
  const std::string_view text = failure.message, name = driver_call();
  const auto colon = text.find(": ");
  const bool rename = !name.empty() && text.starts_with("cuda") && colon != text.npos;
  if (!text.empty()) say(rename ? fmt::format("{}{}", name, text.substr(colon)) : failure.message);
  return finish(failure.code);
}

}  // namespace vgpu::runtime
