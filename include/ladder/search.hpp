// SPDX-License-Identifier: Apache-2.0
// What a rung leaves to the tuner: its parameters, the values worth trying, and which of them go
// together.
#pragma once
#include <span>
#include <string_view>

namespace ladder {

struct Parameter {
  std::string_view name;
  std::span<const int> values;  // ascending: neighbours in the list are neighbours in the search
};

// A point of the space has one value a parameter, in the parameters' order.
struct SearchSpace {
  std::string_view rung;
  std::span<const Parameter> parameters;
  std::span<const int> by_hand;  // the point that is used where nothing was tuned
  bool (*allowed)(std::span<const int> point) =
      nullptr;  // the static_asserts of the rung's Tile, as a function
};

// Of a rung that declares one, else null.
const SearchSpace* search_space(std::string_view rung);

}  // namespace ladder
