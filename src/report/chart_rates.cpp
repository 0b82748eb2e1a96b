// SPDX-License-Identifier: Apache-2.0
// The charts of rates: the climb at one problem, and the lines over sizes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/chart.hpp"
#include "report/table.hpp"

namespace ladder {
namespace {

using Json = nlohmann::ordered_json;

Status nothing(const std::string& what) {
  return {Code::kInvalidArgument, "no row has " + what + ": nothing to draw"};
}

std::string chart_name(const char* base, Precision precision) {
  return precision == Precision::kIeee ? base : fmt::format("{}-{}", base, to_string(precision));
}

const char* cache_text(const Row& row) {
  if (!row.timing || row.place == Place::kHost) return "";
  return row.timing->copies > 1 ? ", operands not in the L2 cache"
                                : ", operands as the launch before left them";
}

std::string about(const Bar& bar) {
  std::string text =
      fmt::format("{}: {} TFLOP/s{}", bar.kernel, figure(bar.tflops), bar.predicted ? ", predicted" : "");
  if (bar.percent) text += fmt::format(", {:.1f}% of the library", *bar.percent);
  return bar.idea.empty() ? text : text + "; " + bar.idea;
}

struct Curve {
  std::string kernel;
  bool library = false;
  std::map<double, double> points;  // side, TFLOP/s
};

// Names stand at the height of their line's end, moved down where they would overlap, and all up where that runs out
// of the chart. `step`: their least distance; both in TFLOP/s.
std::vector<double> place_names(const std::vector<double>& wanted, double step) {
  std::vector<std::size_t> order(wanted.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  std::vector<double> placed = wanted;
  double limit = 0;
  for (const std::size_t i : order) {  // from the lowest up
    placed[i] = std::max(wanted[i], limit);
    limit = placed[i] + step;
  }
  return placed;
}

// The rows that one picture can have: one device and one state of the cache, those with the most rates.
std::vector<const Row*> alike(std::span<const Document> documents, Precision precision) {
  std::map<std::pair<std::string, bool>, std::vector<const Row*>> groups;
  const std::vector<const Row*>* most = nullptr;
  for (const Document& document : documents) {
    for (const Row& row : document.rows) {
      if (!is_cube(row.problem) || stands_for(row.precision) != precision) continue;
      if (!derive(row).tflops) continue;
      auto& group = groups[{row.device.name, row.timing->copies > 1}];
      group.push_back(&row);
      if (most == nullptr || group.size() > most->size()) most = &group;
    }
  }
  return most == nullptr ? std::vector<const Row*>() : *most;
}

std::vector<Curve> curves_of(const std::vector<const Row*>& rows) {
  std::vector<Curve> curves;
  for (const Row* row : rows) {
    auto found = std::find_if(curves.begin(), curves.end(),
                              [&](const Curve& curve) { return curve.kernel == row->kernel; });
    if (found == curves.end())
      found = curves.insert(curves.end(), {row->kernel, row->role == Role::kBaseline, {}});
    found->points.emplace(static_cast<double>(row->problem.m), *derive(*row).tflops);
  }
  std::stable_sort(curves.begin(), curves.end(), [](const Curve& a, const Curve& b) {
    return a.library != b.library ? b.library : !a.library && a.kernel < b.kernel;
  });
  return curves;
}

}  // namespace

std::vector<Bar> measured_bars(std::span<const Pick> rows) {
  std::vector<Bar> bars;
  for (const Pick& pick : rows) {
    if (!pick.derived.tflops) continue;
    const bool library = pick.row->role == Role::kBaseline;
    bars.push_back({pick.row->kernel, pick.row->idea, *pick.derived.tflops, library, false,
                    library ? std::nullopt : pick.derived.percent_of_baseline});
  }
  return bars;
}

Result<Chart> climb_chart(std::span<const Bar> bars, const std::string& problem, const std::string& device,
                          Precision precision) {
  if (std::none_of(bars.begin(), bars.end(), [](const Bar& bar) { return !bar.library; }))
    return nothing("a verified and timed rung");
  Json rows = Json::array(), best = Json::array();
  const Bar* library = nullptr;
  const Bar* rung = nullptr;
  for (const Bar& bar : bars) {
    rows.push_back({{"kernel", bar.kernel},
                    {"tflops", bar.tflops},
                    {"label", figure(bar.tflops)},
                    {"source", bar.library     ? "library, measured"
                               : bar.predicted ? "rung, predicted"
                                               : "rung, measured"},
                    {"about", about(bar)}});
    const Bar*& most = bar.library ? library : rung;
    if (most == nullptr || bar.tflops > most->tflops) most = &bar;
  }
  if (library != nullptr) best.push_back({{"tflops", library->tflops}, {"about", about(*library)}});
  std::string says = fmt::format("Bars, one a kernel, at {}. Best rung: {}, {} TFLOP/s{}.", problem,
                                 rung->kernel, figure(rung->tflops), rung->predicted ? ", predicted" : "");
  if (library != nullptr)
    says += fmt::format(" Best library: {}, {}.", library->kernel, figure(library->tflops));
  const std::string title = fmt::format("TFLOP/s at {}, {}", problem, to_string(precision));
  return make_chart(chart_name("climb", precision), title, device, says,
                    std::array{ChartData{"bars", rows.dump()}, ChartData{"best", best.dump()}});
}

Result<Chart> sizes_chart(std::span<const Document> documents, Precision precision) {
  const std::vector<const Row*> rows = alike(documents, precision);
  const std::vector<Curve> curves = curves_of(rows);
  if (std::none_of(curves.begin(), curves.end(), [](const Curve& curve) { return curve.points.size() > 1; }))
    return Status(Code::kInvalidArgument, "no kernel was timed on two cubes: nothing to draw");
  Json points = Json::array(), names = Json::array();
  std::vector<double> ends;
  double most = 0, last_side = 0;
  for (const Curve& curve : curves) {
    for (const auto& [side, rate] : curve.points) {
      most = std::max(most, rate);
      last_side = std::max(last_side, side);
    }
    ends.push_back(curve.points.rbegin()->second);
  }
  constexpr double kNamesInHeight = 28;  // lines of text beside the plot
  const std::vector<double> heights = place_names(ends, most / kNamesInHeight);
  std::string says = "Lines, TFLOP/s over N. At the largest:";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const auto& [side, rate] : curves[i].points)
      points.push_back(
          {{"kernel", curves[i].kernel},
           {"order", i},
           {"role", curves[i].library ? "library" : "rung"},
           {"n", side},
           {"tflops", rate},
           {"about", fmt::format("{} at {:.0f}: {} TFLOP/s", curves[i].kernel, side, figure(rate))}});
    names.push_back({{"kernel", curves[i].kernel}, {"order", i}, {"n", last_side}, {"tflops", heights[i]}});
    says += fmt::format("{} {} {}", i == 0 ? "" : ",", curves[i].kernel, figure(ends[i]));
  }
  const std::string title = fmt::format("TFLOP/s over N, for M = N = K, {}", to_string(precision));
  return make_chart(chart_name("sizes", precision), title,
                    rows.front()->device.name + cache_text(*rows.front()), says + ".",
                    std::array{ChartData{"points", points.dump()}, ChartData{"names", names.dump()}});
}

