// SPDX-License-Identifier: Apache-2.0
// Finds functions of the driver API by name, as cuGetProcAddress does. vgpu/driver defines it.
#pragma once
#include <optional>

namespace vgpu::runtime {

// `version` is that of the arguments: 12000 for CUDA 12.0. Flags and results are those of
// cuGetProcAddress and of cudaGetDriverEntryPoint, which have the same numbers. Nothing if an
// argument is invalid.
std::optional<int> find_driver_function(const char* name, void** function, int version,
                                        unsigned long long flags);

}  // namespace vgpu::runtime
