// SPDX-License-Identifier: Apache-2.0
// Reading and writing of untrusted JSON without terminating the process.
#pragma once
#include <nlohmann/json.hpp>

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "report/text.hpp"

namespace ladder {

// As Json::parse. Parsing is not recursive, but comparing and printing values is, so the depth is
// limited. Throws std::exception.
template <class Json>
Json parse_json(std::string_view text) {
  constexpr int kMostDepth = 100;
  return Json::parse(text, [](int depth, typename Json::parse_event_t, Json&) {
    if (depth > kMostDepth) throw std::runtime_error("it is nested more than 100 deep");
    return true;
  });
}

// As above, with printable() applied to every string, for output on terminals and pages.
template <class Json>
Json printable_json(std::string_view text) {
  constexpr auto words = [](auto& self, Json& value) -> void {
    if (value.is_string()) {
      value = printable(value.template get_ref<const std::string&>());
    } else if (value.is_structured()) {
      for (Json& part : value) self(self, part);
    }
  };
  Json json = parse_json<Json>(text);
  words(words, json);
  return json;
}

// Prints on one line, or indented. Replaces invalid UTF-8, for which the library's own dump()
// throws.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Returns the value among `choices` whose name is the text `json`. Throws std::exception.
template <class T, class Json>
T named(const Json& json, std::span<const T> choices) {
  const auto text = json.template get<std::string>();
  for (const T choice : choices) {
    if (text == to_string(choice)) return choice;
  }
  throw std::runtime_error("unknown word '" + text + "'");
}
template <class T, class Json>
T named(const Json& json, std::initializer_list<T> choices) {
  return named(json, std::span<const T>(choices.begin(), choices.size()));
}

}  // namespace ladder
