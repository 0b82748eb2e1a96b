// SPDX-License-Identifier: Apache-2.0
// Operands drawn by the device that will use them: bit for bit what make_images() and encode()
// give, without the host's memory and its way to the device, which at 16384 take longer than the
// product.
#pragma once
#include <cstddef>

#include "operands/buffer.hpp"
#include "operands/drawing.hpp"

namespace ladder {

// The matrix as it lies in device memory, between `guard` elements on each side: surroundings and
// padding are NaN (A, B) or poison (C); C itself is poison where it is not read. Nothing is
// allocated for an empty matrix with no guard. Errors: kOutOfMemory, kLaunchFailed.
Result<Buffer> draw_on_device(const Drawing& drawing, Matrix which, const Problem& problem,
                              std::size_t guard = 0);

}  // namespace ladder
