// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into tokens, one at a time and without copies.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace vgpu::ptx {

// Throws std::invalid_argument("PTX line <line>: <reason>").
[[noreturn]] void fail(int line, const std::string& reason);
// 'text' in quotes, truncated if it is long, for use in reasons.
std::string quoted(std::string_view text);

struct Token {
  enum class Kind : std::uint8_t {
    kEnd,
    kName,       // including dotted parts: "ld.global.v4.f32", "%tid.x", "$L__BB0_1", "_"
    kDirective,  // text without the dot: "reg"
    kInteger,    // bits, is_unsigned
    kFloat32,    // bits
    kFloat64,    // bits
    kString,     // text without the quotes, escapes as written
    kPunctuation,
  };
  Kind kind = Kind::kEnd;
  char punctuation = 0;
  bool is_unsigned = false;
  int line = 1;
  std::string_view text;
  std::uint64_t bits = 0;

  bool is(char c) const { return punctuation == c; }
  bool is_name() const { return kind == Kind::kName; }
  bool is_name(std::string_view name) const { return kind == Kind::kName && text == name; }
  bool is_directive() const { return kind == Kind::kDirective; }
  bool is_directive(std::string_view name) const {
    return kind == Kind::kDirective && text == name;
  }
  bool is_integer() const { return kind == Kind::kInteger; }
};

class Lexer {
 public:
  // `text` must be followed by a NUL; a NUL inside ends it.
  explicit Lexer(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  Token next();

 private:
  void skip_blanks();
  Token name();
  Token directive();
  Token number();
  Token exact_float(int digits, Token::Kind kind);
  Token decimal_float();
  Token string();
  Token finish(Token::Kind kind, const char* begin);

  const char* at_;
  const char* end_;
  int line_ = 1;
};

}  // namespace vgpu::ptx
