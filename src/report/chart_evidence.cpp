// SPDX-License-Identifier: Apache-2.0
// Charts of the evidence behind the rates: roofline, accuracy, samples with clocks, occupancy
// limits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/chart.hpp"
#include "report/json_text.hpp"
#include "report/table.hpp"

namespace ladder {
namespace {

using Json = nlohmann::ordered_json;

Status nothing(const std::string& what) {
  return {Code::kInvalidArgument, what + ": nothing to draw"};
}

// "r05" of "r05_block_tile_2d"; libraries keep their name.
std::string short_name(const std::string& kernel, bool library) {
  return library ? kernel : kernel.substr(0, kernel.find('_'));
}

struct Name {
  std::string text;
  double x = 0, y = 0;
};

// "r06 to r12, cublas_ieee": the common label of several points. Two rungs are listed, more become
// a range.
std::string joined(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  const auto is_library = [](const std::string& text) { return text.size() > 3; };
  const auto libraries = std::stable_partition(texts.begin(), texts.end(), std::not_fn(is_library));
  const auto rungs = libraries - texts.begin();
  std::string text;
  if (rungs > 2) {
    text = texts.front() + " to " + *(libraries - 1);
  } else {
    for (auto at = texts.begin(); at != libraries; ++at) text += (text.empty() ? "" : ", ") + *at;
  }
  if (libraries == texts.end()) return text;
  if (!text.empty()) text += ", ";
  return texts.end() - libraries == 1 ? text + *libraries
                                      : text + fmt::format("{} libraries", texts.end() - libraries);
}

// Merges the labels of points that are too close together for separate labels. The merged label has
// the leftmost x and the lowest or highest y.
enum class At { kLowest, kHighest };
std::vector<Name> gathered(std::vector<Name> names, double near_x, double line_y, At height) {
  std::ranges::stable_sort(names, {}, &Name::x);
  std::vector<std::vector<Name>> groups;
  for (const Name& name : names) {
    const auto near = std::ranges::find_if(groups, [&](const std::vector<Name>& group) {
      return name.x - group.back().x < near_x && std::abs(name.y - group.back().y) < line_y;
    });
    if (near == groups.end()) {
      groups.push_back({name});
    } else {
      near->push_back(name);
    }
  }
  std::vector<Name> one_each;
  for (const std::vector<Name>& group : groups) {
    Name& name = one_each.emplace_back();
    std::vector<std::string> texts;
    name.y = group.front().y;
    for (const Name& member : group) {
      texts.push_back(member.text);
      name.y = height == At::kHighest ? std::max(name.y, member.y) : std::min(name.y, member.y);
    }
    name.x = group.front().x;
    name.text = joined(std::move(texts));
  }
  return one_each;
}

double spread_of(const std::vector<double>& logs) {
  const auto [low, high] = std::ranges::minmax_element(logs);
  return std::max(*high - *low, 0.5);
}

}  // namespace

Result<Chart> roofline_chart(std::span<const Roof> roofs, std::span<const RooflinePoint> points,
                             const std::string& device) {
  if (points.empty() || roofs.empty()) return nothing("no kernel's traffic is known");
  double low_x = 1e30, high_x = 0, low_y = 1e30, top = 0;
  for (const RooflinePoint& p : points) {
    low_x = std::min({low_x, p.l2_intensity, p.memory_intensity});
    high_x = std::max({high_x, p.l2_intensity, p.memory_intensity});
    low_y = std::min(low_y, p.tflops);
    top = std::max(top, p.tflops);
  }
  for (const Roof& roof : roofs) top = std::max(top, roof.tflops);
  low_x /= 2;
  high_x *= 2;
  low_y /= 2;
  const double ceiling = std::ranges::max_element(roofs, [](const Roof& a, const Roof& b) {
                           return a.tflops < b.tflops;
                         })->tflops;
  Json lines = Json::array(), level_names = Json::array(), slope_names = Json::array(),
       marks = Json::array(), spans = Json::array(), names = Json::array();
  for (const Roof& roof : roofs) {
    const bool level = roof.tflops > 0;
    const std::string about =
        level ? fmt::format("{}: {} TFLOP/s", roof.name, figure(roof.tflops))
              : fmt::format("{}: {} GB/s", roof.name, figure(roof.bandwidth * 1e-9));
    const auto at = [&](double x) { return level ? roof.tflops : x * roof.bandwidth * 1e-12; };
    // A line from the chart's lower or left edge to the ceiling.
    const double from = level ? low_x : std::max(low_x, low_y / (roof.bandwidth * 1e-12));
    const double to = level ? high_x : std::min(high_x, ceiling / (roof.bandwidth * 1e-12));
    for (const double x : {from, to})
      lines.push_back({{"roof", about}, {"intensity", x}, {"tflops", at(x)}, {"about", about}});
    if (level) {
      level_names.push_back({{"roof", about}, {"intensity", from}, {"tflops", at(from)}});
    } else {
      slope_names.push_back({{"roof", about}, {"intensity", from}, {"tflops", at(from)}});
    }
  }
  std::vector<Name> labels;
  std::string says = fmt::format("Roofline of {}.", device);
  for (const RooflinePoint& p : points) {
    const std::string rate =
        fmt::format("{} TFLOP/s{}", figure(p.tflops), p.predicted ? " predicted" : "");
    for (const auto& [level, intensity] :
         {std::pair{"L2", p.l2_intensity}, {"device memory", p.memory_intensity}})
      marks.push_back({{"kernel", p.kernel},
                       {"level", level},
                       {"source", p.predicted ? "predicted" : "measured"},
                       {"intensity", intensity},
                       {"tflops", p.tflops},
                       {"about", fmt::format("{}: {}, {} FLOP a byte from {}", p.kernel, rate,
                                             figure(intensity), level)}});
    spans.push_back(
        {{"intensity", p.l2_intensity}, {"x2", p.memory_intensity}, {"tflops", p.tflops}});
    labels.push_back(
        {short_name(p.kernel, false), std::log10(p.l2_intensity), std::log10(p.tflops)});
    says += fmt::format(" {}: {}, {} FLOP a byte from L2.", p.kernel, rate, figure(p.l2_intensity));
  }
  constexpr double kLinesInHeight = 28, kNamesInWidth = 40;
  for (const Name& label : gathered(labels, std::log10(high_x / low_x) / kNamesInWidth,
                                    std::log10(top / low_y) / kLinesInHeight, At::kLowest))
    names.push_back({{"name", label.text},
                     {"intensity", std::pow(10, label.x)},
                     {"tflops", std::pow(10, label.y)}});
  return make_chart(
      "roofline", "Roofline", device, says,
      std::array{
          ChartData{"roofs", json_text(lines)}, ChartData{"level_names", json_text(level_names)},
          ChartData{"slope_names", json_text(slope_names)}, ChartData{"spans", json_text(spans)},
          ChartData{"points", json_text(marks)}, ChartData{"names", json_text(names)}});
}

Result<Chart> accuracy_chart(std::span<const Pick> rows) {
  Json points = Json::array(), names = Json::array();
  std::vector<Name> labels;
  std::vector<double> xs, ys;
  std::string says = "Error beside rate.";
  for (const Pick& pick : rows) {
    const Row& row = *pick.row;
    if (!pick.derived.tflops || !row.errors.known || !(row.errors.normwise > 0)) continue;
    const bool library = row.role == Role::kBaseline;
    const std::string about = fmt::format("{}: error {:.1e} at {} TFLOP/s", row.kernel,
                                          row.errors.normwise, figure(pick.derived.tflops));
    points.push_back({{"kernel", row.kernel},
                      {"precision", to_string(row.precision)},
                      {"role", library ? "library" : "rung"},
                      {"tflops", *pick.derived.tflops},
                      {"error", row.errors.normwise},
                      {"about", about}});
    xs.push_back(std::log10(*pick.derived.tflops));
    ys.push_back(std::log10(row.errors.normwise));
    labels.push_back({short_name(row.kernel, library), xs.back(), ys.back()});
    says += " " + about + ".";
  }
  if (labels.empty()) return nothing("no row has both a rate and an error");
  constexpr double kLinesInHeight = 20, kNamesInWidth = 18;
  const double line = spread_of(ys) / kLinesInHeight;
  for (Name& label : labels) label.y += line;  // above its point
  for (const Name& label : gathered(labels, spread_of(xs) / kNamesInWidth, line, At::kHighest))
    names.push_back({{"name", label.text},
                     {"tflops", std::pow(10, label.x)},
                     {"error", std::pow(10, label.y)}});
  const Row& first = *rows.front().row;
  return make_chart(
      "accuracy", "Error beside rate",
      fmt::format("{}, uniform operands, {}", to_string(first.problem), first.device.name), says,
      std::array{ChartData{"points", json_text(points)}, ChartData{"names", json_text(names)}});
}

Result<Chart> samples_chart(std::span<const Pick> rows) {
  Json times = Json::array(), readings = Json::array();
  std::string says = "Times around their median, and clock and power meanwhile.";
  for (const Pick& pick : rows) {
    const Row& row = *pick.row;
    if (!row.timing || !(row.timing->ms.median > 0)) continue;
    const Measurement& m = *row.timing;
    const auto percent = [&](double ms) { return 100 * (ms / m.ms.median - 1); };
    std::string about = fmt::format(
        "{}: median {} ms of {} samples, half of them from {:+.2f}% to {:+.2f}%, nine in ten from "
        "{:+.2f}% to {:+.2f}%",
        row.kernel, figure(m.ms.median), m.ms.n, percent(m.ms.p25), percent(m.ms.p75),
        percent(m.ms.p5), percent(m.ms.p95));
    if (pick.derived.sm_clock_mhz) about += fmt::format(", {:.0f} MHz", *pick.derived.sm_clock_mhz);
    if (pick.derived.power_w) about += fmt::format(", {:.0f} W", *pick.derived.power_w);
    if (m.throttled > 0)
      about += fmt::format(", {} samples discarded: the chip was held back", m.throttled);
    times.push_back({{"kernel", row.kernel},
                     {"p5", percent(m.ms.p5)},
                     {"p25", percent(m.ms.p25)},
                     {"p75", percent(m.ms.p75)},
                     {"p95", percent(m.ms.p95)},
                     {"about", about}});
    says += " " + about + ".";
    for (const auto& [quantity, range] :
         {std::pair{"mhz", m.telemetry.sm_clock_mhz}, std::pair{"watts", m.telemetry.power_w}}) {
      if (range) {
        readings.push_back({{"kernel", row.kernel},
                            {"quantity", quantity},
                            {"min", range->min},
                            {"median", range->median},
                            {"max", range->max}});
      }
    }
  }
  if (times.empty()) return nothing("nothing was timed");
  return make_chart(
      "samples", "Samples, clock and power",
      to_string(rows.front().row->problem) +
          "; orange: the middle half of the samples, blue: nine in ten; clock and power: lowest, "
          "median and highest reading",
      says,
      std::array{ChartData{"times", json_text(times)}, ChartData{"readings", json_text(readings)}});
}

Result<Chart> occupancy_chart(std::span<const BlockLimit> limits, const std::string& device) {
  if (limits.empty()) return nothing("no kernel's resources are known");
  Json rows = Json::array();
  std::string says =
      fmt::format("Blocks that fit on an SM of {}, by each limit. What binds:", device);
  for (const BlockLimit& l : limits) {
    rows.push_back({{"kernel", l.kernel},
                    {"limit", l.limit},
                    {"blocks", l.blocks},
                    {"binds", l.binds ? "binds" : "would allow more"},
                    {"about", fmt::format("{}: {} allow {} blocks{}", l.kernel, l.limit, l.blocks,
                                          l.binds ? ", binds" : "")}});
    if (l.binds) says += fmt::format(" {}: {} at {}.", l.kernel, l.limit, l.blocks);
  }
  return make_chart("occupancy", "Blocks that fit on an SM, by each limit", device, says,
                    std::array{ChartData{"limits", json_text(rows)}});
}

}  // namespace ladder
