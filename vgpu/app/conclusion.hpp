// SPDX-License-Identifier: Apache-2.0
// What follows when the program has ended: the comparison with the baseline, reports, exit status.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/app.hpp"
#include "runtime/check_report.hpp"

namespace vgpu::app {

// Compares the counters of a program's launches with those of a former run, the baseline. Both are
// counters files (docs/counters.schema.json). The n-th launch of a kernel is compared with the
// n-th launch of that kernel in the baseline.

struct Tolerance {
  double percent = 0;
  bool estimates = false;  // compare metrics that are estimates, too
};

// A change for the worse: a value that grew, occupancy that fell, or a launch that cannot be
// compared.
struct Change {
  std::string kernel;
  std::size_t ordinal = 0;  // of the kernel's launches, from 0
  std::string what;         // the metric, or "launch", "device", ...
  std::string former, now;
  std::string growth;  // "+12.5%"; "" where no percentage makes sense
};

struct Comparison {
  std::vector<Change> changes;
  std::size_t launches = 0, values = 0;  // compared
  std::size_t better = 0;                // values that are better than in the baseline
};

// Returns "" or what is wrong with the text of a baseline. `estimates`: it must have some.
std::string check_baseline(const std::string& json, bool estimates);

// `runs`: the texts of the counters files of the program's processes. Both must be valid.
Comparison compare(const std::string& baseline, const std::vector<std::string>& runs,
                   const Tolerance& tolerance);

// The table of the changes, with a summary in its last line.
std::string table(const Comparison& comparison, const Tolerance& tolerance);

// The text of a baseline with the launches of these counters files, with estimates or without.
std::string baseline_of(const std::vector<std::string>& runs, bool estimates);

bool has_launches(const std::vector<std::string>& runs);

// "" gives 0 percent. Returns "" or an error message.
std::string parse_tolerance(std::string_view text, double& percent);

// What a run of a program found, in the forms that CI systems and code hosts show.
struct Outcome {
  std::string version;  // of vgpu
  std::vector<std::string> command;
  int status = 0;  // the program's
  double seconds = 0;
  std::vector<std::string> checks;  // the names of those that were on
  std::vector<Finding> findings;
  std::vector<std::string> errors;  // of files that could not be written
  bool compared = false;
  Comparison comparison;
  std::string baseline;  // its path
  std::string root;      // folder to which the paths of sources are relative
};

std::string junit(const Outcome& outcome);
std::string sarif(const Outcome& outcome);
// Lines for the log of a GitHub Action.
std::string github_annotations(const Outcome& outcome);

// The rules behind findings, for reports that other programs read.
struct Rule {
  std::string_view finding;  // Finding::rule
  std::string_view id;       // "vgpu/race"
  std::string_view title;    // one sentence
  std::string_view help;     // what to do
};

std::span<const Rule> rules();
// The rule of a finding; the last rule, which says only that a check failed, for an unknown one.
const Rule& rule_of(std::string_view finding);

// What the processes reported in that file. A missing report counts as a failed check: a process
// could not write it.
std::vector<Finding> findings_of(const std::string& report);

// Compares, writes what the options ask for, and returns the exit status. `counters`: the counters
// files of the program's processes.
int conclude(const Options& options, const std::vector<std::string>& counters, Outcome& outcome);

}  // namespace vgpu::app
