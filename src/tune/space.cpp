// SPDX-License-Identifier: Apache-2.0
#include "tune/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "operands/input.hpp"

namespace ladder::tune {
namespace {

// Moves to the adjacent value of a parameter in a direction, if there is one.
bool step(const Parameter& parameter, int direction, int& value) {
  const auto at = std::ranges::find(parameter.values, value);
  if (at == parameter.values.end()) return false;
  if (direction > 0 ? at + 1 == parameter.values.end() : at == parameter.values.begin())
    return false;
  value = *(at + direction);
  return true;
}

}  // namespace

std::vector<Point> all_points(const SearchSpace& space) {
  std::vector<Point> points;
  std::vector<std::size_t> digits(space.parameters.size(), 0);
  Point point;
  for (const Parameter& parameter : space.parameters) {
    if (parameter.values.empty()) return points;
    point.push_back(parameter.values.front());
  }
  while (true) {
    if (space.allowed(point)) points.push_back(point);
    std::size_t at = digits.size();
    while (at > 0 && ++digits[at - 1] == space.parameters[at - 1].values.size()) {
      digits[at - 1] = 0;
      point[at - 1] = space.parameters[at - 1].values.front();
      --at;
    }
    if (at == 0) return points;
    point[at - 1] = space.parameters[at - 1].values[digits[at - 1]];
  }
}

std::vector<Point> shuffled_points(const SearchSpace& space, std::uint64_t seed) {
  constexpr std::uint64_t kStreamOrder = 301;
  std::vector<Point> points = all_points(space);
  for (std::size_t i = points.size(); i > 1; --i) {  // Fisher-Yates shuffle
    std::swap(points[i - 1], points[random_bits(seed, kStreamOrder, i) % i]);
  }
  const Point by_hand(space.by_hand.begin(), space.by_hand.end());
  const auto at = std::ranges::find(points, by_hand);
  if (at != points.end()) std::iter_swap(points.begin(), at);
  return points;
}

std::vector<Point> neighbours(const SearchSpace& space, const Point& point) {
  std::vector<Point> near;
  const auto add = [&](const Point& candidate) {
    if (space.allowed(candidate) && std::ranges::find(near, candidate) == near.end())
      near.push_back(candidate);
  };
  for (std::size_t i = 0; i < point.size(); ++i) {
    for (const int direction : {+1, -1}) {
      Point one = point;
      if (!step(space.parameters[i], direction, one[i])) continue;
      add(one);
      for (std::size_t j = 0; j < point.size(); ++j) {
        Point two = one;
        if (j != i && step(space.parameters[j], -direction, two[j])) add(two);
      }
    }
  }
  return near;
}

std::string describe(const SearchSpace& space, const Point& point) {
  std::string text;
  for (std::size_t i = 0; i < point.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", space.parameters[i].name, point[i]);
  }
  return text;
}

std::string values_text(const Point& point) { return fmt::format("{}", fmt::join(point, ",")); }

}  // namespace ladder::tune
