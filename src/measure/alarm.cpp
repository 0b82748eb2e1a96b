// SPDX-License-Identifier: Apache-2.0
#include "measure/alarm.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ladder {

namespace {

// Dense operations of an SM's tensor cores a cycle with 16-bit operands, by compute capability: the most that any chip of it
// does (NVIDIA's architecture whitepapers). 0: not known, no floor.
double tensor_flop_per_cycle(int cc) {
  if (cc == 80) return 2048;
  if (cc == 86 || cc == 89 || cc == 120) return 2048;  // with sums of 16 bits
  return cc == 90 ? 4096 : 0;
}

}  // namespace

double most_flops(const Device& device, Precision precision) {
  const double tensor = tensor_flop_per_cycle(device.cc) * device.sm_count * device.sm_clock_hz;
  switch (precision) {
    case Precision::kIeee:
      return device.fp32_flops;
    case Precision::kTf32:
      return tensor / 2;
    case Precision::kBf16:
    case Precision::kFp16:
      return tensor;
    case Precision::kTf32x3:
      return tensor / 6;
    case Precision::kBf16x3:
    case Precision::kFp16x3:
      return tensor / 3;
    case Precision::kBf16x6:
      return tensor / 6;
    case Precision::kBf16x9:
      return tensor / 9;
    case Precision::kAuto:  // whatever it chooses
      break;
  }
  return 0;
}

double floor_ms(const Problem& problem, Precision precision, const Device& device, bool from_memory) {
  constexpr double kMsPerSecond = 1e3;
  double seconds = 0;
  if (const double most = most_flops(device, precision); reads_ab(problem) && most > 0)
    seconds = flops(problem) / most;
  if (from_memory && device.memory_bandwidth > 0)
    seconds = std::max(seconds, least_bytes(problem) / device.memory_bandwidth);
  return kMsPerSecond * seconds;
}

std::string below_floor(double ms, double floor) {
  if (!(ms < floor)) return "";
  return fmt::format(
      "{:.4g} ms is below the {:.4g} ms that the device needs at its peak: not measured, or not computed", ms,
      floor);
}

}  // namespace ladder
