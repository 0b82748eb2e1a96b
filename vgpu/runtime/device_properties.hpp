// SPDX-License-Identifier: Apache-2.0
// A virtual device as cudaDeviceProp and attributes. Values that no document states are those that
// an H200 reports.
#pragma once
#include <optional>

#include "devices/devices.hpp"
#include "runtime/api.hpp"

namespace vgpu::runtime {

constexpr int kMostAccessPolicyBytes = 128 << 20;  // of an access policy window

cudaDeviceProp properties_of(const Device& device);

// Empty for an attribute that CUDA 13.0 does not define.
std::optional<int> attribute_of(const Device& device, cudaDeviceAttr attribute);

}  // namespace vgpu::runtime
