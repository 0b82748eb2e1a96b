// SPDX-License-Identifier: Apache-2.0
// What a tuning found, as text: a table, all candidates as JSON, and the tuned file that the build
// reads.
#pragma once
#include <string>
#include <vector>

#include "tune/earlier.hpp"
#include "tune/tuner.hpp"

namespace ladder::tune {

// Where and when, for the files.
struct Provenance {
  std::string date, version, commit, driver, compiler;
};

double gflops(const Problem& problem, double ms);  // 0 where ms is

// Lines: the best, the tile set by hand, how sure the winner is, and what became of the rest.
std::vector<std::string> table(const Job& job, const Tuning& outcome);

// Schema "ladder-tuning", docs/tuning.md: every candidate with its parameters and what is known of
// it. `with`: how the order agrees with the file's whose points were tried.
std::string to_json(const Job& job, const Tuning& outcome, const Provenance& provenance,
                    const std::optional<Agreement>& with = std::nullopt);

// "h200.json" for "NVIDIA H200" and its virtual stand-in.
std::string tuned_file_name(const std::string& gpu);

// Ok for "" and for a tuned file of this GPU. Errors (kIo): anything else.
Status check_tuned_file(const std::string& before, const Job& job);

// `before` (the file as it is; "" for none) with the winner as this rung's entry. Errors:
// check_tuned_file's; kInvalidArgument: there is no winner.
Result<std::string> tuned_file(const std::string& before, const Job& job, const Tuning& outcome,
                               const Provenance& provenance);

}  // namespace ladder::tune
