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

// vprintf, __assertfail, malloc and free.
inline std::optional<std::uint32_t> provided_function(std::string_view name) {
  if (name == "vprintf") return kPrintAddress;
  if (name == "__assertfail") return kAssertAddress;
  if (name == "malloc") return kMallocAddress;
  if (name == "free") return kFreeAddress;
  return std::nullopt;
}

}  // namespace vgpu::ir
