// SPDX-License-Identifier: Apache-2.0
// Generates operands on the device that uses them. They are bitwise equal to the results of
// make_images() and encode(). This avoids host memory and the transfer, which at size 16384 take
// longer than the product.
#pragma once
#include <cstddef>

#include "operands/buffer.hpp"
#include "operands/drawing.hpp"

namespace ladder {

// Returns the matrix in its device layout, with `guard` elements before and after it. Guards and
// padding are NaN (A, B) or poison (C); C itself is poison if it is not read. An empty matrix
// without guards allocates nothing. Errors: kOutOfMemory, kLaunchFailed.
Result<Buffer> draw_on_device(const Drawing& drawing, Matrix which, const Problem& problem,
                              std::size_t guard = 0);

}  // namespace ladder
