// SPDX-License-Identifier: Apache-2.0
#include "devices/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

namespace vgpu {
namespace {

constexpr std::size_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::size_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::size_t operator""_GiB(unsigned long long n) { return n << 30; }

#include "devices/architectures.inc"
#include "devices/products.inc"

constexpr std::array kDevices = {
    Device{kSm90, kH200},     Device{kSm90, kH100},    Device{kSm90, kGh200},
    Device{kSm100, kB200},    Device{kSm80, kA100},    Device{kSm89, kL4},
    Device{kSm75, kT4},       Device{kSm86, kA6000},   Device{kSm75, kRtx2080Ti},
    Device{kSm86, kRtx3090},  Device{kSm89, kRtx4090}, Device{kSm120, kRtx5070Ti},
    Device{kSm120, kRtx5090},
};

std::deque<Device>& described() {
  static auto& list = *new std::deque<Device>;
  return list;
}

}  // namespace

std::span<const Device> devices() { return kDevices; }

const Device* find_device(std::string_view id) {
  for (const Device& device : kDevices) {
    if (device.id == id) return &device;
  }
  for (const Device& device : described()) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

void describe(const Device& device) {
  std::deque<Device>& list = described();
  const auto former = std::ranges::find(list, device.id, &Device::id);
  if (former == list.end())
    list.push_back(device);
  else
    *former = device;
}

std::string pci_bus_id(int place) {
  return fmt::format("0000:00:{:02x}.0", kFirstPciDevice + place);
}

// The place is among the first digits, so that a few of them tell the devices apart.
std::array<char, 16> uuid(int place) {
  std::array<char, 16> bytes;
  std::memcpy(bytes.data(), "\0ladder's virtual GPU", bytes.size());
  bytes.front() = static_cast<char>(place);
  return bytes;
}

std::string uuid_text(int place) {
  std::string text = "GPU-";
  const auto bytes = uuid(place);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
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
