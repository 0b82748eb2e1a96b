// SPDX-License-Identifier: Apache-2.0
#include "report/text.hpp"

#include <fmt/format.h>

#include "problem/number.hpp"

namespace ladder {
namespace {

// Size in bytes and code point of the UTF-8 character at the start of a text; size 0 if it is
// invalid.
struct Character {
  std::size_t bytes = 0;
  char32_t code = 0;
};
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned head = byte(0);
  if (head < 0x80) return {1, head};
  const std::size_t bytes = head >= 0xF0 ? 4 : head >= 0xE0 ? 3 : 2;
  if (head < 0xC2 || head > 0xF4 || bytes > text.size()) return {};
  char32_t code = head & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= kLeast[bytes] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return valid ? Character{bytes, code} : Character{};
}

bool is_control(char32_t code) {
  const bool direction = code == 0x61C || code == 0x200E || code == 0x200F ||
                         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
         direction;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::string_view bytes = text.substr(0, next.bytes == 0 ? 1 : next.bytes);
    text.remove_prefix(bytes.size());
    if (next.bytes != 0 && (!is_control(next.code) || kept.find(bytes) != std::string_view::npos)) {
      safe += bytes;
      continue;
    }
    for (const char ch : bytes) safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(ch));
  }
  return safe;
}

std::string markdown_text(std::string_view text) {
  std::string safe;
  for (const char ch : printable(text)) {
    if (ch == '<') {
      safe += "&lt;";
    } else if (ch == '>') {
      safe += "&gt;";
    } else if (ch == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("\\|`*[]").find(ch) != std::string_view::npos) safe += '\\';
      safe += ch;
    }
  }
  return safe;
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._,:/+@=%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char ch : text) word += ch == '\'' ? "'\\''" : std::string(1, ch);
  return word + "'";
}

std::string csv_field(std::string_view text) {
  std::string field(text);
  const bool formula =
      !field.empty() && std::string_view("=+-@\t\r").find(field[0]) != std::string_view::npos;
  if (formula && !parse_number<double>(field)) field.insert(0, 1, '\'');
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char ch : field) quoted += ch == '"' ? "\"\"" : std::string(1, ch);
  return quoted + '"';
}

}  // namespace ladder
