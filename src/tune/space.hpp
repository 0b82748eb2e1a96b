// SPDX-License-Identifier: Apache-2.0
// Enumerates a rung's search space: all points, a point's neighbours, and their text form.
#pragma once
#include <ladder/search.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ladder::tune {

using Point = std::vector<int>;

// All allowed points in the order of the values; the first parameter varies slowest.
std::vector<Point> all_points(const SearchSpace& space);

// All points in an order that depends only on the seed, with the hand-set point first: any prefix
// is a sample of the whole.
std::vector<Point> shuffled_points(const SearchSpace& space, std::uint64_t seed);

// The allowed points that differ from `point` by one step of one parameter, or by a step up of one
// and a step down of another (same block size, different shape).
std::vector<Point> neighbours(const SearchSpace& space, const Point& point);

// "BM 128, BN 128, BK 16"
std::string describe(const SearchSpace& space, const Point& point);
// "128,128,16", the template arguments of the rung's Tile
std::string values_text(const Point& point);

}  // namespace ladder::tune
