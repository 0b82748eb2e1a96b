// SPDX-License-Identifier: Apache-2.0
// The check of one solution: compiled here, run in a child process with limits, marked here.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>

#include "common.hpp"
#include "host/query.hpp"
#include "learn.hpp"
#include "learn/build.hpp"
#include "learn/trial.hpp"
#include "report/files.hpp"
#include "report/temporary.hpp"
#include "report/text.hpp"
#include "tune/process.hpp"

namespace ladder::app {
namespace {

namespace fs = std::filesystem;
using learn::Exercise;
constexpr const char* kTrialVerb = "learn-trial";
// All checks of the virtual GPU but leaks.
constexpr const char* kChecks = "memory,race,init,sync";
constexpr int kMostPrinted = 200;  // lines of a program that a check shows
constexpr std::size_t kMostErrors = 6;

// The child's standard error: the virtual GPU repeats there what the marks say, hence it is shown
// only if the child ends without results.
constexpr const char* kErrors = "errors.txt";

tune::Finished run_child(const std::vector<std::string>& command, tune::Deadline deadline,
                         bool quiet) {
  int printed = 0;
  const auto print = [&](const std::string& line) {
    ++printed;
    if (!quiet && printed <= kMostPrinted) fmt::print("  | {}\n", printable(line));
    if (!quiet && printed == kMostPrinted + 1) fmt::print("  | ...\n");
  };
  tune::Finished finished = required(tune::run(command, deadline, interrupted, print));
  if (!finished.ended && !finished.timed_out) throw BadInput("interrupted");
  return finished;
}

std::vector<std::string> first_lines(const std::string& path) {
  std::vector<std::string> lines;
  const auto text = read_file(path);
  std::istringstream in(text ? text.value() : "");
  for (std::string line; lines.size() < kMostErrors && std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

struct TrialOptions {
  std::string library, exercise, result, device;
  double seconds = 0;
  std::uint64_t memory_mb = 0;
};

constexpr Range<std::uint64_t> kMegabytes{1, 1U << 30, "a whole number of megabytes"};

int run_trial_here(const TrialOptions& o) {
  const Target target = select_target(o.device);
  if (!target.cuda) throw BadInput("--device: " + target.why_no_cuda);
  const fs::path folder = fs::path(o.result).parent_path();
  const auto exercise = required(learn::read_exercise(o.exercise));
  const int errors =
      ::open((folder / kErrors).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (errors >= 0) (void)::dup2(errors, STDERR_FILENO);
  const bool is_virtual = target.cuda->is_virtual;
  constexpr std::uint64_t kMega = 1U << 20;
  learn::Limits limits;
  limits.seconds = o.seconds;
  limits.memory_bytes = o.memory_mb * kMega;
  // The driver of a real GPU reserves more addresses than there is memory.
  if (!is_virtual) {
    limits.memory_bytes = ~std::uint64_t{0};
    limits.devices = "/dev";
  }
  required(learn::confine({folder}, limits));
  const auto result = required(learn::run_trial(exercise, o.library, is_virtual));
  write_file(o.result, learn::to_json(result), "RESULT");
  std::fflush(stdout);
  // The learner's destructors and exit handlers do not run.
  ::_exit(kOk);
}

// On a GPU, nvcc compiles for its architecture.
Exercise for_device(Exercise exercise, const std::string& device) {
  if (device == kMarkingDevice) return exercise;
  const auto ordinal = parse_number<int>(device.substr(device.find(':') + 1));
  if (!ordinal) throw BadInput("--device: cuda: is followed by a device number from 0");
  const auto found = required(query_device(*ordinal), "--device");
  if (exercise.arch.ends_with('a') && exercise.arch != fmt::format("{}a", found.cc))
    throw BadInput(fmt::format("--device: this exercise needs compute capability {}",
                               exercise.arch.substr(0, 2)));
  if (!exercise.arch.ends_with('a')) exercise.arch = std::to_string(found.cc);
  return exercise;
}

}  // namespace

Checked check_solution(const Exercise& asked, const fs::path& file, const CheckOptions& options) {
  const Exercise exercise = for_device(asked, options.device);
  const auto begin = tune::Clock::now();
  const auto deadline = tune::in_seconds(options.limits.seconds);
  const auto scratch = required(Temporary::folder("learn"));
  const fs::path folder = scratch.path();
  Checked checked;
  const auto done = [&](learn::Marking marking) {
    checked.marking = std::move(marking);
    checked.seconds = std::chrono::duration<double>(tune::Clock::now() - begin).count();
    return checked;
  };
  const auto source = required(read_file(file.string()));
  const auto compiled = required(learn::compile(exercise, file, folder, deadline, interrupted));
  if (!compiled.errors.empty()) return done(learn::not_compiled(exercise, compiled));
  const std::string result = (folder / "result.json").string();
  const tune::Finished ended =
      run_child({"env", "TMPDIR=" + folder.string(), fmt::format("VGPU_CHECK={}", kChecks),
                 fmt::format("/proc/{}/exe", ::getpid()), kTrialVerb, compiled.library.string(),
                 "--exercise", fs::absolute(exercise.folder).string(), "--result", result,
                 "--device", options.device, "--seconds", fmt::format("{}", options.limits.seconds),
                 "--memory", fmt::format("{}", options.limits.memory_bytes >> 20)},
                deadline, options.quiet);
  if (!ended.ended)
    return done(learn::not_ended(
        exercise, fmt::format("not done within {} s (--limit)", options.limits.seconds),
        {"Does every loop end? Does every thread arrive at every barrier?"}));
  const auto text = read_file(result);
  const auto trial =
      text ? learn::parse_trial(text.value()) : Result<learn::TrialResult>(text.status());
  if (!trial || trial.value().outcomes.empty())
    return done(learn::not_ended(
        exercise, fmt::format("the program ended without results: {}", ended.end.text),
        first_lines((folder / kErrors).string())));
  return done(learn::mark(exercise, compiled, trial.value(), {source, file.filename().string()}));
}

void add_learn_trial(CLI::App& app, Verb& chosen) {
  CLI::App* verb = hidden_verb(app, kTrialVerb);
  auto o = std::make_shared<TrialOptions>();
  verb->add_option("LIBRARY", o->library)->required();
  verb->add_option("--exercise", o->exercise)->required();
  verb->add_option("--result", o->result)->required();
  verb->add_option("--device", o->device)->required();
  add_number(*verb, "--seconds", o->seconds, kSecondsRange, "");
  add_number(*verb, "--memory", o->memory_mb, kMegabytes, "");
  verb->callback([&chosen, o] { chosen = [o] { return run_trial_here(*o); }; });
}

}  // namespace ladder::app