Result<Chart> time_chart(std::span<const Document> documents, Precision precision) {
  const std::vector<const Row*> rows = alike(documents, precision);
  std::vector<Curve> curves = curves_of(rows);
  std::erase_if(curves, [](const Curve& curve) { return curve.points.size() < 2; });
  if (curves.empty())
    return Status(Code::kInvalidArgument, "no kernel was timed on two cubes: nothing to draw");
  const auto ms_at = [](double side, double tflops) { return 2 * side * side * side / tflops * 1e-9; };
  Json points = Json::array(), names = Json::array();
  std::vector<double> ends, powers;
  double least = ms_at(curves[0].points.begin()->first, curves[0].points.begin()->second), most = least,
         last = 0;
  for (const Curve& curve : curves) {
    for (const auto& [side, rate] : curve.points) {
      least = std::min(least, ms_at(side, rate));
      most = std::max(most, ms_at(side, rate));
      last = std::max(last, side);
    }
    const auto [side, rate] = *curve.points.rbegin();
    const auto [before, slower] = *std::prev(curve.points.end(), 2);
    ends.push_back(std::log(ms_at(side, rate)));
    powers.push_back(std::log(ms_at(side, rate) / ms_at(before, slower)) / std::log(side / before));
  }
  for (double& end : ends) end -= std::log(least);  // above the lowest point of the plot
  constexpr double kNamesInHeight = 28;
  const std::vector<double> heights = place_names(ends, std::log(most / least) / kNamesInHeight);
  std::string says =
      "Lines on logarithmic axes, milliseconds over N. Between the two largest cubes time grows with";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const auto& [side, rate] : curves[i].points)
      points.push_back(
          {{"kernel", curves[i].kernel},
           {"order", i},
           {"role", curves[i].library ? "library" : "rung"},
           {"n", side},
           {"ms", ms_at(side, rate)},
           {"about", fmt::format("{} at {:.0f}: {} ms", curves[i].kernel, side, figure(ms_at(side, rate)))}});
    const std::string label = fmt::format("{}: N^{:.2f}", curves[i].kernel, powers[i]);
    names.push_back({{"label", label},
                     {"kernel", curves[i].kernel},
                     {"order", i},
                     {"n", last},
                     {"ms", least * std::exp(heights[i])}});
    says += fmt::format("{} {}", i == 0 ? "" : ",", label);
  }
  const std::string title = fmt::format("Time over N, for M = N = K, {}", to_string(precision));
  return make_chart(chart_name("time", precision), title,
                    rows.front()->device.name + cache_text(*rows.front()), says + ".",
                    std::array{ChartData{"points", points.dump()}, ChartData{"names", names.dump()}});
}

}  // namespace ladder
