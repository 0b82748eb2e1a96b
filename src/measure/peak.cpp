// SPDX-License-Identifier: Apache-2.0
#include "measure/peak.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "problem/rates.hpp"

namespace ladder {

const TensorProducts* tensor_products(Precision precision) {
  static constexpr TensorProducts kOne{2, 1, "16-bit tensor peak"}, kTf32{4, 1, "tf32 tensor peak"},
      kTf32x3{4, 3, "a third of the tf32 tensor peak"}, kByte{1, 1, "8-bit tensor peak"},
      kThree{2, 3, "a third of the 16-bit tensor peak"},
      kSix{2, 6, "a sixth of the 16-bit tensor peak"},
      kNine{2, 9, "a ninth of the 16-bit tensor peak"};
  switch (precision) {
    case Precision::kBf16:
    case Precision::kFp16: return &kOne;
    case Precision::kTf32: return &kTf32;
    case Precision::kTf32x3: return &kTf32x3;
    case Precision::kFp8: return &kByte;
    case Precision::kBf16x3:
    case Precision::kFp16x3: return &kThree;
    case Precision::kBf16x6: return &kSix;
    case Precision::kBf16x9: return &kNine;
    case Precision::kIeee:
    case Precision::kAuto: break;
  }
  return nullptr;
}

double most_flops(const Device& device, Precision precision) {
  if (precision == Precision::kIeee) return device.fp32_flops;
  const TensorProducts* tensor = tensor_products(precision);
  if (tensor == nullptr) return 0;
  return tensor->share() * tensor_flop_per_cycle(device.cc) * device.sm_count * device.sm_clock_hz;
}

double floor_ms(const Problem& problem, Precision precision, const Device& device,
                bool from_memory) {
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
      "{:.4g} ms is below the {:.4g} ms that the device needs at its peak: not measured, or not "
      "computed",
      ms, floor);
}

}  // namespace ladder
