// SPDX-License-Identifier: Apache-2.0
// The tiles that r17 chooses from for 16-bit operands.
#pragma once
#include "gemm/plan/menus.hpp"

namespace ladder {

constexpr const auto& kShapes = k16BitTiles;

}  // namespace ladder
