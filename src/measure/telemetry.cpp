// SPDX-License-Identifier: Apache-2.0
#include "measure/telemetry.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"

namespace ladder {
namespace {

// The declarations of nvml.h that are used here; the CUDA runtime's packages do not contain that
// header.
using NvmlReturn = int;  // 0 is success
constexpr unsigned kNvmlClockSm = 1;
constexpr unsigned kNvmlTemperatureGpu = 0;
constexpr unsigned kNvmlVersionBytes = 80;

template <class... Args>
bool call(void* library, const char* name, Args... args) {
  const auto function = reinterpret_cast<NvmlReturn (*)(Args...)>(dlsym(library, name));
  return function != nullptr && function(args...) == 0;
}

std::optional<TelemetrySummary::Range> range_of(std::span<const Telemetry> readings,
                                                std::optional<double> Telemetry::*quantity) {
  std::vector<double> values;
  for (const Telemetry& reading : readings) {
    if (reading.*quantity) values.push_back(*(reading.*quantity));
  }
  if (values.empty()) return std::nullopt;
  const Statistics s = describe(std::move(values));
  return TelemetrySummary::Range{s.min, s.median, s.max};
}

}  // namespace

TelemetrySummary summarize(std::span<const Telemetry> readings) {
  TelemetrySummary summary{.readings = readings.size(),
                           .sm_clock_mhz = range_of(readings, &Telemetry::sm_clock_mhz),
                           .power_w = range_of(readings, &Telemetry::power_w),
                           .temperature_c = range_of(readings, &Telemetry::temperature_c),
                           .clock_reasons = std::nullopt};
  for (const Telemetry& reading : readings) {
    if (reading.clock_reasons)
      summary.clock_reasons = summary.clock_reasons.value_or(0) | *reading.clock_reasons;
  }
  return summary;
}

std::unique_ptr<Nvml> Nvml::open(int cuda_ordinal, std::string* why) {
  const auto fail = [why](const char* reason) {
    if (why != nullptr) *why = reason;
    return nullptr;
  };
  std::unique_ptr<Nvml> nvml(new Nvml);
  nvml->library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml->library_ == nullptr)
    return fail("libnvidia-ml.so.1 is not there (it comes with NVIDIA's driver)");
  nvml->initialized_ = call(nvml->library_, "nvmlInit_v2");
  if (!nvml->initialized_) return fail("nvmlInit failed (no driver running)");
  std::array<char, 32> bus{};
  if (cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), cuda_ordinal) !=
      cudaSuccess) {
    return fail("the CUDA device has no PCI address");
  }
  const char* address = bus.data();
  if (!call(nvml->library_, "nvmlDeviceGetHandleByPciBusId_v2", address, &nvml->device_)) {
    return fail("NVML does not know the CUDA device");
  }
  return nvml;
}

Nvml::~Nvml() {
  if (initialized_) (void)call(library_, "nvmlShutdown");
  if (library_ != nullptr) (void)dlclose(library_);
}

Telemetry Nvml::read() const {
  Telemetry now;
  unsigned value = 0;
  if (call(library_, "nvmlDeviceGetClockInfo", device_, kNvmlClockSm, &value))
    now.sm_clock_mhz = value;
  if (call(library_, "nvmlDeviceGetPowerUsage", device_, &value)) now.power_w = value / 1000.0;
  if (call(library_, "nvmlDeviceGetTemperature", device_, kNvmlTemperatureGpu, &value))
    now.temperature_c = value;
  // the older name of the function, which newer drivers still export
  unsigned long long reasons = 0;
  if (call(library_, "nvmlDeviceGetCurrentClocksThrottleReasons", device_, &reasons))
    now.clock_reasons = reasons;
  return now;
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, kNvmlVersionBytes> version{};
  char* text = version.data();
  if (!call(library_, "nvmlSystemGetDriverVersion", text, kNvmlVersionBytes)) return std::nullopt;
  return std::string(text);
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned value = 0;
  if (!call(library_, "nvmlDeviceGetEnforcedPowerLimit", device_, &value)) return std::nullopt;
  return value / 1000.0;
}

std::optional<double> Nvml::max_sm_clock_mhz() const {
  unsigned value = 0;
  if (!call(library_, "nvmlDeviceGetMaxClockInfo", device_, kNvmlClockSm, &value))
    return std::nullopt;
  return value;
}

}  // namespace ladder
