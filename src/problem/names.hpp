// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace ladder {

// The name of an enumerator; `names` has those of all, in their order.
template <class Enum, std::size_t n>
constexpr const char* name_of(Enum value, const char* const (&names)[n]) {
  const auto at = static_cast<std::size_t>(value);
  return at < n ? names[at] : "unknown";
}

}  // namespace ladder
