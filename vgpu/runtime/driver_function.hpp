// SPDX-License-Identifier: Apache-2.0
// Finds functions of the driver API by name, as cuGetProcAddress does. vgpu/driver defines it.
#pragma once
#include <string_view>

namespace vgpu::runtime {

struct DriverFunction {
  void* address = nullptr;
  bool known = false;  // the driver has a function of that name, maybe for newer versions only
};

// `version` is that of the arguments: 12000 for CUDA 12.0. `per_thread` asks for the form that uses
// the per-thread default stream, if there is one.
DriverFunction find_driver_function(std::string_view name, int version, bool per_thread);

}  // namespace vgpu::runtime
