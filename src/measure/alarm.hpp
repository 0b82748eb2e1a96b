// SPDX-License-Identifier: Apache-2.0
// Detects impossible times: below the roofline's minimum.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <string>

namespace ladder {

// Minimum time for `problem` in milliseconds: its operations at most_flops() (peak.hpp), and, if
// `from_memory` (the operands do not fit in a cache), its minimum traffic at the bandwidth of
// device memory. 0 if the device's figures are unknown.
double floor_ms(const Problem& problem, Precision precision, const Device& device,
                bool from_memory);

// Returns "" or one line that reports a median of `ms` below `floor`.
std::string below_floor(double ms, double floor);

}  // namespace ladder
