// SPDX-License-Identifier: Apache-2.0
// The functions of the driver that programs ask the runtime for by name.
#pragma once
#include <string_view>

namespace vgpu::runtime {

// Null where it is not implemented.
void* driver_function(std::string_view name);

}  // namespace vgpu::runtime
