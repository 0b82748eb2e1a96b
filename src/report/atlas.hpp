// SPDX-License-Identifier: Apache-2.0
// Rows of the accuracy atlas: stored as JSON, printed as a table and drawn as a chart.
#pragma once
#include <ladder/kernel.hpp>

#include <string>
#include <vector>

#include "report/chart.hpp"
#include "report/environment.hpp"
#include "verify/atlas.hpp"

namespace ladder {

struct AtlasRow {
  std::string kernel;
  Precision precision = Precision::kIeee;
  Distribution distribution = Distribution::kUniform;
  Problem problem;
  AtlasErrors errors;
  std::string chosen;  // the precision that a guarded product selected; empty for other kernels
};

struct Atlas {
  std::string date, commit, device, cublas;
  std::vector<AtlasRow> rows;
};

std::string to_json(const Atlas& atlas);
// Errors (kInvalidArgument): the text is not an atlas file.
Result<Atlas> atlas_from_json(const std::string& text);

// Prints componentwise errors as multiples of those of `baseline` (a kernel's id) on the same data.
// Below, one table per shape of distributions by kernels, with normwise / componentwise errors.
std::string atlas_markdown(const Atlas& atlas);

// Draws componentwise errors for the largest k: one line per distribution, one mark per kernel.
// Errors (kInvalidArgument): there are no rows.
Result<Chart> atlas_chart(const Atlas& atlas);

}  // namespace ladder
