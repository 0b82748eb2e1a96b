// SPDX-License-Identifier: Apache-2.0
// Formats a tuning's result: a table, all candidates as JSON, and the tuned file that the build
// reads.
#pragma once
#include <string>
#include <vector>

#include "tune/earlier.hpp"
#include "tune/tuner.hpp"

namespace ladder::tune {

// Origin of a result, for the files.
struct Provenance {
  std::string date, version, commit, driver, compiler;
};

double gflops(const Problem& problem, double ms);  // 0 if ms is 0

// Lines of text: the best tile, the hand-set tile, the winner's margin, and the outcome of the
// rest.
std::vector<std::string> table(const Job& job, const Tuning& outcome);

// Schema "ladder-tuning" (docs/tuning.md): every candidate with its parameters and results. `with`:
// agreement of the order with the file whose points were tried.
std::string to_json(const Job& job, const Tuning& outcome, const Provenance& provenance,
                    const std::optional<Agreement>& with = std::nullopt);

// "h200.json" for "NVIDIA H200" and for its virtual counterpart.
std::string tuned_file_name(const std::string& gpu);

// Ok for "" and for a tuned file of this GPU. Errors (kIo): any other text.
Status check_tuned_file(const std::string& before, const Job& job);

// `before` (the file's current text; "" if there is none) with this rung's entry replaced by the
// winner. Errors: check_tuned_file()'s; kInvalidArgument: there is no winner.
Result<std::string> tuned_file(const std::string& before, const Job& job, const Tuning& outcome,
                               const Provenance& provenance);

}  // namespace ladder::tune
