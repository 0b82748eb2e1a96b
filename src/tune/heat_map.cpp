// SPDX-License-Identifier: Apache-2.0
#include "tune/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "report/svg.hpp"
#include "tune/result.hpp"

namespace ladder::tune {
namespace {

struct Color {
  double red, green, blue;
};

// Viridis (van der Walt and Smith 2015) at five points: even to the eye, also without red and green.
constexpr std::array<Color, 5> kViridis{
    {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};

Color color_of(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(kViridis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
  const double part = at - static_cast<double>(below);
  const Color& a = kViridis[below];
  const Color& b = kViridis[below + 1];
  return {a.red + part * (b.red - a.red), a.green + part * (b.green - a.green),
          a.blue + part * (b.blue - a.blue)};
}

Result<std::size_t> index_of(const SearchSpace& space, std::string_view name) {
  std::string there;
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    if (space.parameters[i].name == name) return i;
    there += fmt::format("{}{}", i == 0 ? "" : ", ", space.parameters[i].name);
  }
  return Status(Code::kInvalidArgument, fmt::format("no parameter '{}'; there are {}", name, there));
}

struct Cell {
  double gflops = 0;
  std::size_t passed = 0;
  std::string tile;  // of the best
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

std::string cell_svg(const Cell& cell, double least, double most, int x, int y, int width, int height) {
  // Where all cells are equally good, they get the colour of the best.
  const Color c = color_of(most > least ? (cell.gflops - least) / (most - least) : 1);
  const bool bright = 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue > 140;  // ITU-R BT.601 luma
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{:02x}{:02x}{:02x}\"><title>{}: {:.0f}, "
      "best "
      "of {}</title></rect>\n"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" style=\"fill:{}\">{:.0f}</text>\n",
      x, y, width - 2, height - 2, std::lround(c.red), std::lround(c.green), std::lround(c.blue),
      svg::escape(cell.tile), cell.gflops, cell.passed, x + width / 2 - 1, y + height / 2 + 4,
      bright ? "#1b1f24" : "#f6f8fa", cell.gflops);
}

}  // namespace

Result<std::string> heat_map(const Job& job, const Tuning& outcome, std::string_view rows,
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
  for (const auto& [at, cell] : cells) {
    least = std::min(least, cell.gflops);
    most = std::max(most, cell.gflops);
  }

  constexpr int kLeft = 90;
  constexpr int kTop = 76;
  constexpr int kWide = 84;
  constexpr int kHigh = 34;
  const auto& down = job.space->parameters[row.value()].values;
  const auto& across = job.space->parameters[column.value()].values;
  const int bottom = kTop + kHigh * static_cast<int>(down.size());
  const int width = std::max(620, kLeft + kWide * static_cast<int>(across.size()) + 20);
  const std::string title =
      fmt::format("{}, {}: GFLOP/s at {}{}", job.space->rung, job.device.name, to_string(job.problem),
                  outcome.basis == Basis::kModelled ? ", by the model" : "");
  std::string picture = svg::open(width, bottom + 48, title, ".none{fill:#8c959f;fill-opacity:.2}", "");
  picture += fmt::format("<text x=\"16\" y=\"22\" font-size=\"15\" font-weight=\"600\">{}</text>\n",
                         svg::escape(title));
  picture +=
      fmt::format("<text x=\"{}\" y=\"48\" text-anchor=\"middle\">{}</text>\n",
                  kLeft + kWide * static_cast<int>(across.size()) / 2, svg::escape(std::string(columns)));
  for (std::size_t j = 0; j < across.size(); ++j) {
    picture += fmt::format("<text x=\"{}\" y=\"68\" text-anchor=\"middle\">{}</text>\n",
                           kLeft + kWide * static_cast<int>(j) + kWide / 2, across[j]);
  }
  for (std::size_t i = 0; i < down.size(); ++i) {
    const int y = kTop + kHigh * static_cast<int>(i);
    picture += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} {}</text>\n", kLeft - 10,
                           y + kHigh / 2 + 4, svg::escape(std::string(rows)), down[i]);
    for (std::size_t j = 0; j < across.size(); ++j) {
      const int x = kLeft + kWide * static_cast<int>(j);
      const auto found = cells.find({down[i], across[j]});
      picture += found != cells.end()
                     ? cell_svg(found->second, least, most, x, y, kWide, kHigh)
                     : fmt::format("<rect class=\"none\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", x,
                                   y, kWide - 2, kHigh - 2);
    }
  }
  int y = bottom + 22;
  for (const std::string& line :
       {std::string("In each cell the best over the other parameters; grey: none passed, "
                    "or none was tried."),
        outcome.strategy}) {
    picture += fmt::format("<text x=\"16\" y=\"{}\" font-size=\"12\">{}</text>\n", y, svg::escape(line));
    y += 18;
  }
  return picture + "</svg>\n";
}

std::string candidates_csv(const Job& job, const Tuning& outcome) {
  std::string text;
  for (const Parameter& parameter : job.space->parameters) text += fmt::format("{},", parameter.name);
  text += "status,registers,spill_bytes,shared_bytes,ms,gflops,model_ms\n";
  const bool timed = outcome.basis == Basis::kTimed;
  const auto figure = [](double value) { return value > 0 ? fmt::format("{:.6g}", value) : std::string(); };
  for (const Candidate& c : outcome.candidates) {
    const double ms = timed && c.ranked() ? c.ms : 0;
    text += fmt::format("{},{},{},{},{},{},{},{}\n", values_text(c.point), to_string(c.fate),
                        c.compiled.registers, c.compiled.spill_bytes, c.compiled.shared_bytes, figure(ms),
                        figure(gflops(job.problem, ms)), figure(c.prediction ? c.prediction->ms : 0));
  }
  return text;
}

}  // namespace ladder::tune
