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
    .base_clock_khz = 0,
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

// Limits of an SM: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 8.6. The rest:
// NVIDIA RTX A6000 data sheet (84 SMs, 1410 to 1800 MHz, 384 bits of GDDR6 at 16 Gbit/s, 768 GB/s); memory as
// programs on such a card print it. Its share of L2 that may persist is not known here: 0.
constexpr Device kA6000 = {
    .id = "a6000",
    .name = "NVIDIA RTX A6000 (virtual)",
    .major = 8,
    .minor = 6,
    .multiprocessors = 84,
    .clock_khz = 1'800'000,
    .memory_clock_khz = 8'001'000,
    .base_clock_khz = 1'410'000,
    .memory_bus_bits = 384,
    .memory_bytes = 48'685_MiB,
    .l2_bytes = 6_MiB,
    .persisting_l2_bytes = 0,
    .pci_device_id = 0x223010DE,
    .pci_subsystem_id = 0x145910DE,
    .shared_per_multiprocessor = 100_KiB,
    .shared_per_block = 48_KiB,
    .shared_per_block_optin = 99_KiB,
    .reserved_shared_per_block = 1_KiB,
    .registers_per_multiprocessor = 65536,
    .registers_per_block = 65536,
    .threads_per_multiprocessor = 1536,
    .blocks_per_multiprocessor = 16,
};

// Limits of an SM: the same table, 12.0. The rest: NVIDIA RTX Blackwell GPU architecture white paper, GeForce RTX
// 5070 Ti (70 SMs, 2295 to 2452 MHz, 256 bits of GDDR7 at 28 Gbit/s, 896 GB/s, 48 MB L2). As above, 0 is unknown.
constexpr Device kRtx5070Ti = {
    .id = "rtx5070ti",
    .name = "NVIDIA GeForce RTX 5070 Ti (virtual)",
    .major = 12,
    .minor = 0,
    .multiprocessors = 70,
    .clock_khz = 2'452'000,
    .memory_clock_khz = 14'001'000,
    .base_clock_khz = 2'295'000,
    .memory_bus_bits = 256,
    .memory_bytes = 16'303_MiB,
    .l2_bytes = 48_MiB,
    .persisting_l2_bytes = 0,
    .pci_device_id = 0x2C0510DE,
    .pci_subsystem_id = 0,
    .shared_per_multiprocessor = 100_KiB,
    .shared_per_block = 48_KiB,
    .shared_per_block_optin = 99_KiB,
    .reserved_shared_per_block = 1_KiB,
    .registers_per_multiprocessor = 65536,
    .registers_per_block = 65536,
    .threads_per_multiprocessor = 1536,
    .blocks_per_multiprocessor = 24,
};

constexpr std::array kDevices = {kH200, kA6000, kRtx5070Ti};

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
