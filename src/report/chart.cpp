// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/svg.hpp"
#include "report/table.hpp"

namespace ladder {
namespace {

struct Bar {
  std::string label, detail;
  double tflops = 0;
};

struct Line {
  std::string label;
  double tflops = 0;
};

struct Climb {
  std::vector<Bar> bars;
  std::vector<Line> lines;
  std::string title, caption;
};

// The problem that most rungs of this place were timed on: one picture has one problem.
Problem commonest(const std::vector<const Row*>& rows) {
  const auto uses = [&](const Row* row) {
    return std::count_if(rows.begin(), rows.end(),
                         [&](const Row* other) { return other->problem == row->problem; });
  };
  return (*std::max_element(rows.begin(), rows.end(),
                            [&](const Row* a, const Row* b) { return uses(a) < uses(b); }))
      ->problem;
}

Result<Climb> gather(std::span<const Document> documents) {
  std::vector<const Row*> rows;
  for (const Place place : {Place::kCuda, Place::kHost}) {  // the host's climb only where no GPU was timed
    for (const Document& document : documents) {
      for (const Row& row : document.rows) {
        if (row.place == place && derive(row).tflops) rows.push_back(&row);
      }
    }
    if (!rows.empty()) break;
  }
  if (rows.empty())
    return Status(Code::kInvalidArgument, "no row has a verified and timed kernel: nothing to draw");
  const Problem problem = commonest(rows);
  Climb climb;
  for (const Row* row : rows) {
    if (row->problem != problem) continue;
    const double tflops = *derive(*row).tflops;
    if (row->role == Role::kRung) {
      climb.bars.push_back({row->kernel, row->idea, tflops});
    } else if (row->precision == Precision::kIeee) {
      climb.lines.push_back({row->kernel, tflops});
    }
  }
  if (climb.bars.empty())
    return Status(Code::kInvalidArgument, "no row has a verified and timed rung: nothing to draw");
  climb.title = fmt::format("TFLOP/s at {}", to_string(problem));
  climb.caption = rows.front()->device.name;
  return climb;
}

}  // namespace

Result<std::string> climb_chart(std::span<const Document> documents) {
  const auto gathered = gather(documents);
  if (!gathered) return gathered.status();
  const Climb& climb = gathered.value();

  constexpr int kWidth = 760;
  constexpr int kLeft = 170;  // labels
  constexpr int kRight = 70;  // figures
  constexpr int kTop = 56;
  constexpr int kStep = 30;
  constexpr int kBar = 20;
  const int plot = kWidth - kLeft - kRight;
  const int bottom = kTop + kStep * static_cast<int>(climb.bars.size());
  double most = 0;
  for (const Bar& bar : climb.bars) most = std::max(most, bar.tflops);
  for (const Line& line : climb.lines) most = std::max(most, line.tflops);
  const auto x = [&](double tflops) { return kLeft + plot * tflops / most; };

  std::string picture =
      svg::open(kWidth, bottom + 46, climb.title + ", " + climb.caption,
                ".bar{fill:#0072b2} .grid{stroke:#8c959f;stroke-opacity:.3} "
                ".base{stroke:#d55e00;stroke-width:2;stroke-dasharray:5 4} .name{fill:#d55e00}",
                ".bar{fill:#56b4e9} .base{stroke:#e69f00} .name{fill:#e69f00}");
  picture += fmt::format("<text x=\"{}\" y=\"20\" font-size=\"15\" font-weight=\"600\">{}</text>\n", kLeft,
                         svg::escape(climb.title));
  const double step = svg::tick_step(most);
  for (double tick = 0; tick <= most; tick += step) {
    picture += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                           x(tick), kTop, bottom);
    picture += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", x(tick),
                           bottom + 16, tick);
  }
  int y = kTop;
  for (const Bar& bar : climb.bars) {
    const int base = y + kStep / 2 + 4;
    picture += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, base,
                           svg::escape(bar.label));
    picture += fmt::format(
        "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
        "rx=\"2\"><title>{}</title></rect>\n",
        kLeft, y + (kStep - kBar) / 2, x(bar.tflops) - kLeft, kBar, svg::escape(bar.detail));
    picture +=
        fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", x(bar.tflops) + 6, base, figure(bar.tflops));
    y += kStep;
  }
  for (const Line& line : climb.lines) {
    picture += fmt::format("<line class=\"base\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                           x(line.tflops), kTop - 6, bottom);
    picture += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"end\">{} {}</text>\n",
                           std::max(x(line.tflops), kLeft + 120.0), kTop - 12, svg::escape(line.label),
                           figure(line.tflops));
  }
  picture += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"12\">{}</text>\n", kLeft, bottom + 36,
                         svg::escape(climb.caption));
  return picture + "</svg>\n";
}

}  // namespace ladder
