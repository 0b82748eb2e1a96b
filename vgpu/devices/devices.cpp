// SPDX-License-Identifier: Apache-2.0
#include "devices/devices.hpp"

#include <array>

namespace vgpu {
namespace {

constexpr std::size_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::size_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::size_t operator""_GiB(unsigned long long n) { return n << 30; }

#include "devices/architectures.inc"
#include "devices/products.inc"

constexpr std::array kDevices = {
    Device{kSm90, kH200},       Device{kSm90, kH100},    Device{kSm80, kA100},
    Device{kSm86, kA6000},      Device{kSm86, kRtx3090}, Device{kSm89, kRtx4090},
    Device{kSm120, kRtx5070Ti},
};

}  // namespace

std::span<const Device> devices() { return kDevices; }

const Device* find_device(std::string_view id) {
  for (const Device& device : kDevices) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

std::string known_devices() {
  std::string names;
  for (const Device& device : kDevices) {
    if (!names.empty()) names += ", ";
    names += device.id;
  }
  return names;
}

}  // namespace vgpu
