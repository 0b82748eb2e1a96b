// SPDX-License-Identifier: Apache-2.0
// What the program vgpu consists of: its options, lists, the counters that it shows.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace vgpu::app {

struct Options {
  std::map<std::string, std::string> settings;  // vgpu::text_settings(), by their variables
  std::string counters, blas;
  bool fail_fast = false, no_reuse = false, print = false, source = false, verbose = false;
  std::string junit, sarif, baseline, tolerance;  // tolerance: by parse_tolerance
  bool github = false, update_baseline = false, estimates = false;
  std::vector<std::string> command;

  std::string setting(const std::string& variable) const;  // "" if it is not given
};

// Returns "" or the invalid option and the rule that it breaks.
std::string check_options(const Options& options);

// The text of a file; "" if it cannot be read.
std::string text_of(const std::string& path);

// The instructions that the virtual GPU knows: of machine code with their classes in Nsight
// Compute's counters, and of PTX. For people, or as JSON.
std::string list_instructions(bool json);

// The devices that --device takes. JSON has the format of a file that describes a device
// (docs/device.schema.json).
std::string list_devices(bool json);

// A counters file for the terminal, like the details page of Nsight Compute. `json` is the text of
// a counters file; "" gives "". Launches of one kernel with one configuration share a table, and
// values that differ between them are shown as a range. Values marked with ~ are estimates. Zeros
// are omitted.
std::string details(const std::string& json);

// The same, like its source view: the source lines with the most executed instructions, in
// descending order and at most `most` per kernel. The counts of a kernel's launches are added.
// `read` returns the text of a source file, or "" if it cannot be read.
using ReadFile = std::function<std::string(const std::string& path)>;
std::string source_view(const std::string& json, int most, const ReadFile& read);

struct CountersFiles {
  std::vector<std::string> paths;  // one per process; the first process's file comes first
  // for missing or incomplete files; a process that failed to write has printed the reason itself
  std::vector<std::string> errors;
  bool failed = false;  // a process could not write its file
};

// Finishes the counters files of a program's processes after it has ended
// (runtime/counters_file.hpp): renames the part files of those that were killed. `claims` is the
// folder that was passed to the processes.
CountersFiles finish_counters(const std::string& claims);

}  // namespace vgpu::app
