// SPDX-License-Identifier: Apache-2.0
// A GPU as the analyses see it: the facts of the device database (vgpu/devices), what follows from
// the compute capability, and the few latencies that no runtime reports.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

#include <string>
#include <string_view>

#include "devices/devices.hpp"
#include "measure/peak.hpp"

namespace ladder::analyse {

constexpr int kWarp = 32;
constexpr double kBytesPerSector = 32, kBytesPerLine = 128;

struct Machine {
  const vgpu::Device* device = nullptr;  // its entry in the database
  std::string id, name;
  int cc = 0;  // 90 for 9.0
  int sm_count = 0;
  double clock_hz = 0;       // the clock that rates refer to
  double base_clock_hz = 0;  // guaranteed; 0 if unknown
  double bandwidth = 0;      // bytes a second of device memory
  double l2_bytes = 0;

  // Of one SM.
  int fp32_lanes = 0;  // CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"
  // Dense operations of the tensor cores a cycle, 16-bit operands and sums of 32 bits. Of those,
  // what mma.sync reaches: on Hopper 62.9% (Luo et al., as below), elsewhere all.
  double tensor_flop_per_cycle = 0, mma_sync_share = 1;
  int schedulers = 4;  // each issues an instruction of a warp a cycle
  int warps = 0, blocks = 0, registers = 0;
  int shared_bytes = 0, reserved_shared = 0, shared_per_block = 0;
  double l2_bytes_per_cycle =
      64;  // between an SM and L2: Volta, Ampere and Hopper tuning guides' data path

  // Cycles from issue to use. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
  // Architecture" (arXiv 2402.13499), table of memory latencies: H100, A100, RTX 4090. Devices that
  // it lacks take those of the nearest relative.
  double shared_latency = 0, l1_latency = 0, l2_latency = 0, memory_latency = 0;

  double peak_flops() const { return 2.0 * fp32_lanes * sm_count * clock_hz; }
  // Of an SM's tensor cores a cycle, operands of `bytes` bytes.
  double tensor_rate(std::int64_t bytes) const {
    return tensor_flop_per_cycle * TensorProducts{bytes}.share();
  }
  // What bounds a kernel that promises `precision`: the FP32 pipe, or the tensor cores with as many
  // products as it takes for one. `words` says which.
  double peak_of(Precision precision, std::string* words = nullptr) const;
};

// Errors (kInvalidArgument): no such device; the message lists the known ones.
Result<Machine> find_machine(std::string_view id);
Machine make_machine(const vgpu::Device& device);

}  // namespace ladder::analyse
