// SPDX-License-Identifier: Apache-2.0
// A virtual device in CUDA's terms. What no document fixes is as an H200 reports it.
#pragma once
#include <optional>

#include "devices/devices.hpp"
#include "runtime/api.hpp"

namespace vgpu::runtime {

cudaDeviceProp properties_of(const Device& device, int ordinal);

// Nothing for an attribute that CUDA 13.0 does not know.
std::optional<int> attribute_of(const Device& device, int ordinal, cudaDeviceAttr attribute);

}  // namespace vgpu::runtime
