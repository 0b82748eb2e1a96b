// SPDX-License-Identifier: Apache-2.0
// The HTML report: rows of several files and the analysis of their kernels, in one HTML file. The
// file needs no network, and is readable without scripts.
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
  Problem problem;         // of everything except the charts over sizes
  std::vector<Pick> rows;  // at that problem
  std::vector<analyse::Explanation> explained;  // of the CUDA rungs among them, in the same order
  std::vector<std::string> unexplained;         // "r99: why there is no analysis"
  std::vector<Chart> charts;
  std::vector<std::vector<Bar>> climbs;  // what the climbs among the charts show
  std::vector<Roof> roofs;
  std::vector<RooflinePoint> points;
};

// Returns the machine of the database that matches this device; nullopt for a host or an unknown
// GPU.
std::optional<analyse::Machine> machine_of(const Device& device);

// Explains each rung of the main problem on the device of its rows. Only if `virtual_gpu` (this
// process runs kernels on the virtual GPU), otherwise nothing is explained. Errors
// (kInvalidArgument): no row was run.
Result<Contents> gather(std::span<const Document> documents, std::vector<std::string> files,
                        const Device* virtual_gpu);

// `pictures`: one SVG per chart, in the order of the charts.
std::string html(const Contents& contents, std::span<const std::string> pictures);

}  // namespace ladder::page
