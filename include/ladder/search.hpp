// SPDX-License-Identifier: Apache-2.0
// The search space of a tunable rung: its parameters, the values to try, and the valid
// combinations.
#pragma once
#include <span>
#include <string_view>

namespace ladder {

struct Parameter {
  std::string_view name;
  std::span<const int> values;  // ascending: neighbours in the list are neighbours in the search
};

// A point of the space: one value per parameter, in the parameters' order.
struct SearchSpace {
  std::string_view rung;
  std::span<const Parameter> parameters;
  std::span<const int> by_hand;  // the point that is used where no tuning result exists
  bool (*allowed)(std::span<const int> point) =
      nullptr;  // the static_asserts of the rung's Tile, as a function
};

// Returns the search space of a rung, or null if it declares none.
const SearchSpace* search_space(std::string_view rung);

}  // namespace ladder
