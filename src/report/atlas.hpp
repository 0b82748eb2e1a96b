// SPDX-License-Identifier: Apache-2.0
// Rows of the accuracy atlas: kept as JSON, shown as a table and as a picture.
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
  std::string chosen;  // by a guarded product: the precision it took; else empty
};

struct Atlas {
  std::string date, commit, device, cublas;
  std::vector<AtlasRow> rows;
};

std::string to_json(const Atlas& atlas);
// Errors (kInvalidArgument): not such a file.
Result<Atlas> atlas_from_json(const std::string& text);

// Componentwise errors as multiples of those of `baseline` (a kernel's id) on the same data, and
// for each shape a table of distributions by kernels: normwise / componentwise.
std::string atlas_markdown(const Atlas& atlas);

// Componentwise errors on the deepest sum, a line a distribution, a mark a kernel. Errors
// (kInvalidArgument): no rows.
Result<Chart> atlas_chart(const Atlas& atlas);

}  // namespace ladder
