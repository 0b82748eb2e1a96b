// SPDX-License-Identifier: Apache-2.0
#include "operands/virtual_gpu.hpp"

#include <dlfcn.h>

namespace ladder::virtual_gpu {
namespace {

// The signatures match vgpu/vgpu.h. It is not included, so that this file does not depend on the
// virtual GPU being built.
template <class Function>
Function* entry(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

template <class... Args>
std::string text(const char* name, Args... args) {
  const auto function = entry<const char*(Args...)>(name);
  const char* answer = function == nullptr ? nullptr : function(args...);
  return answer == nullptr ? std::string() : std::string(answer);
}

}  // namespace

bool active() { return entry<const char*()>("vgpuDeviceName") != nullptr; }

void check_races(bool on) {
  if (const auto set = entry<int(int)>("vgpuSetRaceCheck")) set(on ? 1 : 0);
}

std::string set_schedule(const std::string& schedule) {
  return text("vgpuSetSchedule", schedule.c_str());
}

std::string last_fault() { return text("vgpuLastFault"); }

std::string last_fault_kind() { return text("vgpuLastFaultKind"); }

bool last_fault_is_race() { return last_fault_kind().find("race") != std::string::npos; }

void clear_fault() {
  if (const auto clear = entry<void()>("vgpuClearFault")) clear();
}

Status fault_or(const Status& status) {
  const std::string fault = last_fault();
  if (fault.empty()) return status;
  clear_fault();
  return {Code::kLaunchFailed, fault.substr(0, fault.find('\n'))};
}

void reset_counters() {
  if (const auto reset = entry<void()>("vgpuResetCounters")) reset();
}

std::string counters_json() { return text("vgpuCountersJson"); }

void trace(bool on) {
  if (const auto set = entry<int(int)>("vgpuSetTrace")) set(on ? 1 : 0);
}

std::string trace_json() { return text("vgpuTraceJson"); }

}  // namespace ladder::virtual_gpu
