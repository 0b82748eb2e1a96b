// SPDX-License-Identifier: Apache-2.0
// Charts as Vega-Lite specifications (https://vega.github.io/vega-lite/): the templates of
// src/report/charts define the drawing, and this code inserts the data. src/page/render.hpp renders
// them to SVG.
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
  std::string name;         // of the chart's file: "climb", "sizes-tf32"
  std::string title;        // a few words
  std::string description;  // alternative text for screen readers
  std::string spec;         // complete JSON, with data and style
};

// One named table of a chart's data; `rows` is the text of a JSON array.
struct ChartData {
  std::string name, rows;
};

// Fills the template "NAME.vl.json" with texts and data. `name` may have a suffix after '-':
// "climb-bf16" uses the template climb.
Chart make_chart(const std::string& name, const std::string& title, const std::string& subtitle,
                 const std::string& description, std::span<const ChartData> data);

// The colours of all charts for light and dark backgrounds. On a dark background style sheets
// replace the first by the second. All other colours are legible on both.
std::span<const std::pair<const char*, const char*>> dark_colors();

// A bar of the climb. Rungs are in ladder order, libraries below them.
struct Bar {
  std::string kernel, idea;
  double tflops = 0;
  bool library = false, predicted = false;
  std::optional<double> percent;  // of the library that was timed in the same rounds
};
// Returns the rates of one precision at the problem. Errors (kInvalidArgument) of all functions
// below: there is nothing to draw.
std::vector<Bar> measured_bars(std::span<const Pick> rows);
Result<Chart> climb_chart(std::span<const Bar> bars, const std::string& problem,
                          const std::string& device, Precision precision);

// Draws rate over the side of cubes, for CUDA kernels of one precision. All rows are from one
// device and one cache state, the pair with the most rows.
Result<Chart> sizes_chart(std::span<const Document> documents, Precision precision);
// Draws milliseconds of the same rows on logarithmic axes. The name of each line gives the exponent
// of N by which the time grows between its two largest cubes.
Result<Chart> time_chart(std::span<const Document> documents, Precision precision);

// Draws error against rate, for all precisions.
Result<Chart> accuracy_chart(std::span<const Pick> rows);

// Draws the distribution of samples around their median, beside the clock and power readings.
Result<Chart> samples_chart(std::span<const Pick> rows);

struct Roof {
  std::string name;
  double tflops = 0;     // a horizontal roof, or
  double bandwidth = 0;  // bytes per second, a sloped roof
};
struct RooflinePoint {
  std::string kernel;
  double tflops = 0;
  bool predicted = false;
  double l2_intensity = 0, memory_intensity = 0;  // FLOP per byte from that memory
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
