// SPDX-License-Identifier: Apache-2.0
// The clock of the calling core, by a chain of dependent additions, one a cycle. A core lowers its
// clock for wide vectors and raises it some microseconds after the last of them, so what a kernel
// ran at has to be asked for right behind it.
#pragma once
#include <cstdint>

namespace ladder::host {

// So many additions, each waiting for the one before; a multiple of 16. The result is nothing but a
// reason to do them.
std::uint64_t dependent_adds(std::int64_t count);

// Hertz, in about a microsecond and to about one per cent. 0 where the clock changed meanwhile, or
// something else ran.
double core_clock_now();

}  // namespace ladder::host
