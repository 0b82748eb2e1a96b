// SPDX-License-Identifier: Apache-2.0
// Selection of the rows of several files that one picture shows.
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

// Compares everything except the operand types.
bool same_shape(const Problem& a, const Problem& b);

// Returns the problem at which most rungs have a rate; of several, the largest. CUDA takes
// precedence over the host. If nothing was timed, counted rows are used. nullopt if no row was run.
std::optional<Problem> main_problem(std::span<const Document> documents);

// Returns the rows at that shape: the first row per kernel, in ladder order, libraries last. All
// have the same device and cache state. Of several such groups the one with the most kernels is
// selected; timed groups take precedence over counted ones, CUDA over the host.
std::vector<Pick> rows_at(std::span<const Document> documents, const Problem& problem);

// Returns the rows that are compared with a library of that precision. For kIeee this includes the
// precisions that emulate it on tensor cores.
std::vector<Pick> of_precision(std::span<const Pick> rows, Precision precision);

// Returns the precisions in which rungs with a rate are compared, in enumeration order.
std::vector<Precision> precisions_of(std::span<const Pick> rows);

bool is_cube(const Problem& problem);

}  // namespace ladder
