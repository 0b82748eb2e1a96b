// SPDX-License-Identifier: Apache-2.0
#include "app/conclusion.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "runtime/printable.hpp"
#include "runtime/replace_file.hpp"
#include "runtime/settings.hpp"

namespace vgpu::app {
namespace {

namespace fs = std::filesystem;

constexpr int kNotWritten = 74, kCheckFired = 86, kGrew = 87;

// The folder of the sources: the one that the CI system names, else the current one.
std::string source_root() {
  for (const char* variable : {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"}) {
    const char* const folder = std::getenv(variable);
    if (folder != nullptr && fs::path(folder).is_absolute())
      return (fs::path(folder) / ".").lexically_normal().parent_path().string();
  }
  return fs::current_path().string();
}

// Compares the counters with the baseline, or writes it.
void use_baseline(const Options& options, const std::vector<std::string>& paths, Outcome& outcome) {
  std::vector<std::string> runs;
  for (const std::string& path : paths) runs.push_back(text_of(path));
  if (options.update_baseline) {
    std::string error;
    if (!outcome.findings.empty() || outcome.status != 0)
      error = "a check fired or the program failed; the baseline is as it was";
    else if (runs.empty())
      error = "the program did not use the virtual GPU; the baseline is as it was";
    else if (!has_launches(runs))
      error = "no launch was recorded; the baseline is as it was";
    else
      error = replace_file(options.baseline, baseline_of(runs, options.estimates));
    if (!error.empty()) outcome.errors.push_back("--update-baseline: " + error);
    return;
  }
  Tolerance tolerance{0, options.estimates};
  (void)parse_tolerance(options.tolerance, tolerance.percent);
  outcome.compared = true;
  outcome.baseline = options.baseline;
  outcome.comparison = compare(text_of(options.baseline), runs, tolerance);
  std::fflush(stdout);
  fmt::print(stderr, "{}", printable(table(outcome.comparison, tolerance)));
}

}  // namespace

std::vector<Finding> findings_of(const std::string& report) {
  if (fs::exists(report)) return findings_in(text_of(report));
  return {{"", "", "what the checks found could not be written to TMPDIR", "", 0}};
}

int conclude(const Options& options, const std::vector<std::string>& counters, Outcome& outcome) {
  Checks checks;
  (void)parse_checks(options.setting("VGPU_CHECK"), checks);
  outcome.command = options.command;
  outcome.checks = names_of(checks);
  outcome.root = source_root();
  const std::size_t said = outcome.errors.size();
  if (!options.baseline.empty()) use_baseline(options, counters, outcome);
  const auto write = [&](const std::string& file, const std::string& text) {
    const std::string error = file.empty() ? "" : replace_file(file, text);
    if (!error.empty()) outcome.errors.push_back(error);
  };
  write(options.junit, junit(outcome));
  write(options.sarif, sarif(outcome));
  if (options.github) fmt::print(stderr, "{}", github_annotations(outcome));
  for (std::size_t i = said; i < outcome.errors.size(); ++i)
    fmt::print(stderr, "vgpu: {}\n", printable(outcome.errors[i]));
  if (!outcome.findings.empty()) return kCheckFired;
  if (outcome.status != 0) return outcome.status;
  if (!outcome.errors.empty()) return kNotWritten;
  return outcome.comparison.changes.empty() ? 0 : kGrew;
}

}  // namespace vgpu::app
