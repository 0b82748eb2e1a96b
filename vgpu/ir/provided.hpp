// SPDX-License-Identifier: Apache-2.0
// Addresses of the functions that the driver provides, in machine code. A kernel's code begins at
// address 0; these are beyond the end of any code.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace vgpu::ir {

inline constexpr std::uint32_t kPrintAddress = 0xffffff00, kAssertAddress = 0xffffff10,
                               kMallocAddress = 0xffffff20, kFreeAddress = 0xffffff30;

// The device runtime's functions (cuda_device_runtime_api.h), from this address on.
inline constexpr std::uint32_t kDeviceRuntimeAddress = 0xfffffc00;
enum class DeviceFunction : std::uint32_t {
#define DEVICE_FUNCTION(name, ...) name,
#include "ir/device_functions.def"
  kCount
};

inline std::optional<DeviceFunction> device_function(std::string_view name) {
  constexpr std::string_view kPrefix = "__cudaCDP2", kPerThread = "_ptsz";
  if (name == "cudaGraphSetConditional") return DeviceFunction::kSetConditional;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name.ends_with(kPerThread)) name.remove_suffix(kPerThread.size());
#define DEVICE_FUNCTION(id, text) \
  if (name == text) return DeviceFunction::id;
#include "ir/device_functions.def"
  return std::nullopt;
}

// vprintf, __assertfail, malloc, free and the device runtime's functions.
inline std::optional<std::uint32_t> provided_function(std::string_view name) {
  if (name == "vprintf") return kPrintAddress;
  if (name == "__assertfail") return kAssertAddress;
  if (name == "malloc") return kMallocAddress;
  if (name == "free") return kFreeAddress;
  if (const auto function = device_function(name))
    return kDeviceRuntimeAddress + 16 * static_cast<std::uint32_t>(*function);
  return std::nullopt;
}

}  // namespace vgpu::ir
