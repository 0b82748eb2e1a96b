// SPDX-License-Identifier: Apache-2.0
// Fits the planner's costs of FP32 on CUDA cores to the times that `ladder tune --suite --rows`
// wrote: the planner's own formulas, with the rows of costs.inc and the tiles' rates as variables.
//   fit_plans [--large] [--only REGEX] ROWS.csv... [--test ROWS.csv...]
// --large: fits the costs of large tiles first; else they stay as they are, but for store_ragged.
// --only: fits the costs whose table and name match, as "thin latency", "rate of tile 0".
// --test: rows that are reported and not fitted.
// A file that is named several times counts as often.
// Prints the fitted values for costs.inc, large_tiles.inc and part_tiles.inc, and before and after
// them how well the plans of least predicted time do.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "gemm/plan/choice.hpp"
#include "gemm/plan/costs.hpp"
#include "gemm/plan/large_plan.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/plan/part_plan.hpp"

namespace ladder {
namespace {

constexpr int kSms = 132;
constexpr double kCyclesPerUs = 1900, kLongUs = 20;

// What a fit minimises: errors of predicted times (of large tiles), or the time that is lost by the
// choice of plans (by all other costs).
enum class Aim { kRight, kChoice };

struct Variable {
  std::string name;
  double* at;
  double before;
};

std::array<PartTileCost, kPartTiles.size()> tiles = kPartTiles;
std::array<LargeTileCost, kLargeTiles.size()> large_tiles = kLargeTiles;

std::vector<Variable> variables(Aim aim, const std::regex& only) {
  std::vector<Variable> all;
  const auto add = [&](std::string_view table, std::string_view name, double* at) {
    const bool fitted = aim == Aim::kRight ? table == "large"
                                           : table == "parts" || table == "thin" ||
                                                 table == "guarded" || name == "store_ragged";
    if (fitted) all.push_back({std::string(table) + " " + std::string(name), at, *at});
  };
#define LADDER_COST(table, name, ...) add(#table, #name, &table##_cost::name);
#define LADDER_LIMIT(...)
#include "gemm/plan/costs.inc"
#undef LADDER_COST
#undef LADDER_LIMIT
  for (std::size_t i = 0; aim == Aim::kChoice && i < tiles.size(); ++i) {
    all.push_back({"rate of tile " + std::to_string(i), &tiles[i].rate, tiles[i].rate});
    all.push_back(
        {"transposed of tile " + std::to_string(i), &tiles[i].transposed, tiles[i].transposed});
    all.push_back({"start of tile " + std::to_string(i), &tiles[i].start, tiles[i].start});
  }
  for (std::size_t i = 0; aim == Aim::kRight && i < large_tiles.size(); ++i) {
    LargeTileCost& t = large_tiles[i];
    all.push_back({"step of large tile " + std::to_string(i), &t.step, t.step});
    all.push_back({"memory of large tile " + std::to_string(i), &t.from_memory, t.from_memory});
    all.push_back({"tile of large tile " + std::to_string(i), &t.tile, t.tile});
  }
  std::erase_if(all, [&](const Variable& x) { return !std::regex_match(x.name, only); });
  return all;
}

enum class Kind { kTiles, kThin, kLarge, kGuarded };

struct Row {
  Kind kind;
  PartShape shape;  // of the side that the plan takes
  PartPlan part;
  ThinPlan thin;
  LargePlan large;
  bool fused;  // of a guarded product
  double us, weight = 0;
};

struct Measured {
  std::string name;
  Problem p;
  std::vector<Row> rows;
  double cublas = 0;
};

// The plans that a precision chooses among: ieee has no guarded product.
constexpr bool kWithGuarded[] = {false, true};
bool is_offered(bool guarded, const Row& row) { return guarded || row.kind != Kind::kGuarded; }

double best_of(const Measured& of, bool guarded) {
  double best = HUGE_VAL;
  for (const Row& row : of.rows)
    if (is_offered(guarded, row)) best = std::min(best, row.us);
  return best;
}

double cycles_of(const Measured& of, const Row& row) {
  switch (row.kind) {
    case Kind::kTiles: return part_cycles(row.shape, row.part, tiles[row.part.tile], kSms);
    case Kind::kThin: return thin_cycles(row.shape, row.thin, kSms);
    case Kind::kGuarded: {
      const GuardedCycles guarded = guarded_cycles(of.p, {}, kSms);
      return row.fused ? guarded.fused : guarded.prepass;
    }
    default: return large_cycles(of.p, {}, row.large, large_tiles[row.large.tile], kSms);
  }
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words{""};
  for (const char c : line) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// False for a row that has no prediction.
bool read_row(const std::vector<std::string>& words, Measured& to) {
  Row row{};
  row.us = std::atof(words[9].c_str());
  const std::string& kernel = words[1];
  const bool is_swapped = words[3] == "1";
  const PartShape x = part_shape(to.p, {});
  row.shape = is_swapped ? swapped(x) : x;
  if (kernel == "cublas") {
    to.cublas = row.us;
    return false;
  }
  if (kernel == "large") {
    row.kind = Kind::kLarge;
    const LargePlan wanted{std::atoi(words[2].c_str()), words[6] == "1", words[4] == "1"};
    bool found = false;
    each_large_plan(to.p, {}, kSms, [&](const LargePlan& plan) {
      if (!(plan == wanted)) return;
      row.large = plan;
      found = true;
    });
    if (!found) return false;
  } else if (const auto* const kind = std::ranges::find(kThinNames, kernel);
             kind != kThinNames.end()) {
    row.kind = Kind::kThin;
    row.thin.kind = static_cast<ThinKind>(kind - kThinNames.begin());
    int lanes = 0;
    if (std::sscanf(words[2].c_str(), "%dx%d", &lanes, &row.thin.outputs) != 2) return false;
    while (1 << row.thin.lanes < lanes) ++row.thin.lanes;
    row.thin.along_k = row.shape.b_k_major;
    row.thin.parts = std::atoi(words[6].c_str());
    if (row.thin.kind == ThinKind::kRows && row.thin.outputs != 4) return false;  // an older kernel
  } else if (kernel == "tiles") {
    row.kind = Kind::kTiles;
    const PartPlan wanted{std::atoi(words[2].c_str()), std::atoi(words[5].c_str()),
                          std::atoi(words[6].c_str())};
    bool found = false;
    each_part_plan(row.shape, kSms, [&](const PartPlan& plan) {
      if (plan.tile != wanted.tile || plan.cluster != wanted.cluster || plan.parts != wanted.parts)
        return;
      row.part = plan;
      found = true;
    });
    if (!found) return false;
  } else if (kernel == "guarded") {
    row.kind = Kind::kGuarded;
    row.fused = words[2] == "fused";
    if (std::min(to.p.m, to.p.n) <= kThinVectors || !std::isfinite(cycles_of(to, row)))
      return false;
  } else {
    return false;
  }
  to.rows.push_back(row);
  return true;
}

void read_file(const char* path, std::vector<Measured>& all) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const auto words = split(line);
    long m = 0, n = 0, k = 0;
    char a = 'N', b = 'N';
    if (words.size() != 10 ||
        std::sscanf(words[0].c_str(), "%ldx%ldx%ld (op %c%c)", &m, &n, &k, &a, &b) < 3)
      continue;
    if (all.empty() || all.back().name != words[0]) {
      const auto op = [](char of) { return of == 'T' ? Op::kTranspose : Op::kNone; };
      all.push_back({words[0], make_problem(m, n, k, 1, 0, op(a), op(b)), {}});
    }
    read_row(words, all.back());
  }
}

// Of each problem the plans near the fastest count.
void weigh(std::vector<Measured>& all) {
  for (Measured& of : all) {
    for (Row& row : of.rows) {
      const double best = best_of(of, row.kind == Kind::kGuarded);
      row.weight = std::exp(-2 * (row.us / best - 1));
    }
  }
}

// Products that take long count more.
double weight_of(const Measured& of) {
  return of.cublas > kLongUs ? 2 * (1 + std::log10(of.cublas / kLongUs)) : 1;
}

// Whether a product is slower than cuBLAS by over 5%.
bool is_slower(const Measured& of, const Row& row) {
  constexpr double kSlower = 1.05;
  return row.us > kSlower * of.cublas;
}

double error_of(const Measured& of, const Row& row, double cycles, double usual) {
  const double e = std::log(cycles / (row.us * kCyclesPerUs)) / usual;  // beyond 1, it is linear
  return weight_of(of) * row.weight * (std::sqrt(1 + e * e) - 1);
}

// The errors of the predicted times of large tiles.
double loss_of_large(const std::vector<Measured>& all) {
  constexpr double kUsual = 0.03, kLeastUs = 15;
  double sum = 0;
  for (const Measured& of : all) {
    for (const Row& row : of.rows) {
      if (row.kind == Kind::kLarge && of.cublas > kLeastUs)
        sum += error_of(of, row, cycles_of(of, row), kUsual);
    }
  }
  return sum;
}

// What is lost by plans in proportion to how fast they are predicted, and the errors of the
// predictions.
double loss_of_choice(const std::vector<Measured>& all) {
  constexpr double kUsual = 0.1, kSharp = 15, kOfChoice = 40, kOfErrors = 1, kOfSlower = 0.3;
  constexpr double kOfGuardedErrors = 8;  // two plans per problem say little of the choice
  double sum = 0;
  std::vector<double> cycles;
  for (const Measured& of : all) {
    if (of.rows.empty()) continue;
    cycles.clear();
    for (const Row& row : of.rows) {
      cycles.push_back(cycles_of(of, row));
      sum += (row.kind == Kind::kGuarded ? kOfGuardedErrors : kOfErrors) *
             error_of(of, row, cycles.back(), kUsual);
    }
    for (const bool guarded : kWithGuarded) {
      double least = HUGE_VAL, lost = 0, weights = 0;
      for (std::size_t i = 0; i < cycles.size(); ++i)
        if (is_offered(guarded, of.rows[i])) least = std::min(least, cycles[i]);
      const double best = best_of(of, guarded);
      for (std::size_t i = 0; i < cycles.size(); ++i) {
        const Row& row = of.rows[i];
        if (!is_offered(guarded, row)) continue;
        const double weight = std::exp(-kSharp * std::log(cycles[i] / least));
        lost += weight * (std::log(row.us / best) + (is_slower(of, row) ? kOfSlower : 0));
        weights += weight;
      }
      sum += weight_of(of) * kOfChoice / 2 * lost / weights;
    }
  }
  return sum;
}

void fit(const std::vector<Measured>& all, std::vector<Variable>& free, Aim aim) {
  const auto loss = aim == Aim::kRight ? loss_of_large : loss_of_choice;
  double best = loss(all);
  for (const double step :
       {2.0, 1.5, 1.2, 1.08, 1.03, 1.5, 1.2, 1.08, 1.03, 1.5, 1.2, 1.08, 1.03, 1.01}) {
    for (bool better = true; better;) {
      const double before = best;
      for (Variable& one : free) {
        for (const double factor : {step, 1 / step}) {
          const double old = *one.at;
          *one.at = old * factor;
          const double now = loss(all);
          if (now < best) {
            best = now;
          } else {
            *one.at = old;
          }
        }
      }
      better = best < 0.9995 * before;
    }
  }
  if (free.empty()) return;
  // Costs that only gain together.
  constexpr int kTries = 4000, kTogether = 4;
  constexpr double kFar = 0.08;
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, kFar);
  std::vector<double> kept(free.size());
  for (int i = 0; i < kTries; ++i) {
    std::transform(free.begin(), free.end(), kept.begin(), [](const Variable& x) { return *x.at; });
    for (int j = 0; j < kTogether; ++j)
      *free[random() % free.size()].at *= std::exp(normal(random));
    const double now = loss(all);
    if (now < best) {
      best = now;
      continue;
    }
    for (std::size_t j = 0; j < free.size(); ++j) *free[j].at = kept[j];
  }
}

