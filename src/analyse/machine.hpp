// SPDX-License-Identifier: Apache-2.0
// A GPU's parameters for the analyses: facts from the device database (vgpu/devices), rates that
// follow from the compute capability, and latencies that no runtime reports.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

#include <string>
#include <string_view>

#include "devices/devices.hpp"
#include "measure/peak.hpp"

namespace ladder::analyse {

constexpr int kWarp = 32;
constexpr double kBytesPerSector = 32;

struct Machine {
  const vgpu::Device* device = nullptr;  // entry in the database
  std::string id, name;
  int cc = 0;  // 90 for 9.0
  int sm_count = 0;
  double clock_hz = 0;       // clock that the peak rates refer to
  double base_clock_hz = 0;  // guaranteed; 0 if unknown
  double bandwidth = 0;      // device memory, bytes/s
  double l2_bytes = 0;

  // Per SM.
  int fp32_lanes = 0;  // CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"
  // Dense tensor core FLOP per cycle with 16-bit operands and FP32 accumulation, and the share of
  // it that mma.sync reaches.
  double tensor_flop_per_cycle = 0, mma_sync_share = 1;
  int schedulers = 4;  // each issues one warp instruction per cycle
  int warps = 0, blocks = 0, registers = 0;
  int shared_bytes = 0, reserved_shared = 0, shared_per_block = 0;
  // Between an SM and L2; from the Volta, Ampere and Hopper tuning guides.
  double l2_bytes_per_cycle = 64;

  // Cycles from issue to use. Source: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper
  // GPU Architecture" (arXiv 2402.13499), table of memory latencies: H100, A100, RTX 4090. A device
  // missing from that table uses the values of the most similar one.
  double shared_latency = 0, l1_latency = 0, l2_latency = 0, memory_latency = 0;

  double peak_flops() const { return 2.0 * fp32_lanes * sm_count * clock_hz; }
  // Tensor core FLOP per cycle and SM, for operands of `bytes` bytes.
  double tensor_rate(std::int64_t bytes) const {
    return tensor_flop_per_cycle * TensorProducts{bytes}.share();
  }
  // Peak FLOP/s for a kernel of `precision`: the FP32 pipe's, or the tensor cores' divided by the
  // number of split products per element product. `words` receives its name.
  double peak_of(Precision precision, std::string* words = nullptr) const;
};

// Errors (kInvalidArgument): unknown device; the message lists the known ones.
Result<Machine> find_machine(std::string_view id);
Machine make_machine(const vgpu::Device& device);

}  // namespace ladder::analyse
