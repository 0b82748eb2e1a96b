// SPDX-License-Identifier: Apache-2.0
#include "runtime/pattern.hpp"

#include <array>
#include <cctype>
#include <string_view>

namespace vgpu {
namespace {

// What the C library would take for something else, or would need much stack or memory for.
std::string refusal(std::string_view text) {
  constexpr std::size_t kMostCharacters = 1000;
  constexpr std::string_view kEscapes = "wWsSbB<>";
  if (text.size() > kMostCharacters) return "longer than 1000 characters";
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with("){") || text.substr(at).starts_with("}{"))
      return "{ } can only follow a character or a set";
    if (text[at] != '\\' || ++at == text.size()) continue;
    if (std::isalnum(static_cast<unsigned char>(text[at])) != 0 &&
        kEscapes.find(text[at]) == kEscapes.npos)
      return std::string("\\") + text[at] + " is not known";
  }
  return "";
}

}  // namespace

std::string Pattern::parse(const std::string& text) {
  if (std::string why = refusal(text); !why.empty()) return why;
  auto* const regex = new regex_t;
  const int error = regcomp(regex, text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error == 0) {
    compiled_.reset(regex, [](regex_t* mine) {
      regfree(mine);
      delete mine;
    });
    return "";
  }
  std::array<char, 100> message{};
  regerror(error, regex, message.data(), message.size());
  delete regex;
  return message.data();
}

bool Pattern::found_in(const std::string& text) const {
  return compiled_ == nullptr || regexec(compiled_.get(), text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace vgpu
