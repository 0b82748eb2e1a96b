// SPDX-License-Identifier: Apache-2.0
// What a device's arithmetic units can do, by precision: the one table behind alarms, per cent of
// peak and roofs.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>

#include <cstdint>

namespace ladder {

// How tensor cores stand for one FP32 product: `products` of operands of `bytes` bytes each.
struct TensorProducts {
  std::int64_t bytes = 2;
  int products = 1;
  const char* peak = "";  // what that rate is called
  // Of the rate with 16-bit operands; tf32 takes twice as long (NVIDIA's architecture whitepapers).
  double share() const { return (bytes == 2 ? 1.0 : 0.5) / products; }
};
// nullptr for what CUDA cores compute (ieee), and for auto, which chooses.
const TensorProducts* tensor_products(Precision precision);

// Dense operations of an SM's tensor cores a cycle, operands of 16 bits, by compute capability: the
// most that any chip of it does with sums of 32 bits (NVIDIA's architecture whitepapers). GeForce
// cards do half of it. 0: not known.
double tensor_flop_per_cycle(int cc);

// FLOP/s that the units of a precision cannot exceed: of CUDA cores for ieee, else of tensor cores,
// divided by the products that stand for one. 0 where it is not known, or for the device to choose
// (auto).
double most_flops(const Device& device, Precision precision);

}  // namespace ladder
