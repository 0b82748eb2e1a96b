// SPDX-License-Identifier: Apache-2.0
// Parsing of numbers from untrusted text.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace ladder {

// Parses the whole text as a number. Returns nullopt if the text is empty, has any other character
// (a blank, a plus sign, a unit), or does not fit in T. Floating-point numbers may be "inf" and
// "nan".
template <class T>
std::optional<T> parse_number(std::string_view text, [[maybe_unused]] int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<T>) {
    result = std::from_chars(text.data(), end, value);
  } else {
    result = std::from_chars(text.data(), end, value, base);
  }
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

}  // namespace ladder
