// SPDX-License-Identifier: Apache-2.0
// Time lost on purpose: a comparison that is to find slowdowns must be seen to find one.
#pragma once
#include <ladder/kernel.hpp>

namespace ladder {

// Enqueues a kernel of one thread that does nothing for `ms` milliseconds of a clock of `clock_hz`.
// Errors: kLaunchFailed.
Status spin(double ms, double clock_hz, Stream stream);

}  // namespace ladder
