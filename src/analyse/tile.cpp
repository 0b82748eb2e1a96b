// SPDX-License-Identifier: Apache-2.0
#include "analyse/tile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace ladder::analyse {
namespace {

enum Habit : unsigned {
  kNoHabit = 0,
  kWarpgroups = 1,
  kInStep = 2,
  kStoresLater = 4,
  kEvenly = 8,
  kPairs = 16,
  kPromotes = 32
};

struct Named {
  std::string_view rung;
  std::array<std::string_view, 10> parameters;  // names of its Tile's integer arguments, in order
  unsigned habits = kNoHabit;
};

// The arguments of each rung's Tile. r01 and r02 have none: their Tile is fixed.
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
    {"r13_mma_sync", {"BM", "BN", "BK", "WM", "WN", "STAGES"}},
    {"r14_wgmma", {"BM", "BN", "STAGES"}, kWarpgroups | kInStep},
    {"r15_warp_specialized", {"BM", "BN", "STAGES"}, kWarpgroups},
    {"r16_persistent", {"BM", "BN", "STAGES"}, kWarpgroups | kStoresLater | kPairs},
    {"r17_stream_k", {"BM", "BN", "STAGES"}, kWarpgroups | kStoresLater | kPairs | kEvenly},
    {"r20_fp8", {"BM", "BN", "STAGES"}, kWarpgroups | kPairs | kPromotes},
    {"simt_tiles", {"BM", "BN", "BK", "WM", "WN", "WK", "TM", "TN", "STAGES", "blocks"}, kEvenly},
    {"tensor_tiles", {"BM", "BN", "STAGES"}, kWarpgroups | kStoresLater | kEvenly},
    {"scaled_tiles", {"BM", "BN", "STAGES"}, kWarpgroups | kStoresLater | kEvenly | kPromotes},
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
  if (name == "STAGES") tile.stages = value;
}

// Start of the next template argument.
const char* behind_argument(const char* from, const char* end) {
  while (from < end && *from != ',' && *from != '>') ++from;
  while (from < end && (*from == '>' || *from == ',' || *from == ' ')) ++from;
  return from;
}

std::vector<int> arguments_of_tile(std::string_view kernel) {
  std::vector<int> values;
  constexpr std::string_view kTile = "::Tile<";
  const auto at = kernel.find(kTile);
  if (at == std::string_view::npos) return values;
  const char* from = kernel.data() + at + kTile.size();
  const char* const end = kernel.data() + kernel.size();
  const auto is_digit = [](char ch) { return ch >= '0' && ch <= '9'; };
  while (from < end && !is_digit(*from)) from = behind_argument(from, end);
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

// Parses "...CooperativeTile<ladder::TermFormat<__nv_bfloat16, 3>, 6, 256, 3, 6>...": terms per
// element, products, BN, and the numbers of A and B units in shared memory. BM is 128; a unit of B
// is 128 columns. For "PingPongTile<ladder::TermFormat<__half, 2>, 3, 4>": terms, products, and the
// number of units of both operands, each for a tile of 64 x 128. r18 and r19 multiply as few
// products as their terms allow: "Tile<ladder::terms::Format<__half, 2, 14, 64>, 128, 256, 3, 4>"
// has the type, terms, kTop and BK, then BM, BN and the numbers of units.
constexpr std::string_view kRungOfTerms = "::Tile<ladder::terms::Format<";
constexpr int kSplitRows = 128, kSplitHalf = 128, kPingPongRows = 64;

std::optional<TileShape> split_tile(int term_bytes, int terms, int products, int bm, int bn,
                                    int units_a, int units_b) {
  TileShape tile;
  tile.warpgroups = true;
  tile.stores_later = true;  // the next tile's terms are copied while the current one is stored
  tile.terms = terms;
  tile.products = products;
  tile.term_bytes = term_bytes;
  const int halves = bn > kSplitHalf ? bn / kSplitHalf : 1;
  set(tile, "BM", bm);
  set(tile, "BN", bn);
  set(tile, "BK", (terms == 3 ? 64 : 128) / term_bytes);  // rows of 64 or 128 bytes of each term
  set(tile, "STAGES", std::min(units_a, units_b / halves));
  set(tile, "terms", terms);
  set(tile, "products", products);
  return tile;
}

// The first kMany integers of a template argument list, after its first argument.
template <std::size_t kMany>
std::optional<std::array<int, kMany>> numbers_of(std::string_view list) {
  std::array<int, kMany> numbers{};
  for (int& number : numbers) {
    list.remove_prefix(std::min(list.size(), list.find(", ") + 2));
    if (std::from_chars(list.data(), list.data() + list.size(), number).ec != std::errc())
      return std::nullopt;
  }
  return numbers;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool splits_operands(std::string_view kernel) {
  return contains(kernel, "CooperativeTile<") || contains(kernel, "PingPongTile<") ||
         contains(kernel, kRungOfTerms);
}

std::optional<TileShape> split_tile_of(std::string_view kernel) {
  if (const auto at = kernel.find(kRungOfTerms); at != std::string_view::npos) {
    const auto numbers = numbers_of<7>(kernel.substr(at));
    if (!numbers) return std::nullopt;
    const auto [terms, top, bk, bm, bn, units_a, units_b] = *numbers;
    return split_tile(2, terms, terms == 3 ? 6 : 3, bm, bn, units_a, units_b);
  }
  const auto ping_pong = kernel.find("PingPongTile<");
  const std::string_view rest = kernel.substr(std::min(ping_pong, kernel.find("CooperativeTile<")));
  const int term_bytes = rest.find("TermFormat<float,") == std::string_view::npos ? 2 : 4;
  if (ping_pong != std::string_view::npos) {
    const auto numbers = numbers_of<3>(rest);
    if (!numbers) return std::nullopt;
    const auto [terms, products, units] = *numbers;
    return split_tile(term_bytes, terms, products, kPingPongRows, kSplitHalf, units, units);
  }
  const auto numbers = numbers_of<5>(rest);
  if (!numbers) return std::nullopt;
  const auto [terms, products, bn, units_a, units_b] = *numbers;
  return split_tile(term_bytes, terms, products, kSplitRows, bn, units_a, units_b);
}

}  // namespace

std::optional<TileShape> tile_of(std::string_view rung, std::string_view kernel) {
  if (splits_operands(kernel)) return split_tile_of(kernel);
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
    const std::size_t count = std::min(values.size(), named.parameters.size());
    for (std::size_t i = 0; i < count && !named.parameters[i].empty(); ++i)
      set(tile, named.parameters[i], values[i]);
    tile.warpgroups = (named.habits & kWarpgroups) != 0;
    tile.in_step = (named.habits & kInStep) != 0;
    tile.stores_later = (named.habits & kStoresLater) != 0;
    tile.evenly = (named.habits & kEvenly) != 0;
    tile.pair = (named.habits & kPairs) != 0 ? 2 : 1;
    tile.promotes = (named.habits & kPromotes) != 0;
    // A stage's rows are 128 bytes.
    if (tile.warpgroups)
      set(tile, "BK", tile.promotes ? 128 : contains(kernel, "::Tile<float,") ? 32 : 64);
    if (tile.bm > 0 && tile.bn > 0) return tile;
  }
  return std::nullopt;
}

