// SPDX-License-Identifier: Apache-2.0
// Charts of rates: the climb at one problem, and the curves over sizes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "report/chart.hpp"
#include "report/json_text.hpp"
#include "report/table.hpp"

namespace ladder {
namespace {

using Json = nlohmann::ordered_json;

Status no_row_has(const std::string& what) {
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
  std::string text = fmt::format("{}: {} TFLOP/s{}", bar.kernel, figure(bar.tflops),
                                 bar.predicted ? ", predicted" : "");
  if (bar.percent) text += fmt::format(", {:.1f}% of the library", *bar.percent);
  return bar.idea.empty() ? text : text + "; " + bar.idea;
}

struct Curve {
  std::string kernel;
  bool library = false;
  std::map<double, double> points;  // side, TFLOP/s
};

// Places labels beside the ends of curves, as close to them as possible, at least `step` apart and
// between `lowest` and `highest`. Minimises the sum of squares by pooling neighbours that would
// overlap (isotonic regression).
std::vector<double> place_names(const std::vector<double>& ends, double step, double lowest,
                                double highest) {
  struct Pool {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return ends[a] < ends[b]; });
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < order.size(); ++i) {
    pools.push_back({ends[order[i]] - static_cast<double>(i) * step, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> placed(ends.size());
  std::size_t i = 0;
  const double room = std::max(lowest, highest - static_cast<double>(order.size() - 1) * step);
  for (const Pool& pool : pools) {
    for (std::size_t j = 0; j < pool.count; ++j, ++i)
      placed[order[i]] = std::clamp(pool.mean(), lowest, room) + static_cast<double>(i) * step;
  }
  return placed;
}

// Returns the rows that fit one picture: one device and one cache state, the pair with the most
// rates.
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
    auto found = std::ranges::find(curves, row->kernel, &Curve::kernel);
    if (found == curves.end())
      found = curves.insert(curves.end(), {row->kernel, row->role == Role::kBaseline, {}});
    found->points.emplace(static_cast<double>(row->problem.m), *derive(*row).tflops);
  }
  std::ranges::stable_sort(curves, [](const Curve& a, const Curve& b) {
    return a.library != b.library ? b.library : !a.library && a.kernel < b.kernel;
  });
  return curves;
}

// How a chart over sizes displays a rate at a side.
struct Axis {
  const char* field;                            // of the template's vertical axis
  double (*value)(double side, double tflops);  // the value on the axis
  double (*height)(double value);      // position on the axis scale: equal steps have equal length
  double (*at_height)(double height);  // the inverse
  double lowest;                       // start of the axis, as a position; NaN: at the least value
  std::string (*words)(double value);  // with its unit
};

// True if a side is next to a power of two that was also measured, such as 257 or 4092. A curve
// through such sides would zigzag, so they are drawn as separate points.
bool stands_beside(double side, const std::map<double, double>& points) {
  constexpr double kNear = 1.0 / 64;
  const double power = std::exp2(std::round(std::log2(side)));
  return side != power && std::abs(side - power) <= kNear * power && points.contains(power);
}

// Returns the three tables of such a chart; `labels` are the labels at the ends of the curves.
std::vector<ChartData> tables_of(const std::vector<Curve>& curves,
                                 const std::vector<std::string>& labels, const Axis& axis) {
  constexpr double kLinesOfText = 30,
                   // distance between labels; length of the leader to them, relative to the width
      kLeader = 0.035;
  Json points = Json::array(), names = Json::array(), leaders = Json::array();
  std::vector<double> ends;
  double least = std::numeric_limits<double>::infinity(), most = -least, first = least, last = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Curve& curve = curves[i];
    for (const auto& [side, rate] : curve.points) {
      const double value = axis.value(side, rate);
      least = std::min(least, axis.height(value));
      most = std::max(most, axis.height(value));
      first = std::min(first, side);
      last = std::max(last, side);
      points.push_back(
          {{"kernel", curve.kernel},
           {"order", i},
           {"role", curve.library ? "library" : "rung"},
           {"n", side},
           {axis.field, value},
           {"about", fmt::format("{} at {:.0f}: {}", curve.kernel, side, axis.words(value))}});
      if (stands_beside(side, curve.points)) points.back()["beside"] = true;
    }
    ends.push_back(
        axis.height(axis.value(curve.points.rbegin()->first, curve.points.rbegin()->second)));
  }
  const double lowest = std::isnan(axis.lowest) ? least : axis.lowest;
  const std::vector<double> heights =
      place_names(ends, (most - lowest) / kLinesOfText, lowest, most);
  const double beside = last * std::pow(last / first, kLeader);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const double at = axis.at_height(heights[i]);
    names.push_back({{"label", labels[i]}, {"n", beside}, {axis.field, at}});
    leaders.push_back({{"kernel", curves[i].kernel},
                       {"n", curves[i].points.rbegin()->first},
                       {axis.field, axis.at_height(ends[i])}});
    leaders.push_back({{"kernel", curves[i].kernel}, {"n", beside}, {axis.field, at}});
  }
  return {
      {"points", json_text(points)}, {"names", json_text(names)}, {"leaders", json_text(leaders)}};
}