void report(const std::vector<Measured>& all, bool guarded) {
  struct Line {
    double lost;
    std::string text;
  };
  std::vector<Line> lines;
  double lost = 0, ahead = 0, possible = 0;
  int slower[2]{}, counts[2]{};  // of all others, of long ones
  for (const Measured& of : all) {
    if (of.rows.empty() || of.cublas == 0) continue;
    const auto by = [&](auto value) {
      return *std::min_element(of.rows.begin(), of.rows.end(), [&](const Row& x, const Row& y) {
        return std::pair(!is_offered(guarded, x), value(x)) <
               std::pair(!is_offered(guarded, y), value(y));
      });
    };
    const Row best = by([](const Row&x) { return x.us; }),
              chosen = by([&](const Row&x) { return cycles_of(of, x); });
    const auto words = [&](const Row& x) {
      constexpr const char* kNames[] = {"tiles", "thin", "large", "guarded"};
      char text[160];
      std::snprintf(text, sizeof text,
                    "%s %d c%d p%d / %s %d x%d p%d / %d s%d%s /%s: %.2f us, predicted %.2f",
                    kNames[static_cast<int>(x.kind)], x.part.tile, x.part.cluster, x.part.parts,
                    kThinNames[static_cast<int>(x.thin.kind)].data(), 1 << x.thin.lanes,
                    x.thin.outputs, x.thin.parts, x.large.tile, x.large.shares ? 1 : 0,
                    x.large.packs ? " packed" : "", x.fused ? " fused" : "", x.us,
                    cycles_of(of, x) / kCyclesPerUs);
      return std::string(text);
    };
    lost += std::log(chosen.us / best.us);
    ahead += std::log(of.cublas / chosen.us);
    possible += std::log(of.cublas / best.us);
    const int is_long = of.cublas > kLongUs ? 1 : 0;
    ++counts[is_long];
    slower[is_long] += is_slower(of, chosen) ? 1 : 0;
    char text[64];
    std::snprintf(text, sizeof text, "%.3f %.3f ", chosen.us / best.us, of.cublas / chosen.us);
    lines.push_back({chosen.us / best.us,
                     text + of.name + " chosen " + words(chosen) + "; best " + words(best)});
  }
  std::sort(lines.begin(), lines.end(),
            [](const Line& x, const Line& y) { return x.lost > y.lost; });
  const auto count = static_cast<double>(lines.size());
  constexpr std::size_t kShown = 60;
  for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i)
    std::printf("%s\n", lines[i].text.c_str());
  std::printf("%s: %.0f problems: chosen / fastest %.4f; cuBLAS / chosen %.4f, / fastest %.4f\n",
              guarded ? "auto" : "ieee", count, std::exp(lost / count), std::exp(ahead / count),
              std::exp(possible / count));
  for (const int is_long : {1, 0})
    std::printf("%s %.0f us: %d problems, %d slower than cuBLAS by over 5%%\n",
                is_long == 1 ? "above" : "up to", kLongUs, counts[is_long], slower[is_long]);
}

}  // namespace
}  // namespace ladder

int main(int count, char** arguments) {
  using namespace ladder;
  std::vector<Measured> all, tests;
  std::vector<Aim> aims;
  std::regex only(".*");
  bool test = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--large") {
      aims.push_back(Aim::kRight);
    } else if (argument == "--only" && i + 1 < count) {
      only = arguments[++i];
    } else if (argument == "--test") {
      test = true;
    } else {
      read_file(arguments[i], test ? tests : all);
    }
  }
  if (all.empty()) {
    std::fprintf(stderr, "usage: %s [--large] [--only REGEX] ROWS.csv... [--test ROWS.csv...]\n",
                 arguments[0]);
    return 2;
  }
  aims.push_back(Aim::kChoice);
  weigh(all);
  weigh(tests);
  const auto report_all = [&] {
    for (const bool guarded : kWithGuarded) {
      report(all, guarded);
      if (!tests.empty()) report(tests, guarded);
    }
  };
  report_all();
  for (const Aim aim : aims) {
    std::vector<Variable> free = variables(aim, only);
    fit(all, free, aim);
    for (const Variable& one : free)
      std::printf("%-28s %10.4g  was %10.4g\n", one.name.c_str(), *one.at, one.before);
  }
  report_all();
  return 0;
}
