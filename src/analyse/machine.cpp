// SPDX-License-Identifier: Apache-2.0
#include "analyse/machine.hpp"

#include "problem/rates.hpp"

namespace ladder::analyse {
namespace {

constexpr double kHzPerKhz = 1e3;

void set_latencies(Machine& machine) {
  if (machine.cc == 80) {
    machine.shared_latency = 29.0, machine.l1_latency = 37.9;
    machine.l2_latency = 261.5, machine.memory_latency = 466.3;
  } else if (machine.cc == 90) {
    machine.shared_latency = 29.0, machine.l1_latency = 40.7;
    machine.l2_latency = 263.0, machine.memory_latency = 478.8;
  } else {
    machine.shared_latency = 30.1, machine.l1_latency = 43.4;
    machine.l2_latency = 273.0, machine.memory_latency = 541.5;
  }
}

// With FP32 accumulation. GeForce cards run at half the rate of the same chip's professional cards.
double tensor_flop_per_cycle_of(std::string_view name, int cc) {
  const bool half = name.find("GeForce") != name.npos;
  return tensor_flop_per_cycle(cc) * (half ? 0.5 : 1.0);
}

}  // namespace

double Machine::peak_of(Precision precision, std::string* words) const {
  const TensorProducts* tensor = tensor_products(precision);
  if (words != nullptr) *words = tensor != nullptr ? tensor->peak : "FP32 peak";
  return tensor != nullptr ? tensor->share() * tensor_flop_per_cycle * sm_count * clock_hz
                           : peak_flops();
}

Machine make_machine(const vgpu::Device& device) {
  Machine machine;
  machine.device = &device;
  machine.id = device.id;
  machine.name = device.name;
  if (const auto mark = machine.name.find(" (virtual)"); mark != std::string::npos)
    machine.name.resize(mark);
  machine.cc = device.target();
  machine.sm_count = device.multiprocessors;
  machine.clock_hz = device.clock_khz * kHzPerKhz;
  machine.base_clock_hz = device.base_clock_khz * kHzPerKhz;
  constexpr double kTransfersPerClock = 2.0, kBitsPerByte = 8.0;  // double data rate
  machine.bandwidth = kTransfersPerClock * device.memory_clock_khz * kHzPerKhz *
                      device.memory_bus_bits / kBitsPerByte;
  machine.l2_bytes = static_cast<double>(device.l2_bytes);
  machine.fp32_lanes = fp32_lanes_per_sm(machine.cc);
  machine.warps = device.threads_per_multiprocessor / kWarp;
  machine.blocks = device.blocks_per_multiprocessor;
  machine.registers = device.registers_per_multiprocessor;
  machine.shared_bytes = static_cast<int>(device.shared_per_multiprocessor);
  machine.reserved_shared = static_cast<int>(device.reserved_shared_per_block);
  machine.shared_per_block = static_cast<int>(device.shared_per_block_optin);
  machine.tensor_flop_per_cycle = tensor_flop_per_cycle_of(machine.name, machine.cc);
  machine.mma_sync_share = ladder::mma_sync_share(machine.cc);
  set_latencies(machine);
  return machine;
}

Result<Machine> find_machine(std::string_view id) {
  if (const vgpu::Device* device = vgpu::find_device(id)) return make_machine(*device);
  return Status(Code::kInvalidArgument, "no device '" + std::string(id) +
                                            "' in the database; known: " + vgpu::known_devices());
}

}  // namespace ladder::analyse