double itself(double x) { return x; }

// Returns the exponent of N by which the time grows between a curve's largest cube and the largest
// cube of at most half its side; NaN if there is none.
double power_of(const Curve& curve) {
  const auto [side, rate] = *curve.points.rbegin();
  auto before = curve.points.upper_bound(side / 2);
  if (before == curve.points.begin()) return std::numeric_limits<double>::quiet_NaN();
  --before;
  return 3 - std::log(rate / before->second) / std::log(side / before->first);
}

}  // namespace

Result<Chart> climb_chart(std::span<const Bar> bars, const std::string& problem,
                          const std::string& device, Precision precision) {
  if (std::ranges::none_of(bars, [](const Bar& bar) { return !bar.library; }))
    return no_row_has("a verified and timed rung");
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
  std::string says =
      fmt::format("One bar per kernel, at {}. Best rung: {}, {} TFLOP/s{}.", problem, rung->kernel,
                  figure(rung->tflops), rung->predicted ? ", predicted" : "");
  if (library != nullptr)
    says += fmt::format(" Best library: {}, {}.", library->kernel, figure(library->tflops));
  const std::string title = fmt::format("TFLOP/s at {}, {}", problem, to_string(precision));
  return make_chart(
      chart_name("climb", precision), title, device, says,
      std::array{ChartData{"bars", json_text(rows)}, ChartData{"best", json_text(best)}});
}

Result<Chart> sizes_chart(std::span<const Document> documents, Precision precision) {
  const std::vector<const Row*> rows = alike(documents, precision);
  const std::vector<Curve> curves = curves_of(rows);
  if (std::ranges::none_of(curves, [](const Curve& curve) { return curve.points.size() > 1; }))
    return Status(Code::kInvalidArgument, "no kernel was timed on two cubes: nothing to draw");
  std::string says = "Lines, TFLOP/s over N. At the largest:";
  std::vector<std::string> labels;
  for (const Curve& curve : curves) {
    says += fmt::format("{} {} {}", labels.empty() ? "" : ",", curve.kernel,
                        figure(curve.points.rbegin()->second));
    labels.push_back(curve.kernel);
  }
  const Axis axis{"tflops", [](double, double tflops) { return tflops; },           itself, itself,
                  0,        [](double value) { return figure(value) + " TFLOP/s"; }};
  const std::string title = fmt::format("TFLOP/s over N, for M = N = K, {}", to_string(precision));
  return make_chart(chart_name("sizes", precision), title,
                    rows.front()->device.name + cache_text(*rows.front()), says + ".",
                    tables_of(curves, labels, axis));
}

Result<Chart> time_chart(std::span<const Document> documents, Precision precision) {
  const std::vector<const Row*> rows = alike(documents, precision);
  std::vector<Curve> curves = curves_of(rows);
  std::erase_if(curves, [](const Curve& curve) { return curve.points.size() < 2; });
  if (curves.empty())
    return Status(Code::kInvalidArgument, "no kernel was timed on two cubes: nothing to draw");
  std::string says =
      "Lines on logarithmic axes, milliseconds over N. From half of the largest cube to the "
      "largest time grows with";
  std::vector<std::string> labels;
  for (const Curve& curve : curves) {
    const double power = power_of(curve);
    std::string label =
        std::isnan(power) ? curve.kernel : fmt::format("{}: N^{:.2f}", curve.kernel, power);
    says += fmt::format("{} {}", labels.empty() ? "" : ",", label);
    labels.push_back(std::move(label));
  }
  const Axis axis{"ms",
                  [](double side, double tflops) { return 2 * side * side * side / tflops * 1e-9; },
                  [](double ms) { return std::log(ms); },
                  [](double height) { return std::exp(height); },
                  std::numeric_limits<double>::quiet_NaN(),
                  [](double ms) { return figure(ms) + " ms"; }};
  const std::string title = fmt::format("Time over N, for M = N = K, {}", to_string(precision));
  return make_chart(chart_name("time", precision), title,
                    rows.front()->device.name + cache_text(*rows.front()), says + ".",
                    tables_of(curves, labels, axis));
}

}  // namespace ladder
