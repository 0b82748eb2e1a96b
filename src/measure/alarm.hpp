// SPDX-License-Identifier: Apache-2.0
// Times that no kernel can have: below the roofline's floor.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <string>

namespace ladder {

// Milliseconds below which `problem` cannot be computed: its operations at most_flops() (peak.hpp),
// and, where `from_memory` (operands that do not lie in a cache), its least bytes at the bandwidth
// of device memory. 0 where the device's figures are not known.
double floor_ms(const Problem& problem, Precision precision, const Device& device,
                bool from_memory);

// "" or one line that says what is wrong with a median of `ms`.
std::string below_floor(double ms, double floor);

}  // namespace ladder
