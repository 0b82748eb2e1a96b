// SPDX-License-Identifier: Apache-2.0
// Times that no kernel can have: below the roofline's floor.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <string>

namespace ladder {

// FLOP/s that the units of a precision cannot exceed: of CUDA cores for ieee, else of tensor cores, divided by the products
// that stand for one. 0 where it is not known, or for the device to choose (auto).
double most_flops(const Device& device, Precision precision);

// Milliseconds below which `problem` cannot be computed: its operations at most_flops(), and,
// where `from_memory` (operands that do not lie in a cache), its least bytes at the bandwidth of device memory. 0 where
// the device's figures are not known.
double floor_ms(const Problem& problem, Precision precision, const Device& device, bool from_memory);

// "" or one line that says what is wrong with a median of `ms`.
std::string below_floor(double ms, double floor);

}  // namespace ladder
