// SPDX-License-Identifier: Apache-2.0
// The virtual devices: the properties of each GPU that a program can query and that launches are
// checked against. The values and their sources are in architectures.inc (fixed by the compute
// capability) and products.inc (fixed by the product).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vgpu {

// Properties fixed by the compute capability.
struct Architecture {
  int major, minor;
  int threads_per_multiprocessor, blocks_per_multiprocessor;
  int barriers_per_multiprocessor;  // named barriers; 0: they never limit occupancy
  int registers_per_multiprocessor, registers_per_block;
  std::size_t shared_per_multiprocessor;
  std::size_t shared_per_block;        // the default limit
  std::size_t shared_per_block_optin;  // with cudaFuncAttributeMaxDynamicSharedMemorySize
  std::size_t reserved_shared_per_block;
  int double_ratio;  // single-precision throughput over double-precision

  int target() const { return major * 10 + minor; }  // 90 for sm_90
};

// Properties of the product.
struct Product {
  std::string_view id;    // as VGPU_DEVICE names it
  std::string_view name;  // as cudaDeviceProp::name shows it
  int multiprocessors;
  int clock_khz, memory_clock_khz;
  // guaranteed under load by the vendor; 0 if not published. Programs cannot query it
  int base_clock_khz;
  int memory_bus_bits;
  std::size_t memory_bytes;
  std::size_t l2_bytes;
  std::size_t persisting_l2_bytes;                // 0 if no document states it
  bool data_centre;                               // ECC memory, no display
  std::uint32_t pci_device_id, pci_subsystem_id;  // 0 if it differs between boards
};

struct Device : Architecture, Product {
  int place = 0;  // in the machine, from 0: what its PCI address and its UUID tell
};

std::span<const Device> devices();

// Null if no device has that id: neither a known one nor one that describe() was told of.
const Device* find_device(std::string_view id);
void describe(const Device& device);

// How the device of a place is named: "0000:00:06.0", and 16 bytes, also as nvidia-smi prints them.
inline constexpr int kFirstPciDevice = 6;
std::string pci_bus_id(int place);
std::array<char, 16> uuid(int place);
std::string uuid_text(int place);

// All ids for messages: "h200, h100, ...".
std::string known_devices();

// Devices described by JSON files (docs/device.schema.json), in the form that device_json() writes.

// Whether an item of --device names a file and not a known device.
bool names_device_file(std::string_view item);

// Reads the device that the file describes. Returns "" or an error message that names the file, the
// key and the rule. find_device() then finds it, and its texts live as long as the process.
std::string read_device(const std::string& path, Device& device);

// The device as such a file.
std::string device_json(const Device& device);

// Reads a whole file. Returns 0 or an error number; a device such as /dev/zero has no end.
int read_file(const std::string& path, std::string& text);

// "not JSON: " and where, from an exception of the parser; without the exception's own number.
std::string no_json(const std::string& what);

}  // namespace vgpu
