// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ladder/kernel.hpp>

namespace ladder {

// C = beta C, of a row-major problem that reads neither A nor B. Errors: kLaunchFailed.
Status scale_c(const Problem& p, const Operands& o, Stream stream);

}  // namespace ladder