std::optional<TileShape> tile_for(std::string_view rung, const TileShape& seen,
                                  const Problem& problem, int sms) {
  const auto tiles = [&](std::int64_t rows, std::int64_t columns) {
    return (problem.m + rows - 1) / rows * ((problem.n + columns - 1) / columns);
  };
  const bool fixed = rung.starts_with("r18_") || rung.starts_with("r19_");
  if (seen.products > 1 && !fixed) {
    constexpr int kWide = 256, kSharedBytes = 227 * 1024 - 2048;
    if (tiles(kSplitRows, kWide) >= sms) {
      // As many units of 128 rows as fit; one third of them for A.
      const int units = kSharedBytes / (kSplitRows * seen.terms * seen.bk * seen.term_bytes);
      const int units_a = units / 3 + (seen.terms == 2 ? 1 : 0);
      return split_tile(seen.term_bytes, seen.terms, seen.products, kSplitRows, kWide, units_a,
                        units - units_a);
    }
    if (2 * tiles(seen.bm, seen.bn) > sms) return std::nullopt;
    return seen;
  }
  constexpr int kPairSide = 256;  // side of the tile of a pair of blocks
  const bool scaled = rung == "scaled_tiles";
  if (rung != "tensor_tiles" && !scaled) return seen;
  if (2 * tiles(kPairSide, kPairSide) < sms) {
    if (scaled) return std::nullopt;
    return seen;
  }
  TileShape tile = seen;
  tile.parameters.clear();
  const auto bytes = static_cast<int>(bytes_of(problem.in));
  set(tile, "BM", bytes < 4 ? 128 : 256);
  set(tile, "BN", bytes < 4 ? 256 : 128);
  set(tile, "STAGES", 4);
  set(tile, "BK", 128 / bytes);
  tile.pair = 2;
  return tile;
}

bool plans_its_tile(std::string_view rung) {
  return rung == "simt_parts" || rung == "simt_tiles" || rung == "library";
}

std::string of_k(std::int64_t times, std::int64_t over) {
  const std::int64_t common = std::gcd(times, over);
  times /= common;
  over /= common;
  return (times == 1 ? "" : std::to_string(times)) + "K" +
         (over == 1 ? "" : "/" + std::to_string(over));
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
  // Split operands: every term is copied, and each product reads two terms.
  loads.global_loads = depth * tile.terms * (tile.bm + tile.bn) / (double{1} * tile.bm * tile.bn);
  loads.global_formula =
      of_k(std::int64_t{tile.terms} * (tile.bm + tile.bn), std::int64_t{tile.bm} * tile.bn);
  // The unit that reads shared memory once for all its outputs: a thread, a warp on tensor cores,
  // or a wgmma of 64 rows.
  const bool by_warp = tile.wm > 0 && tile.tm == 1 && tile.tn == 1;
  const int rows = tile.warpgroups ? kRowsOfProduct : by_warp ? tile.wm : tile.tm;
  const int columns = tile.warpgroups ? tile.columns_of_product() : by_warp ? tile.wn : tile.tn;
  loads.shared_loads = depth * tile.products * (rows + columns) / (double{1} * rows * columns);
  loads.shared_formula =
      of_k(std::int64_t{tile.products} * (rows + columns), std::int64_t{rows} * columns);
  return loads;
}

}  // namespace ladder::analyse
