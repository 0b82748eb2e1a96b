// SPDX-License-Identifier: Apache-2.0
// Charts as Vega-Lite specifications (https://vega.github.io/vega-lite/): a template of
// src/report/charts, which says what is drawn and how, with data put in. What turns them into SVG
// is in src/page/render.hpp.
#pragma once
#include <ladder/status.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/json.hpp"
#include "report/selection.hpp"

namespace ladder {

struct Chart {
  std::string name;         // of its file: "climb", "sizes-tf32"
  std::string title;        // in a few words
  std::string description;  // what a screen reader says in its place
  std::string spec;         // JSON, complete: data and style are in it
};

// One named table of a chart's data; `rows` is the text of a JSON array.
struct ChartData {
  std::string name, rows;
};

// The template "NAME.vl.json" with its words and data. `name` may go on behind a '-': "climb-bf16"
// is made from climb.
Chart make_chart(const std::string& name, const std::string& title, const std::string& subtitle,
                 const std::string& description, std::span<const ChartData> data);

// The colours that all charts share, on light ground and on dark: where the ground is dark, style
// sheets replace the first by the second. (The rest is legible on both.)
std::span<const std::pair<const char*, const char*>> dark_colors();

// A bar of the climb. Rungs stand in the ladder's order, libraries below them.
struct Bar {
  std::string kernel, idea;
  double tflops = 0;
  bool library = false, predicted = false;
  std::optional<double> percent;  // of the library that was timed in the same rounds
};
// Rates of one precision at the problem. Errors of all below (kInvalidArgument): there is nothing
// to draw.
std::vector<Bar> measured_bars(std::span<const Pick> rows);
Result<Chart> climb_chart(std::span<const Bar> bars, const std::string& problem,
                          const std::string& device, Precision precision);

// Rates over the side of cubes, of CUDA kernels of one precision, on the device and in the state of
// the cache that most rows have.
Result<Chart> sizes_chart(std::span<const Document> documents, Precision precision);
// Milliseconds of the same rows on logarithmic axes; each line's name says to which power of N its
// time grows between its two largest cubes.
Result<Chart> time_chart(std::span<const Document> documents, Precision precision);

// Error beside rate, of all precisions.
Result<Chart> accuracy_chart(std::span<const Pick> rows);

// How samples lie around their median, beside the clock and the power that were read meanwhile.
Result<Chart> samples_chart(std::span<const Pick> rows);

struct Roof {
  std::string name;
  double tflops = 0;     // a level line, or
  double bandwidth = 0;  // bytes a second, a slope
};
struct RooflinePoint {
  std::string kernel;
  double tflops = 0;
  bool predicted = false;
  double l2_intensity = 0, memory_intensity = 0;  // FLOP a byte that comes from there
};
Result<Chart> roofline_chart(std::span<const Roof> roofs, std::span<const RooflinePoint> points,
                             const std::string& device);

struct BlockLimit {
  std::string kernel, limit;
  int blocks = 0;
  bool binds = false;
};
Result<Chart> occupancy_chart(std::span<const BlockLimit> limits, const std::string& device);

}  // namespace ladder
