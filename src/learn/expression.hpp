// SPDX-License-Identifier: Apache-2.0
// Arithmetic expressions in text, as an exercise's data has them: sizes of arrays, expected
// results, and marks over metrics.
//
// Numbers, names, elements of arrays (a[i * n + j]), + - * / %, == != < <= > >=, && ||, c ? x : y,
// parentheses, abs, min, max, floor, ceil, sqrt, log2, pow, and sum(i, count, term), which adds
// `term` for i from 0 to count - 1. Names have letters, digits, _ and dots, hence also metrics
// ("smsp__inst_executed.sum"). Comparisons are 1 or 0. All arithmetic is in FP64; % takes whole
// numbers.
#pragma once
#include <ladder/status.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ladder::learn {

// The values of names. Expressions keep references to the entries that they use, so that a scope
// outlives its expressions and its entries are never removed.
struct Scope {
  std::map<std::string, double, std::less<>> variables;
  std::map<std::string, std::vector<double>, std::less<>> arrays;
};

// `magnitude` is the value with the absolute value of every term in place of the term: the
// condition of the sum, by which a rounding error is judged.
struct Value {
  double value = 0, magnitude = 0;
};

class Expression {
 public:
  // Adds the counters of sum() to the scope. Errors (kInvalidArgument): syntax, an unknown name.
  static Result<Expression> parse(std::string_view text, Scope& scope);

  // NaN for an element outside its array and for a division by zero.
  Value evaluate() const { return root_(); }

 private:
  explicit Expression(std::function<Value()> root) : root_(std::move(root)) {}
  std::function<Value()> root_;
};

// Parses and evaluates.
Result<double> evaluate(std::string_view text, Scope& scope);

}  // namespace ladder::learn
