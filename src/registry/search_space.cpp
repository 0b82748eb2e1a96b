// SPDX-License-Identifier: Apache-2.0
// The search spaces of the tunable rungs, which src/CMakeLists.txt lists.
#include <ladder/search.hpp>

#define LADDER_TUNABLE(name)       \
  namespace ladder::name {         \
  extern const SearchSpace kSpace; \
  }
#include "tunable.inc"
#undef LADDER_TUNABLE

namespace ladder {

const SearchSpace* search_space(std::string_view rung) {
#define LADDER_TUNABLE(name) \
  if (rung == #name) return &name::kSpace;
#include "tunable.inc"
#undef LADDER_TUNABLE
  return nullptr;
}

}  // namespace ladder
