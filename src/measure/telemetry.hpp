// SPDX-License-Identifier: Apache-2.0
// Reads a GPU's clock, power and temperature through NVML, which is part of the driver and is
// loaded if present.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ladder {

// A field is empty if NVML or the device does not report it.
struct Telemetry {
  std::optional<double> sm_clock_mhz, power_w, temperature_c;
  // nvmlClocksEventReason* bits: the reasons that limit the clock.
  std::optional<std::uint64_t> clock_reasons = std::nullopt;
};

// The readings of one measurement. A quantity is empty if no reading has it.
struct TelemetrySummary {
  struct Range {
    double min = 0, median = 0, max = 0;
    bool operator==(const Range&) const = default;
  };
  std::size_t readings = 0;
  std::optional<Range> sm_clock_mhz, power_w, temperature_c;
  std::optional<std::uint64_t> clock_reasons;  // bits that any reading has

  bool operator==(const TelemetrySummary&) const = default;
};
TelemetrySummary summarize(std::span<const Telemetry> readings);

// Mask of clock reasons that mean throttling: hardware slowdown, thermal slowdown by software and
// by hardware, power brake (nvml.h). The power cap (0x4) is excluded because clocks settle under
// it.
constexpr std::uint64_t kHeldBack = 0x8 | 0x20 | 0x40 | 0x80;

class Nvml {
 public:
  // Null if the library, the driver or the device is not available; `why` then names the cause.
  static std::unique_ptr<Nvml> open(int cuda_ordinal, std::string* why = nullptr);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  Telemetry read() const;
  std::optional<std::string> driver_version() const;
  std::optional<double> power_limit_w() const;
  std::optional<double> max_sm_clock_mhz() const;

 private:
  Nvml() = default;
  void* library_ = nullptr;
  void* device_ = nullptr;
  bool initialized_ = false;
};

}  // namespace ladder
