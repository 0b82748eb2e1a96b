// SPDX-License-Identifier: Apache-2.0
// The picture of the climb: a bar a rung, cuBLAS as a line across.
#pragma once
#include <span>
#include <string>

#include "report/json.hpp"

namespace ladder {

// Stand-alone SVG, legible on light and dark ground. Errors (kInvalidArgument): no row with a rate to draw.
Result<std::string> climb_chart(std::span<const Document> documents);

}  // namespace ladder
