// SPDX-License-Identifier: Apache-2.0
// The properties of a machine that kernels, measurements and reports use.
#pragma once
#include <cstddef>
#include <string>

namespace ladder {

struct Device {
  std::string name;  // "NVIDIA H200", "NVIDIA H200 (virtual)"; the CPU's model name for the host
  bool has_cuda = false;    // a CUDA runtime with at least one device, real or virtual
  bool is_virtual = false;  // the virtual GPU: exact counts, no times
  int ordinal = 0;          // CUDA device number
  int cc = 0;               // compute capability, 90 for 9.0; 0 without CUDA
  int sm_count = 0;
  std::size_t memory_bytes = 0;  // device memory, total
  double sm_clock_hz = 0;        // highest SM clock
  double fp32_flops = 0;  // peak FP32 on CUDA cores at sm_clock_hz, or of CPU cores; 0 if unknown
  double memory_bandwidth = 0;  // bytes per second, of device memory or of the CPU's; 0 if unknown
};

}  // namespace ladder
