// SPDX-License-Identifier: Apache-2.0
// The report to look at: rows of several files and what is known of their kernels, as one HTML file
// that needs nothing else, neither a network nor scripts.
#pragma once
#include <ladder/device.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyse/explanation.hpp"
#include "report/chart.hpp"
#include "report/json.hpp"

namespace ladder::page {

struct Contents {
  std::span<const Document> documents;
  std::vector<std::string>
      files;               // names of the documents, for the commands that make the page again
  Problem problem;         // what all but the lines over sizes is about
  std::vector<Pick> rows;  // at that problem
  std::vector<analyse::Explanation> explained;  // of the CUDA rungs among them, in the same order
  std::vector<std::string> unexplained;         // "r99: why there is no analysis"
  std::vector<Chart> charts;
  std::vector<std::vector<Bar>> climbs;  // what the climbs among the charts show
  std::vector<Roof> roofs;
  std::vector<RooflinePoint> points;
};

// The machine of the database that rows of this device belong to; none for a host or an unknown
// GPU.
std::optional<analyse::Machine> machine_of(const Device& device);

// Explains each rung of the main problem on its rows' device. `virtual_gpu`: where this process
// runs kernels; without it nothing is explained. Errors (kInvalidArgument): no row was run.
Result<Contents> gather(std::span<const Document> documents, std::vector<std::string> files,
                        const Device* virtual_gpu);

// `pictures`: one SVG a chart, in the charts' order.
std::string html(const Contents& contents, std::span<const std::string> pictures);

}  // namespace ladder::page
