// SPDX-License-Identifier: Apache-2.0
#include "learn/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "problem/number.hpp"

namespace ladder::learn {

enum class Op {
  kNumber,
  kVariable,
  kElement,  // children: index
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kEqual,
  kUnequal,
  kLess,
  kAtMost,
  kMore,
  kAtLeast,
  kAnd,
  kOr,
  kChoose,  // children: condition, value if true, value if false
  kSum,     // children: count, term
  kAbs,
  kMin,
  kMax,
  kFloor,
  kCeil,
  kSqrt,
  kLog2,
  kPow,
};

struct Node {
  Op op = Op::kNumber;
  double number = 0;
  double* variable = nullptr;  // also the counter of kSum
  const std::vector<double>* array = nullptr;
  std::vector<std::unique_ptr<Node>> children;

  Value evaluate() const;
};

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Value plain(double value) { return {value, std::abs(value)}; }

struct Function {
  std::string_view name;
  Op op;
  std::size_t arguments;
};
constexpr Function kFunctions[] = {{"abs", Op::kAbs, 1},   {"min", Op::kMin, 2},
                                   {"max", Op::kMax, 2},   {"floor", Op::kFloor, 1},
                                   {"ceil", Op::kCeil, 1}, {"sqrt", Op::kSqrt, 1},
                                   {"log2", Op::kLog2, 1}, {"pow", Op::kPow, 2}};

struct Operator {
  std::string_view text;
  Op op;
};
// Binary operators by increasing precedence. A longer text precedes its own beginning.
const std::vector<std::vector<Operator>> kLevels = {
    {{"||", Op::kOr}},
    {{"&&", Op::kAnd}},
    {{"==", Op::kEqual}, {"!=", Op::kUnequal}},
    {{"<=", Op::kAtMost}, {">=", Op::kAtLeast}, {"<", Op::kLess}, {">", Op::kMore}},
    {{"+", Op::kAdd}, {"-", Op::kSubtract}},
    {{"*", Op::kMultiply}, {"/", Op::kDivide}, {"%", Op::kRemainder}}};

struct SyntaxError {
  std::string message;
};

class Parser {
 public:
  Parser(std::string_view text, Scope& scope) : text_(text), scope_(scope) {}

  std::unique_ptr<Node> parse() {
    auto root = choice();
    if (skip(); at_ != text_.size()) fail("unexpected text");
    return root;
  }

 private:
  using Made = std::unique_ptr<Node>;

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
  static Made node(Op op, Made a = nullptr, Made b = nullptr, Made c = nullptr) {
    auto made = std::make_unique<Node>();
    made->op = op;
    for (Made* child : {&a, &b, &c}) {
      if (*child != nullptr) made->children.push_back(std::move(*child));
    }
    return made;
  }

  Made choice() {
    // Bounds the recursion, since the text is a file's.
    constexpr int kDeepest = 100;
    if (++depth_ > kDeepest) fail("nested too deeply");
    Made condition = binary(0);
    if (take("?")) {
      Made yes = choice();
      require(":");
      condition = node(Op::kChoose, std::move(condition), std::move(yes), choice());
    }
    --depth_;
    return condition;
  }

  Made binary(std::size_t level) {
    if (level == kLevels.size()) return unary();
    Made left = binary(level + 1);
    for (bool found = true; found;) {
      found = false;
      for (const Operator& op : kLevels[level]) {
        if (!take(op.text)) continue;
        left = node(op.op, std::move(left), binary(level + 1));
        found = true;
        break;
      }
    }
    return left;
  }

  Made unary() {
    if (take("-")) return node(Op::kNegate, primary());
    return primary();
  }

  Made primary() {
    if (take("(")) {
      Made inner = choice();
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
    Made made = node(Op::kVariable);
    made->variable = &variable->second;
    return made;
  }

  Made number(std::string_view word) {
    const auto value = parse_number<double>(word);
    if (!value) fail(fmt::format("'{}' is no number", word));
    Made made = node(Op::kNumber);
    made->number = *value;
    return made;
  }

  Made element(std::string_view name) {
    const auto array = scope_.arrays.find(name);
    if (array == scope_.arrays.end()) fail(fmt::format("no array is called '{}'", name));
    Made made = node(Op::kElement, choice());
    require("]");
    made->array = &array->second;
    return made;
  }

  Made call(std::string_view name) {
    if (name == "sum") return sum();
    const auto* const function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                              [&](const Function& f) { return f.name == name; });
    if (function == std::end(kFunctions)) fail(fmt::format("no function is called '{}'", name));
    Made first = choice(), second;
    if (function->arguments > 1) {
      require(",");
      second = choice();
    }
    require(")");
    return node(function->op, std::move(first), std::move(second));
  }

