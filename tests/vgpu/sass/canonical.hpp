// SPDX-License-Identifier: Apache-2.0
// The text of an instruction in a form that is the same for NVIDIA's disassembler and the decoder.
#pragma once
#include <charconv>
#include <cstdint>
#include <sstream>
#include <string>

// Numbers may be written differently by the disassembler and the decoder: integers modulo 2^32,
// decimals with other digits.
inline std::string canonical_number(const std::string& token) {
  const bool negative = token.starts_with('-');
  const std::string digits = token.substr(negative ? 1 : 0);
  if (digits.starts_with("0x")) {
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data() + 2, digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return token;
    return std::to_string(static_cast<std::uint32_t>(negative ? 0 - value : value));
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return token;
  std::ostringstream out;
  out << std::hexfloat << (negative ? -value : value);
  return out.str();
}

// The disassembler has separate names for an IMAD that only moves, adds or shifts.
inline std::string canonical(std::string text) {
  for (const char* alias : {"IMAD.MOV", "IMAD.IADD", "IMAD.SHL"}) {
    if (const std::size_t at = text.find(alias); at != text.npos)
      text.replace(at, std::string(alias).size(), "IMAD");
  }
  std::string result, token;
  for (const char c : text + " ") {
    const bool exponent =
        c == '+' && token.size() > 1 && token.back() == 'e' && token.front() != '0';
    if (c == ' ' || c == ',' || c == '[' || c == ']' || (c == '+' && !exponent)) {
      result += canonical_number(token);
      token.clear();
      if (c != ' ') result += c;
      if (c == ' ' && !result.empty() && result.back() != ' ') result += c;
    } else {
      token += c;
    }
  }
  while (result.ends_with(' ')) result.pop_back();
  for (const char* blank : {" ,", " ["}) {  // the disassembler has c[0x0] [0x160] before sm_90
    for (std::size_t at = 1; (at = result.find(blank, at)) != result.npos;) {
      if (blank[1] == ',' || result[at - 1] == ']')
        result.erase(at, 1);
      else
        ++at;
    }
  }
  return result;
}
