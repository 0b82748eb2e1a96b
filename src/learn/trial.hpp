// SPDX-License-Identifier: Apache-2.0
// Runs a compiled exercise on the current CUDA device: every case under every schedule, with
// results compared to FP64. Called in a child process, since the code is a learner's.
#pragma once
#include <ladder/status.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "learn/exercise.hpp"

namespace ladder::learn {

// A wrong result of one case.
struct WrongResult {
  std::string array, element;  // "c", "row 3, col 5"
  double got = 0, expected = 0, error = 0, allowed = 0;
  bool unwritten = false;
  std::uint64_t wrong = 0, of = 0;  // elements
  std::vector<std::string> map;     // of the output: . right, x wrong, ? never written
};

struct Outcome {
  std::map<std::string, std::int64_t> sizes;
  std::string schedule;
  std::string error;                     // the CUDA error's name; "" if the launch succeeded
  std::string fault_kind, fault_report;  // of the virtual GPU; "" if no check fired
  bool right = false;
  double share = 0;  // the largest error, as a part of what is allowed
  WrongResult wrong;
};

// Stops at the first case that fails.
struct TrialResult {
  std::vector<Outcome> outcomes;
  std::string counters, trace;  // JSON of the virtual GPU: of the measured case, or of the last one
};

// Errors: kIo (the library cannot be loaded), kInvalidArgument (exercise.json), kOutOfMemory.
Result<TrialResult> run_trial(const Exercise& exercise, const std::filesystem::path& library,
                              bool on_virtual_gpu);

std::string to_json(const TrialResult& result);
// Errors (kIo): not that format.
Result<TrialResult> parse_trial(const std::string& json);

}  // namespace ladder::learn
