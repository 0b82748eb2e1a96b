// SPDX-License-Identifier: Apache-2.0
#include "ptx/parse/lexer.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <stdexcept>

namespace vgpu::ptx {
namespace {

enum : std::uint8_t { kStart = 1, kPart = 2, kDigit = 4, kHex = 8 };

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) {
    classes[c] = kStart | kPart;
    classes[c - 'a' + 'A'] = kStart | kPart;
  }
  for (int c = '0'; c <= '9'; ++c) classes[c] = kPart | kDigit | kHex;
  for (int c = 'a'; c <= 'f'; ++c) {
    classes[c] |= kHex;
    classes[c - 'a' + 'A'] |= kHex;
  }
  classes['_'] = classes['$'] = kStart | kPart;
  return classes;
}();

bool is(char c, std::uint8_t what) { return (kClasses[static_cast<unsigned char>(c)] & what) != 0; }

const char* skip(const char* at, std::uint8_t what) {
  while (is(*at, what)) ++at;
  return at;
}

}  // namespace

void fail(int line, const std::string& reason) {
  throw std::invalid_argument("PTX line " + std::to_string(line) + ": " + reason);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result = "'";
  for (char c : text.substr(0, kLongest)) result += (c >= ' ' && c <= '~') ? c : ' ';
  if (text.size() > kLongest) result += "...";
  return result + "'";
}

void Lexer::skip_blanks() {
  for (;; ++at_) {
    const char c = *at_;
    if (c == '\n') {
      ++line_;
    } else if (c == '/' && at_[1] == '/') {
      while (*at_ != '\n' && *at_ != '\0') ++at_;
      --at_;
    } else if (c == '/' && at_[1] == '*') {
      const int first = line_;
      for (at_ += 2; !(at_[0] == '*' && at_[1] == '/'); ++at_) {
        if (*at_ == '\0') fail(first, "the comment that begins here has no end");
        if (*at_ == '\n') ++line_;
      }
      ++at_;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\v' && c != '\f') {
      return;
    }
  }
}

Token Lexer::finish(Token::Kind kind, const char* begin) {
  Token token;
  token.kind = kind;
  token.line = line_;
  token.text = {begin, static_cast<std::size_t>(at_ - begin)};
  return token;
}

Token Lexer::next() {
  skip_blanks();
  const char c = *at_;
  if (c == '\0') return finish(Token::Kind::kEnd, at_);
  if (is(c, kStart) || (c == '%' && is(at_[1], kPart))) return name();
  if (is(c, kDigit)) return number();
  if (c == '.') return is(at_[1], kDigit) ? decimal_float() : directive();
  if (c == '"') return string();
  if (c < ' ' || c > '~')
    fail(line_, "a character that is no PTX: code " + std::to_string(c & 0xff));
  Token token = finish(Token::Kind::kPunctuation, at_);
  token.text = {at_, 1};
  token.punctuation = c;
  ++at_;
  return token;
}

Token Lexer::name() {
  const char* begin = at_;
  at_ = skip(at_ + 1, kPart);
  while (*at_ == '.' && is(at_[1], kPart)) {
    at_ = skip(at_ + 1, kPart);
    while (at_[0] == ':' && at_[1] == ':' && is(at_[2], kPart)) at_ = skip(at_ + 2, kPart);
  }
  return finish(Token::Kind::kName, begin);
}

Token Lexer::directive() {
  const char* begin = ++at_;
  at_ = skip(at_, kPart);
  if (at_ == begin) fail(line_, "a name must follow the dot");
  return finish(Token::Kind::kDirective, begin);
}

Token Lexer::exact_float(int digits, Token::Kind kind) {
  const char* begin = at_;
  at_ += 2;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(at_, skip(at_, kHex), bits, 16);
  if (error != std::errc{} || end - at_ != digits || is(*end, kPart)) {
    fail(line_,
         "a floating-point constant needs " + std::to_string(digits) + " hexadecimal digits");
  }
  at_ = end;
  Token token = finish(kind, begin);
  token.bits = bits;
  return token;
}

Token Lexer::decimal_float() {
  const char* begin = at_;
  double value = 0;
  const auto [end, error] = std::from_chars(at_, end_, value);
  if (error == std::errc::invalid_argument || is(*end, kPart)) fail(line_, "malformed number");
  if (error != std::errc{}) fail(line_, "a number beyond the range of f64");
  at_ = end;
  Token token = finish(Token::Kind::kFloat64, begin);
  token.bits = std::bit_cast<std::uint64_t>(value);
  return token;
}

Token Lexer::number() {
  const char* begin = at_;
  const char second = at_[1];
  int base = 10;
  if (*at_ == '0') {
    if (second == 'f' || second == 'F') return exact_float(8, Token::Kind::kFloat32);
    if (second == 'd' || second == 'D') return exact_float(16, Token::Kind::kFloat64);
    if (second == 'x' || second == 'X') base = 16;
    if (second == 'b' || second == 'B') base = 2;
    if (is(second, kDigit)) base = 8;
  }
  if (base == 10 || base == 8) {
    const char* end = skip(at_, kDigit);
    if (*end == '.' || *end == 'e' || *end == 'E') return decimal_float();
  }
  at_ += base == 16 || base == 2 ? 2 : 0;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(at_, skip(at_, kHex), bits, base);
  if (error == std::errc::result_out_of_range)
    fail(line_, "an integer constant of more than 64 bits");
  if (error != std::errc{}) fail(line_, "malformed number");
  at_ = end;
  const bool suffix = *at_ == 'U' || *at_ == 'u';
  if (suffix) ++at_;
  if (is(*at_, kPart)) fail(line_, "malformed number");
  Token token = finish(Token::Kind::kInteger, begin);
  token.bits = bits;
  token.is_unsigned = suffix || (bits >> 63) != 0;
  return token;
}

Token Lexer::string() {
  const char* begin = ++at_;
  while (*at_ != '"') {
    if (*at_ == '\\' && at_[1] != '\0') ++at_;
    if (*at_ == '\0' || *at_ == '\n') fail(line_, "a string without its closing quote");
    ++at_;
  }
  Token token = finish(Token::Kind::kString, begin);
  ++at_;
  return token;
}

}  // namespace vgpu::ptx
