// SPDX-License-Identifier: Apache-2.0
// Shared by all verbs: exit statuses, common options, and errors for bad input.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "problem/number.hpp"
#include "report/json.hpp"
#include "target.hpp"
#include "verify/verify.hpp"

namespace ladder::app {

enum ExitStatus : int { kOk = 0, kFailed = 1, kBadInput = 2, kInterrupted = 130 };

// The user's input breaks a rule: "--shape: ...". Reported in one line, exit status 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The value of a result; throws BadInput, "ARGUMENT: why", for an error.
void required(const Status& status, const std::string& argument = "");
template <class T>
T required(Result<T> result, const std::string& argument = "") {
  if (!result) required(result.status(), argument);
  return std::move(result).value();
}

// The valid range of a number on the command line; `rule` describes it.
template <class T>
struct Range {
  T least, most;
  const char* rule;
};
constexpr Range<std::uint64_t> kSeedRange{0, std::numeric_limits<std::uint64_t>::max(),
                                          "a whole number from 0 to 2^64 - 1"};
constexpr Range<float> kFloatRange{std::numeric_limits<float>::lowest(),
                                   std::numeric_limits<float>::max(), "a finite number"};
constexpr Range<double> kSecondsRange{std::numeric_limits<double>::min(), 1e6,
                                      "seconds, more than 0 and at most 1000000"};

// Returns "--seed: 'x': a whole number ..." if the text is not a valid number.
template <class T>
T number_in(const Range<T>& range, const std::string& argument, const std::string& text) {
  const auto number = parse_number<T>(text);
  if (number && *number >= range.least && *number <= range.most) return *number;
  throw BadInput(argument + ": '" + text + "': " + range.rule);
}

// Adds an option with a numeric value. CLI11's own number options accept octal numbers, wrap
// around, and reject input without stating the rule.
template <class T, class V>
CLI::Option* add_number(CLI::App& verb, const std::string& argument, V& value,
                        const Range<T>& range, const std::string& help) {
  return verb
      .add_option_function<std::string>(
          argument,
          [&value, range, argument](const std::string& text) {
            value = number_in(range, argument, text);
          },
          help)
      ->type_name(std::is_floating_point_v<T> ? "FLOAT" : "INT");
}

// Runs a verb; `status` is what main returns.
using Verb = std::function<int()>;

// A verb for the program's own child processes, which --help does not show.
inline CLI::App* hidden_verb(CLI::App& app, const char* name) {
  return app.add_subcommand(name, "")->group("");
}

struct CommonOptions {
  std::string device = "auto";
  std::vector<std::string> kernels;
  std::vector<std::string> shapes;
  std::string json;
  std::uint64_t seed = 1;
  std::string battery = "quick";
};
void add_common_options(CLI::App& verb, CommonOptions& options);

// All functions below throw BadInput.
// The kernels of that name, rung or number; `argument` is the option's name.
std::vector<const KernelInfo*> kernels_named(const std::string& name, const std::string& argument);
// Without names: all kernels; the library's kernels only if every_library_kernel.
std::vector<const KernelInfo*> selected_kernels(const CommonOptions& options, const Target& target,
                                                bool every_library_kernel = false);
std::vector<Problem> selected_shapes(const CommonOptions& options);
// The shape of --shape; `otherwise` for "".
Problem shape_or(const std::string& text, const Problem& otherwise);
std::vector<Case> selected_battery(const CommonOptions& options);
// Throws if the problem does not fit in the memory of `device`, or its verification not in that of
// the host. The message names `argument`.
void require_memory(const Problem& problem, const Device& device, const std::string& argument);
void require_writable(const std::string& path, const std::string& argument);

// Returns the device where `kernel` runs: the host, the target's CUDA device, or a Device without
// CUDA, which the kernel then refuses.
const Device& device_of(const KernelInfo& kernel, const Target& target);
// As above, with the peak and bandwidth to which rates are related. Those of host cores are
// measured once per process, which takes about 0.5 s.
Device rated_device_of(const KernelInfo& kernel, const Target& target);

// Saves rows as they are produced. A file is rewritten with every row, but for at most a twentieth
// of the time: long files are written less often. An output that cannot be replaced (a pipe)
// receives all rows at the end. Throws BadInput, naming the argument, if the file is no longer
// writable.
class Recorder {
 public:
  Recorder(std::string path, std::string argument, const Target& target);
  void add(Row row);
  void finish();  // call after the last row
  const std::vector<Row>& rows() const { return document_.rows; }
  const Document& document() const { return document_; }

 private:
  void write();
  std::string path_, argument_;
  bool replaced_ = false;
  bool written_ = true;                          // every row is in the file
  std::chrono::steady_clock::time_point due_{};  // of the next write
  Document document_;
};

// write_atomic(), but throws BadInput with the argument.
void write_file(const std::string& path, std::string_view text, const std::string& argument);

// Replaces the text between two markers of the file of --into (splice).
void write_between(const std::string& path, const std::string& marker, const std::string& text);

// After this call Ctrl-C (or SIGTERM, or SIGHUP) only sets a flag. A second one ends the process at
// once.
void catch_interrupt();
bool interrupted();

// The exit status for all rows: kFailed if any row failed verification or none passed.
int exit_status(const std::vector<Row>& rows);

// The verbs. Each adds itself to `app` and stores its function in `chosen` when it is parsed.
void add_atlas(CLI::App& app, Verb& chosen);
void add_bench(CLI::App& app, Verb& chosen);
void add_climb(CLI::App& app, Verb& chosen);
void add_diff(CLI::App& app, Verb& chosen);
void add_doctor(CLI::App& app, Verb& chosen);
void add_explain(CLI::App& app, Verb& chosen);
void add_learn(CLI::App& app, Verb& chosen);
void add_list(CLI::App& app, Verb& chosen);
void add_new(CLI::App& app, Verb& chosen);
void add_pages(CLI::App& app, Verb& chosen);
void add_profile(CLI::App& app, Verb& chosen);
void add_report(CLI::App& app, Verb& chosen);
void add_run(CLI::App& app, Verb& chosen);
void add_show(CLI::App& app, Verb& chosen);
void add_tune(CLI::App& app, Verb& chosen);
void add_verify(CLI::App& app, Verb& chosen);

}  // namespace ladder::app
