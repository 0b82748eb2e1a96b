// SPDX-License-Identifier: Apache-2.0
// Rates of an SM by compute capability.
#pragma once

namespace ladder {

// FP32 operations per cycle: CUDA C++ Programming Guide, table "Throughput of Native Arithmetic
// Instructions", row "32-bit floating-point add, multiply, multiply-add". 0: unknown.
constexpr int fp32_lanes_per_sm(int cc) {
  if (cc == 70 || cc == 72 || cc == 75 || cc == 80) return 64;
  return cc >= 86 ? 128 : 0;
}

// Dense tensor core FLOP per cycle and SM with 16-bit operands, by compute capability: the highest
// of all its chips with FP32 accumulation (NVIDIA's architecture whitepapers). GeForce cards reach
// half of it. 0: unknown.
constexpr double tensor_flop_per_cycle(int cc) {
  if (cc == 80) return 2048;
  if (cc == 75 || cc == 86 || cc == 89 || cc == 120) return 1024;
  if (cc == 90) return 4096;
  return cc == 100 ? 8192 : 0;
}

// The share of it that mma.sync reaches. Hopper: Luo et al., "Benchmarking and Dissecting the
// Nvidia Hopper GPU Architecture" (arXiv 2402.13499). 10.0: not published; assumed as Ampere's.
constexpr double mma_sync_share(int cc) { return cc == 90 ? 0.629 : cc == 100 ? 0.25 : 1; }

}  // namespace ladder
