// SPDX-License-Identifier: Apache-2.0
// Measures the calling core's clock with a chain of dependent additions, one per cycle. A core
// lowers its clock for wide vector instructions and raises it some microseconds after the last one,
// so a kernel's clock must be read immediately after the kernel.
#pragma once
#include <cstdint>

namespace ladder::host {

// Executes `count` dependent additions; `count` must be a multiple of 16. The result only keeps the
// compiler from removing them.
std::uint64_t dependent_adds(std::int64_t count);

// The clock in Hz; takes about 1 microsecond, accurate to about 1%. Returns 0 if the clock changed
// during the measurement or another thread interrupted it.
double core_clock_now();

}  // namespace ladder::host
