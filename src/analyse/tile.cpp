// SPDX-License-Identifier: Apache-2.0
#include "analyse/tile.hpp"

#include <array>
#include <charconv>
#include <numeric>

namespace ladder::analyse {
namespace {

struct Named {
  std::string_view rung;
  std::array<std::string_view, 8> parameters;  // of its Tile, in order
};

// What each argument of a rung's Tile is. r01 and r02 have no arguments: their Tile is fixed.
constexpr Named kNamed[] = {
    {"r03_smem_tile", {"B"}},
    {"r04_block_tile_1d", {"BM", "BN", "BK", "TM"}},
    {"r05_block_tile_2d", {"BM", "BN", "BK", "TM", "TN"}},
    {"r06_vectorized", {"BM", "BN", "BK", "TM", "TN"}},
    {"r07_swizzled", {"BM", "BN", "BK", "TM", "TN"}},
    {"r08_padded", {"BM", "BN", "BK", "TM", "TN"}},
    {"r09_autotuned", {"BM", "BN", "BK", "TM", "TN", "blocks"}},
    {"r10_warp_tile", {"BM", "BN", "BK", "WM", "WN", "TM", "TN"}},
    {"r11_async_copy", {"BM", "BN", "BK", "WM", "WN", "TM", "TN", "STAGES"}},
    {"r12_simt_peak", {"BM", "BN", "BK", "WM", "WN", "TM", "TN", "STAGES"}},
};

void set(TileShape& tile, std::string_view name, int value) {
  tile.parameters.emplace_back(name, value);
  if (name == "B") tile.bm = tile.bn = tile.bk = value;
  if (name == "BM") tile.bm = value;
  if (name == "BN") tile.bn = value;
  if (name == "BK") tile.bk = value;
  if (name == "WM") tile.wm = value;
  if (name == "WN") tile.wn = value;
  if (name == "TM") tile.tm = value;
  if (name == "TN") tile.tn = value;
}

std::vector<int> arguments_of_tile(std::string_view kernel) {
  std::vector<int> values;
  constexpr std::string_view kTile = "::Tile<";
  const auto at = kernel.find(kTile);
  if (at == std::string_view::npos) return values;
  const char* from = kernel.data() + at + kTile.size();
  const char* const end = kernel.data() + kernel.size();
  while (from < end) {
    int value = 0;
    const auto [next, error] = std::from_chars(from, end, value);
    if (error != std::errc()) break;
    values.push_back(value);
    from = next;
    while (from < end && (*from == ',' || *from == ' ')) ++from;
  }
  return values;
}

}  // namespace

std::optional<TileShape> tile_of(std::string_view rung, std::string_view kernel) {
  TileShape tile;
  if (rung == "r01_naive") {
    set(tile, "BM", 32);
    set(tile, "BN", 4);
    return tile;
  }
  if (rung == "r02_coalesced") {
    set(tile, "BM", 32);
    set(tile, "BN", 32);
    return tile;
  }
  for (const Named& named : kNamed) {
    if (named.rung != rung) continue;
    const std::vector<int> values = arguments_of_tile(kernel);
    for (std::size_t i = 0; i < values.size() && !named.parameters[i].empty(); ++i)
      set(tile, named.parameters[i], values[i]);
    if (tile.bm > 0 && tile.bn > 0) return tile;
  }
  return std::nullopt;
}

std::string of_k(std::int64_t times, std::int64_t over) {
  const std::int64_t common = std::gcd(times, over);
  times /= common;
  over /= common;
  return (times == 1 ? "" : std::to_string(times)) + "K" + (over == 1 ? "" : "/" + std::to_string(over));
}

Loads loads_per_result(const TileShape& tile, std::int64_t k) {
  Loads loads;
  const auto depth = static_cast<double>(k);
  if (tile.bk == 0) {
    loads.global_loads = 2 * depth;
    loads.global_formula = of_k(2, 1);
    loads.shared_formula = "0";
    return loads;
  }
  loads.global_loads = depth * (tile.bm + tile.bn) / (double{1} * tile.bm * tile.bn);
  loads.global_formula = of_k(tile.bm + tile.bn, std::int64_t{tile.bm} * tile.bn);
  loads.shared_loads = depth * (tile.tm + tile.tn) / (double{1} * tile.tm * tile.tn);
  loads.shared_formula = of_k(tile.tm + tile.tn, std::int64_t{tile.tm} * tile.tn);
  return loads;
}

}  // namespace ladder::analyse
