// SPDX-License-Identifier: Apache-2.0
#include "tune/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "report/json_text.hpp"
#include "report/text.hpp"
#include "tune/result.hpp"

namespace ladder::tune {
namespace {

using OrderedJson = nlohmann::ordered_json;

Result<std::size_t> index_of(const SearchSpace& space, std::string_view name) {
  std::string there;
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    if (space.parameters[i].name == name) return i;
    there += fmt::format("{}{}", i == 0 ? "" : ", ", space.parameters[i].name);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("no parameter '{}'; there are {}", name, there));
}

struct Cell {
  double gflops = 0;
  std::size_t passed = 0;
  std::string tile;  // the best candidate's tile
};
using Cells = std::map<std::pair<int, int>, Cell>;

Cells cells_of(const Job& job, const Tuning& outcome, std::size_t row, std::size_t column) {
  Cells cells;
  for (const Candidate& candidate : outcome.candidates) {
    if (!candidate.ranked() || !(candidate.ms > 0)) continue;
    Cell& cell = cells[{candidate.point[row], candidate.point[column]}];
    ++cell.passed;
    const double rate = gflops(job.problem, candidate.ms);
    if (rate <= cell.gflops) continue;
    cell.gflops = rate;
    cell.tile = describe(*job.space, candidate.point);
  }
  return cells;
}

}  // namespace

Result<Chart> heat_map(const Job& job, const Tuning& outcome, std::string_view rows,
                       std::string_view columns) {
  const auto row = index_of(*job.space, rows);
  if (!row) return row.status();
  const auto column = index_of(*job.space, columns);
  if (!column) return column.status();
  if (row.value() == column.value())
    return Status(Code::kInvalidArgument, fmt::format("'{}' cannot be on both axes", rows));
  const Cells cells = cells_of(job, outcome, row.value(), column.value());
  if (cells.empty()) return Status(Code::kInvalidArgument, "no candidate passed: nothing to draw");
  double least = cells.begin()->second.gflops;
  double most = least;
  const Cell* best = nullptr;
  for (const auto& [at, cell] : cells) {
    least = std::min(least, cell.gflops);
    most = std::max(most, cell.gflops);
    if (best == nullptr || cell.gflops > best->gflops) best = &cell;
  }
  OrderedJson drawn = OrderedJson::array(), empty = OrderedJson::array();
  for (const int down : job.space->parameters[row.value()].values) {
    for (const int across : job.space->parameters[column.value()].values) {
      OrderedJson cell{{"row", fmt::format("{} {}", rows, down)},
                       {"column", fmt::format("{} {}", columns, across)}};
      if (const auto found = cells.find({down, across}); found != cells.end()) {
        cell["gflops"] = found->second.gflops;
        // If all cells are equal, all of them are the best.
        cell["share"] = most > least ? (found->second.gflops - least) / (most - least) : 1;
        cell["about"] = fmt::format("{}: {:.0f}, best of {}", found->second.tile,
                                    found->second.gflops, found->second.passed);
        drawn.push_back(std::move(cell));
      } else {
        empty.push_back(std::move(cell));
      }
    }
  }
  const std::string title = fmt::format("{}, {}: GFLOP/s at {}{}", job.space->rung, job.device.name,
                                        to_string(job.problem),
                                        outcome.basis == Basis::kModelled ? ", by the model" : "");
  return make_chart(
      "heat_map", title,
      "in each cell the best over the other parameters; grey: none passed, or none was tried; " +
          outcome.strategy,
      fmt::format("{}. Best: {}, {:.0f} GFLOP/s.", title, best->tile, best->gflops),
      std::array{ChartData{"cells", json_text(drawn)}, ChartData{"empty", json_text(empty)}});
}

std::string candidates_csv(const Job& job, const Tuning& outcome) {
  std::string text;
  for (const Parameter& parameter : job.space->parameters) text += csv_field(parameter.name) + ",";
  text += "status,registers,spill_bytes,shared_bytes,ms,gflops,model_ms\n";
  const bool timed = outcome.basis == Basis::kTimed;
  const auto figure = [](double value) {
    return value > 0 ? fmt::format("{:.6g}", value) : std::string();
  };
  for (const Candidate& c : outcome.candidates) {
    const double ms = timed && c.ranked() ? c.ms : 0;
    text += fmt::format("{},{},{},{},{},{},{},{}\n", values_text(c.point),
                        csv_field(to_string(c.fate)), c.compiled.registers, c.compiled.spill_bytes,
                        c.compiled.shared_bytes, figure(ms), figure(gflops(job.problem, ms)),
                        figure(c.prediction ? c.prediction->ms : 0));
  }
  return text;
}

}  // namespace ladder::tune
