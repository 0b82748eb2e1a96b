// SPDX-License-Identifier: Apache-2.0
// Which tiles of tensor cores the planner chooses, and how much predicted time problems would lose
// without each: CSV to standard output. Needs no GPU.
//
//   bench_menus [SUITE...]     default: random:103:1000 square layouts transformer mixed
#include "gemm/plan/menus.hpp"

#include "gemm/plan/choice.hpp"
#include "problem/suites.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace ladder;

constexpr double kNoticeable = 1.01;

using Menu = std::vector<TileShape>;
using Planner = std::function<TensorPlan(const Problem&, const Menu&)>;

void print(const std::string& name, const Menu& menu, const std::vector<Problem>& problems,
           const Planner& planner) {
  std::vector<TensorPlan> best;
  for (const Problem& p : problems) best.push_back(planner(p, menu));
  for (const TileShape& tile : menu) {
    Menu others = menu;
    std::erase(others, tile);
    int chosen = 0, noticeable = 0;
    double sum = 0, worst = 1;
    for (std::size_t i = 0; i < problems.size(); ++i) {
      chosen += best[i].shape == tile ? 1 : 0;
      const double loss = planner(problems[i], others).clocks / best[i].clocks;
      noticeable += loss > kNoticeable ? 1 : 0;
      sum += std::log(loss);
      worst = std::max(worst, loss);
    }
    std::printf("%s,%dx%dx%d,%d,%d,%d,%zu,%d,%.4f,%.3f,%d\n", name.c_str(), tile.m, tile.n, tile.k,
                tile.blocks, tile.narrow, tile.parts, problems.size(), chosen,
                std::exp(sum / static_cast<double>(problems.size())), worst, noticeable);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"random:103:1000", "square", "layouts", "transformer", "mixed"};
  std::vector<Problem> given, plain;  // plain: without transposition, as 16-bit operands must be
  for (const std::string& name : names) {
    const auto suite = find_suite(name);
    if (!suite) {
      std::fprintf(stderr, "%s\n", suite.status().message().c_str());
      return 1;
    }
    given.insert(given.end(), suite->begin(), suite->end());
  }
  for (const Problem& p : given) plain.push_back(make_problem(p.m, p.n, p.k));
  const DeviceFacts h200;
  std::puts(
      "menu,tile,cluster,width of last tiles,k-splits,problems,chosen,mean time without,"
      "worst,slower by over 1%");
  const auto of_tensor = [&](int bytes) {
    return [&h200, bytes](const Problem& p, const Menu& menu) {
      const bool aligned = p.lda * bytes % 128 == 0 && p.ldb * bytes % 128 == 0;
      return plan_tensor_tiles(p, aligned, menu, h200);
    };
  };
  print("16 bit", {k16BitTiles.begin(), k16BitTiles.end()}, plain, of_tensor(2));
  print("tf32", {kTf32Tiles.begin(), kTf32Tiles.end()}, plain, of_tensor(4));
  for (const SplitFormat& format : kSplitFormats) {
    std::vector<Problem> unfused = given;
    if (format.precision == Precision::kFp16x3)
      std::erase_if(unfused, [&](const Problem& p) { return takes_fused(p, {}, false, h200.sms); });
    const auto tiles = split_tiles(format.bk);
    print(std::string(format.kernel.substr(7)), {tiles.begin(), tiles.end()}, unfused,
          [&](const Problem& p, const Menu& menu) {
            return plan_split_tiles(p, format.cost, menu, h200.sms);
          });
  }
  return 0;
}
