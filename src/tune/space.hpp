// SPDX-License-Identifier: Apache-2.0
// Walking a rung's search space: all its points, a point's neighbours, and names for them.
#pragma once
#include <ladder/search.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ladder::tune {

using Point = std::vector<int>;

// Every allowed point, in the order of the values, the first parameter slowest.
std::vector<Point> all_points(const SearchSpace& space);

// The same in an order that depends on the seed alone, the point set by hand first: any beginning
// of it is a sample of the whole.
std::vector<Point> shuffled_points(const SearchSpace& space, std::uint64_t seed);

// The allowed points that differ from `point` by one step of one parameter, or by a step up of one
// and a step down of another: a block of the same size and another shape is near, too.
std::vector<Point> neighbours(const SearchSpace& space, const Point& point);

// "BM 128, BN 128, BK 16"
std::string describe(const SearchSpace& space, const Point& point);
// "128,128,16", as it stands between the angle brackets of the rung's Tile.
std::string values_text(const Point& point);

}  // namespace ladder::tune
