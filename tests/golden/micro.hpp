// SPDX-License-Identifier: Apache-2.0
// The small kernels of micro.cu, by name.
#pragma once
#include <cstddef>
#include <span>

namespace micro {

inline constexpr std::size_t kBytes = std::size_t{64} << 10;  // of device memory that a kernel needs

struct Launch {
  const char* name;
  void (*start)(int* memory);
};
std::span<const Launch> launches();

}  // namespace micro
