// SPDX-License-Identifier: Apache-2.0
// Peak rates of a device's arithmetic units by precision, which alarms, percent of peak and
// rooflines use, and the times that they make impossible.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <cstdint>
#include <string>

namespace ladder {

// How tensor cores compute an FP32 product: `products` products of operands of `bytes` bytes each.
struct TensorProducts {
  std::int64_t bytes = 2;
  int products = 1;
  const char* peak = "";  // display name of the resulting peak
  // Fraction of the 16-bit rate; tf32 takes twice as long, 8 bits half as long (NVIDIA's
  // architecture whitepapers).
  double share() const { return 2.0 / static_cast<double>(bytes * products); }
};
// nullptr for ieee, which uses CUDA cores, and for auto, which chooses at run time.
const TensorProducts* tensor_products(Precision precision);

// Upper bound in FLOP/s for a precision: the rate of CUDA cores for ieee, otherwise the tensor
// cores' rate divided by the number of products per FP32 product. 0 if unknown, or if the precision
// is chosen at run time (auto).
double most_flops(const Device& device, Precision precision);

// Minimum time for `problem` in milliseconds: its operations at most_flops(), and, if
// `from_memory` (the operands do not fit in a cache), its minimum traffic at the bandwidth of
// device memory. 0 if the device's figures are unknown.
double floor_ms(const Problem& problem, Precision precision, const Device& device,
                bool from_memory);

// Returns "" or one line that reports a median of `ms` below `floor`.
std::string below_floor(double ms, double floor);

}  // namespace ladder
