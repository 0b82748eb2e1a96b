// SPDX-License-Identifier: Apache-2.0
#include "learn/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "problem/number.hpp"

namespace ladder::learn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Value plain(double value) { return {value, std::abs(value)}; }

// A parsed expression: the function that evaluates it.
using Term = std::function<Value()>;

struct Function {
  std::string_view name;
  std::size_t arguments;
  double (*of)(double, double);
};
constexpr Function kFunctions[] = {{"abs", 1, [](double a, double) { return std::abs(a); }},
                                   {"min", 2, [](double a, double b) { return std::min(a, b); }},
                                   {"max", 2, [](double a, double b) { return std::max(a, b); }},
                                   {"floor", 1, [](double a, double) { return std::floor(a); }},
                                   {"ceil", 1, [](double a, double) { return std::ceil(a); }},
                                   {"sqrt", 1, [](double a, double) { return std::sqrt(a); }},
                                   {"log2", 1, [](double a, double) { return std::log2(a); }},
                                   {"pow", 2, [](double a, double b) { return std::pow(a, b); }}};

Value sum(const Value& a, const Value& b) { return {a.value + b.value, a.magnitude + b.magnitude}; }
Value difference(const Value& a, const Value& b) {
  return {a.value - b.value, a.magnitude + b.magnitude};
}
Value product(const Value& a, const Value& b) {
  return {a.value * b.value, a.magnitude * b.magnitude};
}
Value quotient(const Value& a, const Value& b) {
  if (b.value == 0) return {kNaN, kNaN};
  return {a.value / b.value, a.magnitude / std::abs(b.value)};
}
Value remainder(const Value& a, const Value& b) {
  return b.value == 0 ? Value{kNaN, kNaN} : plain(std::fmod(a.value, b.value));
}
template <class Truth>
Value truth(const Value& a, const Value& b) {
  return plain(Truth()(a.value, b.value) ? 1 : 0);
}

struct Operator {
  std::string_view text;
  Value (*of)(const Value&, const Value&);
};
// Binary operators by increasing precedence. A longer text precedes its own beginning.
const std::vector<std::vector<Operator>> kLevels = {
    {{"||", truth<std::logical_or<>>}},
    {{"&&", truth<std::logical_and<>>}},
    {{"==", truth<std::equal_to<>>}, {"!=", truth<std::not_equal_to<>>}},
    {{"<=", truth<std::less_equal<>>},
     {">=", truth<std::greater_equal<>>},
     {"<", truth<std::less<>>},
     {">", truth<std::greater<>>}},
    {{"+", sum}, {"-", difference}},
    {{"*", product}, {"/", quotient}, {"%", remainder}}};

struct SyntaxError {
  std::string message;
};

// The sum of the term for variable = 0 to count - 1.
Value sum_of(double count, double& variable, const Term& term) {
  if (std::isnan(count)) return {kNaN, kNaN};
  // An inner sum may use the same name for its counter.
  const double before = variable;
  Value total;
  for (double i = 0; i < count; i += 1) {
    variable = i;
    const Value value = term();
    total.value += value.value;
    total.magnitude += value.magnitude;
  }
  variable = before;
  return total;
}

class Parser {
 public:
  Parser(std::string_view text, Scope& scope) : text_(text), scope_(scope) {}

  Term parse() {
    Term root = choice();
    if (skip(); at_ != text_.size()) fail("unexpected text");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw SyntaxError{fmt::format("'{}', character {}: {}", text_, at_ + 1, why)};
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void require(std::string_view token) {
    if (!take(token)) fail(fmt::format("'{}' is missing", token));
  }

  Term choice() {
    // Bounds the recursion, since the text is a file's.
    constexpr int kDeepest = 100;
    if (++depth_ > kDeepest) fail("nested too deeply");
    Term condition = binary(0);
    if (take("?")) {
      Term yes = choice();
      require(":");
      condition = [condition = std::move(condition), yes = std::move(yes), no = choice()] {
        return condition().value != 0 ? yes() : no();
      };
    }
    --depth_;
    return condition;
  }

  Term binary(std::size_t level) {
    if (level == kLevels.size()) return unary();
    Term left = binary(level + 1);
    for (bool found = true; found;) {
      found = false;
      for (const Operator& op : kLevels[level]) {
        if (!take(op.text)) continue;
        left = [of = op.of, left = std::move(left), right = binary(level + 1)] {
          return of(left(), right());
        };
        found = true;
        break;
      }
    }
    return left;
  }

  Term unary() {
    if (!take("-")) return primary();
    return [inner = primary()] {
      const Value value = inner();
      return Value{-value.value, value.magnitude};
    };
  }

  Term primary() {
    if (take("(")) {
      Term inner = choice();
      require(")");
      return inner;
    }
    skip();
    const std::size_t begin = at_;
    const auto is_part = [](char ch) {
      return std::isalnum(static_cast<unsigned char>(ch)) != 0 || ch == '_' || ch == '.';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) fail("a number or a name is missing");
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return number(word);
    if (take("[")) return element(word);
    if (take("(")) return call(word);
    const auto variable = scope_.variables.find(word);
    if (variable == scope_.variables.end()) fail(fmt::format("nothing is called '{}'", word));
    return [&value = variable->second] { return plain(value); };
  }

  Term number(std::string_view word) {
    const auto value = parse_number<double>(word);
    if (!value) fail(fmt::format("'{}' is no number", word));
    return [value = *value] { return plain(value); };
  }

  Term element(std::string_view name) {
    const auto array = scope_.arrays.find(name);
    if (array == scope_.arrays.end()) fail(fmt::format("no array is called '{}'", name));
    Term index = choice();
    require("]");
    return [&values = array->second, index = std::move(index)] {
      const double at = index().value;
      if (!(at >= 0 && at < static_cast<double>(values.size()))) return Value{kNaN, kNaN};
      return plain(values[static_cast<std::size_t>(at)]);
    };
  }

  Term call(std::string_view name) {
    if (name == "sum") return repeated_sum();
    const auto* const function = std::ranges::find(kFunctions, name, &Function::name);
    if (function == std::end(kFunctions)) fail(fmt::format("no function is called '{}'", name));
    Term first = choice(), second = [] { return Value(); };
    if (function->arguments > 1) {
      require(",");
      second = choice();
    }
    require(")");
    return [of = function->of, first = std::move(first), second = std::move(second)] {
      return plain(of(first().value, second().value));
    };
  }

  Term repeated_sum() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::string counter(text_.substr(begin, at_ - begin));
    if (counter.empty()) fail("the counter's name is missing");
    require(",");
    Term count = choice();
    require(",");
    double& variable = scope_.variables[counter];
    Term term = choice();
    require(")");
    return [count = std::move(count), &variable, term = std::move(term)] {
      return sum_of(count().value, variable, term);
    };
  }

  std::string_view text_;
  Scope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text, Scope& scope) {
  try {
    return Expression(Parser(text, scope).parse());
  } catch (const SyntaxError& error) {
    return Status(Code::kInvalidArgument, error.message);
  }
}

Result<double> evaluate(std::string_view text, Scope& scope) {
  auto expression = Expression::parse(text, scope);
  if (!expression) return expression.status();
  return expression.value().evaluate().value;
}

}  // namespace ladder::learn
