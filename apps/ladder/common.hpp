// SPDX-License-Identifier: Apache-2.0
// What the verbs share: exit statuses, the options that several have, and how bad input is told.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <CLI/CLI.hpp>
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

// The user's input breaks a rule: "--shape: ...". Told in one line, exit status 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a number of the command line may be; `rule` says so.
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

// "--seed: 'x': a whole number ..." where the text is no such number.
template <class T>
T number_in(const Range<T>& range, const std::string& argument, const std::string& text) {
  const auto number = parse_number<T>(text);
  if (number && *number >= range.least && *number <= range.most) return *number;
  throw BadInput(argument + ": '" + text + "': " + range.rule);
}

// An option whose value is a number. CLI11's own numbers take octal ones, wrap, and are refused
// without their rule.
template <class T, class V>
void add_number(CLI::App& verb, const std::string& argument, V& value, const Range<T>& range,
                const std::string& help) {
  verb.add_option_function<std::string>(
          argument,
          [&value, range, argument](const std::string& text) {
            value = number_in(range, argument, text);
          },
          help)
      ->type_name(std::is_floating_point_v<T> ? "FLOAT" : "INT");
}

// Runs a verb; `status` is what main returns.
using Verb = std::function<int()>;

struct CommonOptions {
  std::string device = "auto";
  std::vector<std::string> kernels;
  std::vector<std::string> shapes;
  std::string json;
  std::uint64_t seed = 1;
  std::string battery = "quick";
};
void add_common_options(CLI::App& verb, CommonOptions& options);

// All throw BadInput.
// Without names: all, of the library's kernels only where every_library_kernel.
std::vector<const KernelInfo*> selected_kernels(const CommonOptions& options, const Target& target,
                                                bool every_library_kernel = false);
std::vector<Problem> selected_shapes(const CommonOptions& options);
std::vector<Case> selected_battery(const CommonOptions& options);
// `argument` is named where the problem does not fit in the memory of `device` (or of the host
// besides).
void require_memory(const Problem& problem, const Device& device, const std::string& argument);
void require_writable(const std::string& path, const std::string& argument);

// Where `kernel` runs: the host, the target's CUDA device, or a Device without CUDA, which it then
// refuses.
const Device& device_of(const KernelInfo& kernel, const Target& target);
// The same with the peak and bandwidth that rates refer to: of a host kernel's cores they are
// measured, once a process, in about half a second.
Device rated_device_of(const KernelInfo& kernel, const Target& target);

// Rows that are kept as they come: a file is replaced with every row, what cannot be replaced (a
// pipe) gets them all at the end. Throws BadInput, with the argument, if the file stops being
// writable.
class Recorder {
 public:
  Recorder(std::string path, std::string argument, const Target& target);
  void add(Row row);
  void finish() const;  // after the last row
  const std::vector<Row>& rows() const { return document_.rows; }
  const Document& document() const { return document_; }

 private:
  void write() const;
  std::string path_, argument_;
  bool replaced_ = false;
  Document document_;
};

// write_atomic; throws BadInput with the argument.
void write_file(const std::string& path, std::string_view text, const std::string& argument);

// From here on Ctrl-C (or SIGTERM, or the terminal's end) only sets a flag; a second one ends the
// process at once.
void catch_interrupt();
bool interrupted();

// Of all rows: kFailed if one failed verification or none passed it.
int exit_status(const std::vector<Row>& rows);

// The verbs; each adds itself to `app` and stores what to run in `chosen` when it is parsed.
void add_atlas(CLI::App& app, Verb& chosen);
void add_bench(CLI::App& app, Verb& chosen);
void add_climb(CLI::App& app, Verb& chosen);
void add_diff(CLI::App& app, Verb& chosen);
void add_doctor(CLI::App& app, Verb& chosen);
void add_explain(CLI::App& app, Verb& chosen);
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
