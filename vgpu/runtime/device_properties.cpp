// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_properties.hpp"

#include <algorithm>

namespace vgpu::runtime {
namespace {

template <class T, class Value>
void set(T& field, Value value) {
  field = static_cast<T>(value);
}

}  // namespace

cudaDeviceProp properties_of(const Device& device) {
  cudaDeviceProp p{};
  device.name.copy(p.name, sizeof p.name - 1);
  const auto uuid = vgpu::uuid(device.place);
  std::ranges::copy(uuid, p.uuid.bytes);
  p.totalGlobalMem = device.memory_bytes;
  p.unifiedFunctionPointers = 1;
#define VGPU_PROPERTY(attribute, field, value) set(p.field, value);
#define VGPU_ATTRIBUTE(attribute, value)
#include "runtime/device_properties.inc"
#undef VGPU_PROPERTY
#undef VGPU_ATTRIBUTE
  return p;
}

std::optional<int> attribute_of(const Device& device, cudaDeviceAttr attribute) {
  switch (attribute) {
#define VGPU_PROPERTY(name, field, value) VGPU_ATTRIBUTE(name, value)
#define VGPU_ATTRIBUTE(name, value) \
  case cudaDevAttr##name:           \
    return static_cast<int>(value);
#include "runtime/device_properties.inc"
#undef VGPU_PROPERTY
#undef VGPU_ATTRIBUTE
    default: return std::nullopt;
  }
}

}  // namespace vgpu::runtime
