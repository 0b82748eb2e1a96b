// SPDX-License-Identifier: Apache-2.0
// Driver functions that programs look up by name through the runtime (cudaGetDriverEntryPoint).
#pragma once
#include <string_view>

namespace vgpu::runtime {

// Null if the function is not implemented.
void* driver_function(std::string_view name);

}  // namespace vgpu::runtime
