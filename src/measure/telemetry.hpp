// SPDX-License-Identifier: Apache-2.0
// Clock, power and temperature of a GPU through NVML, which comes with the driver and is loaded
// only if it is there.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ladder {

// A field is absent where NVML or the device does not tell.
struct Telemetry {
  std::optional<double> sm_clock_mhz, power_w, temperature_c;
  std::optional<std::uint64_t> clock_reasons =
      std::nullopt;  // nvmlClocksEventReason* bits, why it is no faster

  bool operator==(const Telemetry&) const = default;
};

// Of those bits: hardware slowdown, thermal slowdown by software and by hardware, power brake
// (nvml.h). The power cap (0x4) is not among them: under it a chip settles.
constexpr std::uint64_t kHeldBack = 0x8 | 0x20 | 0x40 | 0x80;

class Nvml {
 public:
  // Null if the library, the driver or the device cannot be had; `why` then says which.
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
