// SPDX-License-Identifier: Apache-2.0
#include "report/text_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/table.hpp"

namespace ladder {
namespace {

constexpr std::size_t kHeight = 20;  // lines of the roofline
constexpr std::size_t kMargin = 8;   // columns of its left axis
constexpr const char* kFull = "█";

// A bar of `length` columns with a resolution of 1/8 column.
std::string block_bar(double length) {
  constexpr std::array<const char*, 8> kPart{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::lround(8 * std::max(0.0, length)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += kFull;
  return text + kPart[eighths % 8];
}

// A, B, ... Z, a, b, ...
char letter_of(std::size_t i) {
  return static_cast<char>(i < 26 ? 'A' + static_cast<int>(i)
                                  : 'a' + static_cast<int>(i - 26) % 26);
}

struct Axis {
  double low = 0, high = 1;  // logarithms
  std::size_t cells = 1;
  // Returns the cell of a value, or `cells` if it is out of range.
  std::size_t cell(double value) const {
    const double at = (std::log10(value) - low) / (high - low) * static_cast<double>(cells - 1);
    return at < -0.5 || at > static_cast<double>(cells) - 0.5
               ? cells
               : static_cast<std::size_t>(std::lround(at));
  }
  double value(std::size_t cell) const {
    return std::pow(
        10, low + (high - low) * static_cast<double>(cell) / static_cast<double>(cells - 1));
  }
};

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

std::vector<std::string> climb_text(std::span<const Bar> bars, std::size_t width) {
  double most = 0;
  std::size_t name = 0;
  for (const Bar& bar : bars) {
    most = std::max(most, bar.tflops);
    name = std::max(name, bar.kernel.size());
  }
  std::vector<std::string> lines;
  if (!(most > 0)) return lines;
  constexpr std::size_t kFigures = 24;  // width of the text after a bar: the rate and its unit
  const std::size_t room = width > name + kFigures + 10 ? width - name - kFigures : 10;
  for (const Bar& bar : bars) {
    std::string text =
        fmt::format("{:<{}}  {} {}", bar.kernel, name,
                    block_bar(static_cast<double>(room) * bar.tflops / most), figure(bar.tflops));
    if (bar.predicted) text += " predicted";
    if (bar.percent) text += fmt::format(" ({:.0f}%)", *bar.percent);
    lines.push_back(std::move(text));
  }
  return lines;
}

std::vector<std::string> roofline_text(std::span<const Roof> roofs,
                                       std::span<const RooflinePoint> points, std::size_t width) {
  std::vector<std::string> lines;
  if (points.empty()) return lines;
  double low_x = 1e30, high_x = 0, low_y = 1e30, high_y = 0;
  for (const RooflinePoint& p : points) {
    low_x = std::min(low_x, p.l2_intensity);
    high_x = std::max(high_x, p.l2_intensity);
    low_y = std::min(low_y, p.tflops);
    high_y = std::max(high_y, p.tflops);
  }
  for (const Roof& roof : roofs) high_y = std::max(high_y, roof.tflops);
  const Axis x{std::log10(low_x / 2), std::log10(high_x * 4),
               std::max<std::size_t>(width, kMargin + 20) - kMargin};
  const Axis y{std::log10(low_y / 1.5), std::log10(high_y * 1.1), kHeight};
  std::vector<std::string> grid(kHeight, std::string(x.cells, ' '));
  const auto put = [&](double at_x, double at_y, char mark) {
    const std::size_t column = x.cell(at_x), row = y.cell(at_y);
    if (column < x.cells && row < y.cells) grid[kHeight - 1 - row][column] = mark;
  };
  for (const Roof& roof : roofs) {
    for (std::size_t column = 0; column < x.cells; ++column) {
      const double at = x.value(column);
      if (roof.tflops > 0)
        put(at, roof.tflops, '-');
      else if (at * roof.bandwidth * 1e-12 < high_y)
        put(at, at * roof.bandwidth * 1e-12, '/');
    }
  }
  for (std::size_t i = 0; i < points.size(); ++i)
    put(points[i].l2_intensity, points[i].tflops, letter_of(i));
  for (std::size_t row = 0; row < kHeight; ++row) {
    const bool labelled = row % 5 == 0 || row == kHeight - 1;
    std::string line =
        labelled ? fmt::format("{:>6} |", figure(y.value(kHeight - 1 - row))) : "       |";
    line += grid[row];
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  lines.push_back("TFLOP/s+" + std::string(x.cells, '-'));
  lines.push_back(fmt::format("{:>{}}{:>{}}", figure(x.value(0)), kMargin + 2,
                              figure(x.value(x.cells - 1)) + " FLOP a byte from L2", x.cells - 3));
  for (const Roof& roof : roofs)
    lines.push_back(roof.tflops > 0
                        ? fmt::format("  - {}: {} TFLOP/s", roof.name, figure(roof.tflops))
                        : fmt::format("  / {}: {} GB/s", roof.name, figure(roof.bandwidth * 1e-9)));
  for (std::size_t i = 0; i < points.size(); ++i)
    lines.push_back(fmt::format("  {} {}: {} TFLOP/s{}, {} FLOP a byte", letter_of(i),
                                points[i].kernel, figure(points[i].tflops),
                                points[i].predicted ? " predicted" : "",
                                figure(points[i].l2_intensity)));
  return lines;
}

}  // namespace ladder
