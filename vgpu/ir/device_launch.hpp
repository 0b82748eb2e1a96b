// SPDX-License-Identifier: Apache-2.0
// Launches by kernels (CUDA dynamic parallelism).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.hpp"

namespace vgpu {

// A kernel that others may launch.
struct Launchable {
  std::string name;  // mangled
  std::uint32_t param_bytes = 0;
};

// A copy or a fill that a kernel enqueues.
struct DeviceCopy {
  std::uint64_t to = 0, from = 0, bytes = 0;
  std::optional<int> value;  // a fill's
};

struct DeviceLaunch {
  std::string kernel;  // mangled
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> params;
  bool tail = false;  // begins when the launching grid and all that it launched have ended
  std::optional<DeviceCopy> copy = std::nullopt;  // instead of a kernel
};

// Levels of launches by kernels (CUDA C++ Programming Guide, "Nesting Depth").
inline constexpr unsigned kMostLaunchDepth = 24;

}  // namespace vgpu
