// SPDX-License-Identifier: Apache-2.0
// The picture of the climb (a bar a rung, cuBLAS as a line across) and of rates over sizes (a line a kernel).
#pragma once
#include <span>
#include <string>

#include "report/json.hpp"

namespace ladder {

// Stand-alone SVG, legible on light and dark ground. Errors (kInvalidArgument): no row with a rate to draw.
Result<std::string> climb_chart(std::span<const Document> documents);

// Likewise, of CUDA kernels in ieee on cubes. Errors (kInvalidArgument): no such row has a rate.
Result<std::string> sizes_chart(std::span<const Document> documents);

}  // namespace ladder
