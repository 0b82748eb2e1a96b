// SPDX-License-Identifier: Apache-2.0
// Parts of the verb learn: a learner's folder with its progress, and the check of one solution.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "learn/exercise.hpp"
#include "learn/marks.hpp"
#include "learn/sandbox.hpp"

namespace ladder::app {

// Limits of marks are those of this device.
inline constexpr const char* kMarkingDevice = "virtual:h200";
inline constexpr const char* kLearnerFile = "kernel.cu";
inline constexpr const char* kProgressFile = "progress.json";

// What progress.json in a learner's folder holds.
struct Progress {
  std::string exercise;
  int checks = 0, hints = 0;
  bool passed = false, solution_shown = false;
  std::string failed;  // the mark that failed last; "" if none did
};
// Empty if the folder has no progress file. Throws BadInput if it is damaged.
std::optional<Progress> read_progress(const std::filesystem::path& folder);

struct Checked {
  learn::Marking marking;
  double seconds = 0;
};
struct CheckOptions {
  std::string device = kMarkingDevice;
  learn::Limits limits;
  bool quiet = false;  // discards what the program prints
};
// Compiles, runs in a child process and marks. Prints what the program prints, as it does. Throws
// BadInput if there is nothing to check (no file, no nvcc), and if the user interrupts.
Checked check_solution(const learn::Exercise& exercise, const std::filesystem::path& file,
                       const CheckOptions& options);

std::vector<learn::Exercise> course();

// The hidden verb of the child process.
void add_learn_trial(CLI::App& app, Verb& chosen);

// Marks folders of a class into a CSV file, or standard output for "".
int mark_class(const std::vector<std::string>& folders, const std::string& csv,
               const CheckOptions& options);

}  // namespace ladder::app