  Made sum() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::string counter(text_.substr(begin, at_ - begin));
    if (counter.empty()) fail("the counter's name is missing");
    require(",");
    Made count = choice();
    require(",");
    double& variable = scope_.variables[counter];
    Made made = node(Op::kSum, std::move(count), choice());
    require(")");
    made->variable = &variable;
    return made;
  }

  std::string_view text_;
  Scope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

double compare(Op op, double a, double b) {
  switch (op) {
    case Op::kEqual:
      return a == b ? 1 : 0;
    case Op::kUnequal:
      return a != b ? 1 : 0;
    case Op::kLess:
      return a < b ? 1 : 0;
    case Op::kAtMost:
      return a <= b ? 1 : 0;
    case Op::kMore:
      return a > b ? 1 : 0;
    default:
      return a >= b ? 1 : 0;
  }
}

Value sum_of(const Node& node) {
  const double count = node.children[0]->evaluate().value;
  if (std::isnan(count)) return {kNaN, kNaN};
  // An inner sum may use the same name for its counter.
  const double before = *node.variable;
  Value total;
  for (double i = 0; i < count; i += 1) {
    *node.variable = i;
    const Value term = node.children[1]->evaluate();
    total.value += term.value;
    total.magnitude += term.magnitude;
  }
  *node.variable = before;
  return total;
}

Value arithmetic(Op op, const Value& a, const Value& b) {
  switch (op) {
    case Op::kAdd:
      return {a.value + b.value, a.magnitude + b.magnitude};
    case Op::kSubtract:
      return {a.value - b.value, a.magnitude + b.magnitude};
    case Op::kMultiply:
      return {a.value * b.value, a.magnitude * b.magnitude};
    case Op::kDivide:
      if (b.value == 0) return {kNaN, kNaN};
      return {a.value / b.value, a.magnitude / std::abs(b.value)};
    case Op::kRemainder:
      if (b.value == 0) return {kNaN, kNaN};
      return plain(std::fmod(a.value, b.value));
    case Op::kMin:
      return plain(std::min(a.value, b.value));
    case Op::kMax:
      return plain(std::max(a.value, b.value));
    case Op::kPow:
      return plain(std::pow(a.value, b.value));
    default:
      return plain(compare(op, a.value, b.value));
  }
}

}  // namespace

Value Node::evaluate() const {
  switch (op) {
    case Op::kNumber:
      return plain(number);
    case Op::kVariable:
      return plain(*variable);
    case Op::kElement: {
      const double index = children[0]->evaluate().value;
      if (!(index >= 0 && index < static_cast<double>(array->size()))) return {kNaN, kNaN};
      return plain((*array)[static_cast<std::size_t>(index)]);
    }
    case Op::kNegate: {
      const Value inner = children[0]->evaluate();
      return {-inner.value, inner.magnitude};
    }
    case Op::kAnd:
      return plain(children[0]->evaluate().value != 0 && children[1]->evaluate().value != 0);
    case Op::kOr:
      return plain(children[0]->evaluate().value != 0 || children[1]->evaluate().value != 0);
    case Op::kChoose:
      return children[children[0]->evaluate().value != 0 ? 1 : 2]->evaluate();
    case Op::kSum:
      return sum_of(*this);
    case Op::kAbs:
      return plain(std::abs(children[0]->evaluate().value));
    case Op::kFloor:
      return plain(std::floor(children[0]->evaluate().value));
    case Op::kCeil:
      return plain(std::ceil(children[0]->evaluate().value));
    case Op::kSqrt:
      return plain(std::sqrt(children[0]->evaluate().value));
    case Op::kLog2:
      return plain(std::log2(children[0]->evaluate().value));
    default:
      return arithmetic(op, children[0]->evaluate(), children[1]->evaluate());
  }
}

Expression::Expression(std::unique_ptr<Node> root) : root_(std::move(root)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

Result<Expression> Expression::parse(std::string_view text, Scope& scope) {
  try {
    return Expression(Parser(text, scope).parse());
  } catch (const SyntaxError& error) {
    return Status(Code::kInvalidArgument, error.message);
  }
}

Value Expression::evaluate() const { return root_->evaluate(); }

Result<double> evaluate(std::string_view text, Scope& scope) {
  auto expression = Expression::parse(text, scope);
  if (!expression) return expression.status();
  return expression.value().evaluate().value;
}

}  // namespace ladder::learn
