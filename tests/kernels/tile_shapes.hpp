// SPDX-License-Identifier: Apache-2.0
// The menu of tiles for 16-bit operands.
#pragma once
#include "gemm/plan/menus.hpp"

namespace ladder {

constexpr const auto& kShapes = k16BitTiles;

}  // namespace ladder
