// SPDX-License-Identifier: Apache-2.0
// The virtual devices: the facts about each GPU that a program can ask for and that launches are checked
// against. Figures are those that the CUDA runtime reports on the real device, or its data sheet (devices.cpp says).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vgpu {

struct Device {
  std::string_view id;    // as VGPU_DEVICE names it
  std::string_view name;  // as cudaDeviceProp::name shows it
  int major, minor;       // compute capability
  int multiprocessors;
  int clock_khz, memory_clock_khz;
  int base_clock_khz;  // guaranteed under load, by the data sheet; 0 if not published. No program can ask for it
  int memory_bus_bits;
  std::size_t memory_bytes;
  std::size_t l2_bytes, persisting_l2_bytes;
  std::uint32_t pci_device_id, pci_subsystem_id;

  std::size_t shared_per_multiprocessor;
  std::size_t shared_per_block;        // without opting in
  std::size_t shared_per_block_optin;  // with cudaFuncAttributeMaxDynamicSharedMemorySize
  std::size_t reserved_shared_per_block;
  int registers_per_multiprocessor, registers_per_block;
  int threads_per_multiprocessor, blocks_per_multiprocessor;

  int target() const { return major * 10 + minor; }  // 90 for sm_90
};

std::span<const Device> devices();

// Null if there is none of that id.
const Device* find_device(std::string_view id);

// "h200" or "h200, h100": for messages.
std::string known_devices();

}  // namespace vgpu
