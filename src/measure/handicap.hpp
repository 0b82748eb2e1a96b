// SPDX-License-Identifier: Apache-2.0
// Deliberate delays, to test that a comparison detects slowdowns.
#pragma once
#include <ladder/kernel.hpp>

namespace ladder {

// Enqueues a kernel of one thread that spins for `ms` milliseconds, given a clock of `clock_hz`.
// Errors: kLaunchFailed.
Status spin(double ms, double clock_hz, Stream stream);

}  // namespace ladder
