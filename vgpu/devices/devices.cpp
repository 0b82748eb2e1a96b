// SPDX-License-Identifier: Apache-2.0
#include "devices/devices.hpp"

#include <array>

namespace vgpu {
namespace {

constexpr std::size_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::size_t operator""_MiB(unsigned long long n) { return n << 20; }

// Read off cudaGetDeviceProperties and cudaDeviceGetAttribute on an H200 (driver 580, CUDA 13.0).
// nvidia-smi's 143771 MiB of memory include what the driver keeps back; 6016 bits at 3201 MHz are the data
// sheet's 4.8 TB/s.
constexpr Device kH200 = {
    .id = "h200",
    .name = "NVIDIA H200 (virtual)",
    .major = 9,
    .minor = 0,
    .multiprocessors = 132,
    .clock_khz = 1'980'000,
    .memory_clock_khz = 3'201'000,
    .memory_bus_bits = 6016,
    .memory_bytes = 150'109'880'320,
    .l2_bytes = 60_MiB,
    .persisting_l2_bytes = 39'321'600,
    .pci_device_id = 0x233510DE,
    .pci_subsystem_id = 0x18BF10DE,
    .shared_per_multiprocessor = 228_KiB,
    .shared_per_block = 48_KiB,
    .shared_per_block_optin = 227_KiB,
    .reserved_shared_per_block = 1_KiB,
    .registers_per_multiprocessor = 65536,
    .registers_per_block = 65536,
    .threads_per_multiprocessor = 2048,
    .blocks_per_multiprocessor = 32,
};

constexpr std::array kDevices = {kH200};

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
