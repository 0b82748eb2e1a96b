// SPDX-License-Identifier: Apache-2.0
// How much of a problem one launch covers, and how many pieces of it there are.
#pragma once
#include <cstdint>

namespace ladder {

// A grid's y and z end at 65,535 (CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability").
constexpr int kMaxGridYZ = 65'535;
// The part of one launch that stays within an int, for its counters.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 30;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace ladder
