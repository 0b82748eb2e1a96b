// SPDX-License-Identifier: Apache-2.0
// Which rows of several files stand together in one picture.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "report/json.hpp"

namespace ladder {

struct Pick {
  const Row* row = nullptr;
  const Document* document = nullptr;
  Derived derived;
};

// All but the types of the operands.
bool same_shape(const Problem& a, const Problem& b);

// The problem that most rungs have a rate at, the largest of several; CUDA's before the host's, and
// where nothing was timed, what was counted. None without rows that were run.
std::optional<Problem> main_problem(std::span<const Document> documents);

// The rows at that shape, the first of each kernel, in the ladder's order, libraries behind. They
// share a device and a state of the cache; of several groups the one with the most kernels, timed
// before counted, CUDA before the host.
std::vector<Pick> rows_at(std::span<const Document> documents, const Problem& problem);

// Those that are compared with a library of that precision: of kIeee also what stands in for it on
// tensor cores.
std::vector<Pick> of_precision(std::span<const Pick> rows, Precision precision);

// Those that rungs with a rate are compared in, in the enumeration's order.
std::vector<Precision> precisions_of(std::span<const Pick> rows);

bool is_cube(const Problem& problem);

}  // namespace ladder
