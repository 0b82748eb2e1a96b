// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace ladder {

// The name of an enumerator. `names` has one for each of an enumeration from 0 to kLast, in order.
template <auto kLast, std::size_t n>
constexpr const char* name_of(decltype(kLast) value, const char* const (&names)[n]) {
  static_assert(n == static_cast<std::size_t>(kLast) + 1, "a name for each");
  const auto at = static_cast<std::size_t>(value);
  return at < n ? names[at] : "unknown";
}

}  // namespace ladder
