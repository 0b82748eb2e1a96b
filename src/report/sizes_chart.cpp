// SPDX-License-Identifier: Apache-2.0
// How each kernel's rate grows with the side of the matrices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "report/chart.hpp"
#include "report/svg.hpp"
#include "report/table.hpp"

namespace ladder {
namespace {

constexpr int kWidth = 860;
constexpr int kLeft = 52;
constexpr int kRight = 190;  // names at the ends of the lines
constexpr int kTop = 44;
constexpr int kHeight = 420;
constexpr double kLineStep = 15;  // least distance of two names

struct Curve {
  std::string name, idea;
  bool baseline = false;
  std::vector<std::pair<double, double>> points;  // side, TFLOP/s
};

struct Curves {
  std::vector<Curve> curves;  // in the ladder's order
  std::string title, caption;
  std::vector<double> sides;
  double most = 0;
};

bool is_cube(const Problem& p) { return p.m == p.n && p.n == p.k && p.m > 0; }

Result<Curves> gather(std::span<const Document> documents) {
  Curves all;
  const Row* first = nullptr;
  for (const Document& document : documents) {
    for (const Row& row : document.rows) {
      const auto rate = derive(row).tflops;
      if (!rate || !is_cube(row.problem) || row.place != Place::kCuda || row.precision != Precision::kIeee)
        continue;
      if (first == nullptr) first = &row;
      // One picture has one device and one state of the cache.
      if (row.device.name != first->device.name || (row.timing->copies > 1) != (first->timing->copies > 1))
        continue;
      auto found = std::find_if(all.curves.begin(), all.curves.end(),
                                [&](const Curve& curve) { return curve.name == row.kernel; });
      if (found == all.curves.end()) {
        all.curves.push_back({row.kernel, row.idea, row.role == Role::kBaseline, {}});
        found = all.curves.end() - 1;
      }
      found->points.emplace_back(static_cast<double>(row.problem.m), *rate);
      all.sides.push_back(static_cast<double>(row.problem.m));
      all.most = std::max(all.most, *rate);
    }
  }
  if (first == nullptr)
    return Status(Code::kInvalidArgument,
                  "no row has a verified and timed CUDA kernel on a cube: nothing to draw");
  std::sort(all.sides.begin(), all.sides.end());
  all.sides.erase(std::unique(all.sides.begin(), all.sides.end()), all.sides.end());
  for (Curve& curve : all.curves) std::sort(curve.points.begin(), curve.points.end());
  all.title = "TFLOP/s over N, for M = N = K";
  all.caption =
      first->device.name + (first->timing->copies > 1 ? ", operands not in the L2 cache"
                                                      : ", operands as the launch before left them");
  return all;
}

// Purple, blue, green, orange: as bright on a light as on a dark ground, and in the order of the ladder.
std::string color_of(std::size_t i, std::size_t of) {
  constexpr std::array<std::array<double, 3>, 4> kAnchors{
      {{126, 87, 194}, {33, 113, 181}, {0, 158, 115}, {214, 140, 0}}};
  const double at =
      of < 2 ? 0 : static_cast<double>(i) / static_cast<double>(of - 1) * (kAnchors.size() - 1.0);
  const auto below = std::min(static_cast<std::size_t>(at), kAnchors.size() - 2);
  const double part = at - static_cast<double>(below);
  std::string color = "#";
  for (std::size_t c = 0; c < 3; ++c)
    color += fmt::format(
        "{:02x}", std::lround(kAnchors[below][c] + part * (kAnchors[below + 1][c] - kAnchors[below][c])));
  return color;
}

// Names stand at the height of their line's end, moved apart where they would overlap.
std::vector<double> place_names(const std::vector<double>& wanted, double bottom) {
  std::vector<std::size_t> order(wanted.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] > wanted[b]; });
  std::vector<double> placed = wanted;
  double limit = bottom;
  for (const std::size_t i : order) {  // from the lowest up
    placed[i] = std::min(wanted[i], limit);
    limit = placed[i] - kLineStep;
  }
  return placed;
}

}  // namespace

Result<std::string> sizes_chart(std::span<const Document> documents) {
  const auto gathered = gather(documents);
  if (!gathered) return gathered.status();
  const Curves& all = gathered.value();
  const double least_x = std::log2(all.sides.front());
  const double span = std::max(std::log2(all.sides.back()) - least_x, 1.0);
  const int bottom = kTop + kHeight;
  const int plot = kWidth - kLeft - kRight;
  const auto x = [&](double side) { return kLeft + plot * (std::log2(side) - least_x) / span; };
  const auto y = [&](double rate) { return bottom - kHeight * rate / (1.05 * all.most); };

  std::string picture =
      svg::open(kWidth, bottom + 58, all.title + ", " + all.caption,
                ".grid{stroke:#8c959f;stroke-opacity:.3} .curve{fill:none;stroke-width:2}", "");
  picture += fmt::format("<text x=\"{}\" y=\"22\" font-size=\"15\" font-weight=\"600\">{}</text>\n", kLeft,
                         svg::escape(all.title));
  const double step = svg::tick_step(all.most);
  for (double tick = 0; tick <= 1.05 * all.most; tick += step) {
    picture += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kLeft,
                           kLeft + plot, y(tick), y(tick));
    picture += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", kLeft - 8,
                           y(tick) + 4, tick);
  }
  for (const double side : all.sides) {
    picture += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>\n", x(side),
                           bottom + 18, side);
  }

  const auto rungs = static_cast<std::size_t>(std::count_if(
      all.curves.begin(), all.curves.end(), [](const Curve& curve) { return !curve.baseline; }));
  std::vector<double> ends;
  for (const Curve& curve : all.curves) ends.push_back(y(curve.points.back().second) + 4);
  const std::vector<double> names = place_names(ends, bottom);
  std::size_t rung = 0;
  for (std::size_t i = 0; i < all.curves.size(); ++i) {
    const Curve& curve = all.curves[i];
    const std::string color = curve.baseline ? "#d55e00" : color_of(rung++, rungs);
    std::string points;
    for (const auto& [side, rate] : curve.points) points += fmt::format("{:.1f},{:.1f} ", x(side), y(rate));
    picture += fmt::format(
        "<polyline class=\"curve\" points=\"{}\" stroke=\"{}\"{}><title>{}: {}</title></polyline>\n", points,
        color, curve.baseline ? " stroke-dasharray=\"6 4\"" : "", svg::escape(curve.name),
        svg::escape(curve.idea));
    for (const auto& [side, rate] : curve.points) {
      picture += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{} at {:.0f}: "
          "{}</title></circle>\n",
          x(side), y(rate), color, svg::escape(curve.name), side, figure(rate));
    }
    const auto& [last_side, last_rate] = curve.points.back();
    picture += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n"
        "<text x=\"{}\" y=\"{:.1f}\" style=\"fill:{}\">{} {}</text>\n",
        x(last_side) + 4, kLeft + plot + 10, y(last_rate), names[i] - 4, kLeft + plot + 14, names[i], color,
        svg::escape(curve.name), figure(last_rate));
  }
  picture += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"12\">{}</text>\n", kLeft, bottom + 44,
                         svg::escape(all.caption + "; a line ends where a launch would take too long."));
  return picture + "</svg>\n";
}

}  // namespace ladder
