// SPDX-License-Identifier: Apache-2.0
#include "runtime/sampling.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace vgpu {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t linear(const Dim3& grid, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return x + grid.x * (y + grid.y * z);
}

// The dimensions, as bits, in which a block is last; only dimensions with more than one block
// count.
unsigned stratum_of(const Dim3& grid, std::uint64_t block) {
  const std::uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
  const auto last = [](std::uint64_t at, std::uint32_t extent) {
    return extent > 1 && at + 1 == extent;
  };
  return static_cast<unsigned>(last(x, grid.x)) | static_cast<unsigned>(last(y, grid.y)) << 1 |
         static_cast<unsigned>(last(z, grid.z)) << 2;
}

std::uint64_t size_of_stratum(const Dim3& grid, unsigned stratum) {
  const auto extent = [&](std::uint32_t n, unsigned bit) -> std::uint64_t {
    if ((stratum >> bit & 1) != 0) return 1;
    return n > 1 ? n - 1 : n;
  };
  return extent(grid.x, 0) * extent(grid.y, 1) * extent(grid.z, 2);
}

std::uint64_t scaled(std::uint64_t value, std::uint64_t size, std::uint64_t executed) {
  return static_cast<std::uint64_t>((Wide{value} * size + executed / 2) / executed);
}

void add(Metrics& to, const std::string& name, std::uint64_t value) { to[name] += value; }

void add_sums(Metrics& to, const Metrics& from, const Stratum& stratum) {
  for (const auto& [name, value] : from) {
    if (name.ends_with(".sum")) add(to, name, scaled(value, stratum.size, stratum.blocks.size()));
  }
}

void add_lines(LaunchReport& whole, const LaunchReport& part, const Stratum& stratum) {
  for (const LineReport& line : part.lines) {
    const auto place = [](const LineReport& l) { return std::pair(l.file, l.line); };
    auto at = std::lower_bound(
        whole.lines.begin(), whole.lines.end(), line,
        [&](const LineReport& a, const LineReport& b) { return place(a) < place(b); });
    if (at == whole.lines.end() || place(*at) != place(line)) {
      at = whole.lines.insert(at, {line.file, line.line, {}, {}, line.schedule});
    }
    add_sums(at->estimates, line.exact, stratum);
    add_sums(at->estimates, line.estimates, stratum);
  }
}

}  // namespace

std::vector<Stratum> sample(const Dim3& grid, std::uint64_t wanted) {
  const std::uint64_t blocks = grid.count();
  std::set<std::uint64_t> chosen;
  for (const std::uint64_t z : {std::uint64_t{0}, std::uint64_t{grid.z} - 1}) {
    for (const std::uint64_t y : {std::uint64_t{0}, std::uint64_t{grid.y} - 1}) {
      for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{grid.x} - 1})
        chosen.insert(linear(grid, x, y, z));
    }
  }
  const std::uint64_t x = grid.x / 2, y = grid.y / 2, z = grid.z / 2;
  for (const std::uint64_t middle :
       {linear(grid, x, 0, 0), linear(grid, 0, y, 0), linear(grid, x, grid.y - 1, 0),
        linear(grid, grid.x - 1, y, 0), linear(grid, 0, 0, z), linear(grid, x, y, z)}) {
    if (chosen.size() < wanted) chosen.insert(middle);
  }
  for (std::uint64_t i = 0, steps = wanted - std::min<std::uint64_t>(wanted, chosen.size());
       chosen.size() < std::min(wanted, blocks); ++i) {
    if (i == steps) i = 0, steps *= 2;  // some blocks were already chosen: halve the spacing
    chosen.insert(static_cast<std::uint64_t>(Wide{blocks} * (2 * i + 1) / (2 * steps)));
  }
  if (chosen.size() >= blocks) return {};
  std::map<unsigned, Stratum> strata;
  for (const std::uint64_t block : chosen) strata[stratum_of(grid, block)].blocks.push_back(block);
  std::vector<Stratum> list;
  for (auto& [which, stratum] : strata) {
    stratum.size = size_of_stratum(grid, which);
    list.push_back(std::move(stratum));
  }
  return list;
}

void add_scaled(LaunchReport& whole, const LaunchReport& part, const Stratum& stratum) {
  whole.engine = part.engine;
  whole.seconds += part.seconds;
  whole.lane_instructions += part.lane_instructions;
  whole.output += part.output;
  whole.lost_prints += part.lost_prints;
  whole.called_driver |= part.called_driver;
  whole.linked_with_driver |= part.linked_with_driver;
  whole.end_clock = std::max(whole.end_clock, part.end_clock);
  for (const auto& [name, value] : part.exact) {
    if (!name.ends_with(".sum")) whole.exact[name] = value;
  }
  add_sums(whole.estimates, part.exact, stratum);
  add_sums(whole.estimates, part.estimates, stratum);
  add_lines(whole, part, stratum);
  if (!part.hot_loop) return;
  HotLoop loop = *part.hot_loop;
  loop.iterations = scaled(loop.iterations, stratum.size, stratum.blocks.size());
  if (whole.hot_loop && whole.hot_loop->first == loop.first && whole.hot_loop->last == loop.last)
    whole.hot_loop->iterations += loop.iterations;
  else if (!whole.hot_loop || whole.hot_loop->iterations < loop.iterations)
    whole.hot_loop = std::move(loop);
}

}  // namespace vgpu
