// SPDX-License-Identifier: Apache-2.0
// ladder learn: the course. Lists it, writes an exercise into a folder of the learner's own, checks
// the solution there, and gives hints.
#include "learn.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "report/files.hpp"
#include "report/installation.hpp"
#include "report/text.hpp"
#include "tune/process.hpp"

namespace ladder::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using learn::Exercise;

constexpr double kDiffSeconds = 10;
constexpr std::size_t kNameWidth = 22;

struct LearnOptions {
  std::string exercise, dir, csv;
  bool check = false, hint = false, solution = false, progress = false;
  std::vector<std::string> mark;
  CheckOptions checking;
  std::uint64_t memory_mb = 8192;
};
constexpr const char* kDefaultDir = "learn";
constexpr Range<std::uint64_t> kMemoryRange{256, 1U << 20,
                                            "a whole number of megabytes from 256 to 1048576"};

std::string shown(const fs::path& path) { return printable(path.string()); }

const Exercise& find_exercise(const std::vector<Exercise>& all, const std::string& name) {
  for (const Exercise& e : all) {
    const bool short_number = name.size() == 1 && e.number() == "0" + name;
    if (e.id == name || e.number() == name || short_number || e.id.substr(3) == name) return e;
  }
  throw BadInput(fmt::format("EXERCISE: no '{}'; there are 01 to {} (ladder learn)", name,
                             all.back().number()));
}

// If the current folder is an exercise's own, and --dir does not name another.
std::optional<Progress> progress_here(const LearnOptions& o) {
  return o.dir.empty() ? read_progress(".") : std::nullopt;
}

// The folder with the learner's exercises.
std::string dir_of(const LearnOptions& o) {
  if (!o.dir.empty()) return o.dir;
  return progress_here(o) ? ".." : kDefaultDir;
}

fs::path folder_of(const LearnOptions& o, const Exercise& exercise) {
  return fs::path(dir_of(o)) / exercise.id;
}

struct Assignment {
  Exercise exercise;
  fs::path folder;
};

Assignment assignment_of(const LearnOptions& o) {
  const std::vector<Exercise> all = course();
  const auto here = progress_here(o);
  if (o.exercise.empty()) {
    if (!here) throw BadInput("EXERCISE: which one? (ladder learn lists them)");
    return {find_exercise(all, here->exercise), "."};
  }
  const Exercise& exercise = find_exercise(all, o.exercise);
  if (here && here->exercise == exercise.id) return {exercise, "."};
  return {exercise, folder_of(o, exercise)};
}

Progress started(const Assignment& own) {
  const auto progress = read_progress(own.folder);
  if (!progress)
    throw BadInput(fmt::format("{}: not begun; `ladder learn {}` writes it", shown(own.folder),
                               own.exercise.number()));
  return *progress;
}

std::string text_of(const fs::path& file) { return required(read_file(file.string())); }

std::string state_of(const std::optional<Progress>& progress) {
  if (!progress) return "";
  std::string state = progress->passed       ? "passed"
                      : progress->checks > 0 ? "failed: " + progress->failed
                                             : "begun";
  if (progress->solution_shown) state += ", solution seen";
  return state;
}

int list(const LearnOptions& o) {
  const std::vector<Exercise> all = course();
  fmt::print("{:<4}{:<{}}{:<6}{}\n", "", "exercise", kNameWidth, "rung", "goal");
  std::size_t passed = 0;
  for (const Exercise& e : all) {
    const auto progress = read_progress(folder_of(o, e));
    passed += progress && progress->passed ? 1 : 0;
    const std::string state = state_of(progress);
    fmt::print("{:<4}{:<{}}{:<6}{}{}\n", e.number(), e.id.substr(3), kNameWidth, e.rung, e.goal,
               state.empty() ? "" : fmt::format("  [{}]", state));
  }
  fmt::print("{} of {} passed in {}/. Begin with `ladder learn 01`.\n", passed, all.size(),
             printable(dir_of(o)));
  return kOk;
}

int show_progress(const LearnOptions& o) {
  const std::vector<Exercise> all = course();
  fmt::print("{:<4}{:<{}}{:>7}{:>7}  {}\n", "", "exercise", kNameWidth, "checks", "hints", "state");
  std::size_t passed = 0;
  for (const Exercise& e : all) {
    const auto progress = read_progress(folder_of(o, e));
    if (!progress) continue;
    passed += progress->passed ? 1 : 0;
    fmt::print("{:<4}{:<{}}{:>7}{:>7}  {}\n", e.number(), e.id.substr(3), kNameWidth,
               progress->checks, fmt::format("{}/{}", progress->hints, e.hints.size()),
               state_of(progress));
  }
  fmt::print("{} of {} passed\n", passed, all.size());
  return kOk;
}

void write_progress(const fs::path& folder, const Progress& p) {
  const Json json{{"exercise", p.exercise}, {"checks", p.checks},
                  {"hints", p.hints},       {"passed", p.passed},
                  {"failed", p.failed},     {"solution_shown", p.solution_shown}};
  write_file((folder / kProgressFile).string(), json.dump(2) + "\n", "--dir");
}

void print_marking(const learn::Marking& marking) {
  for (const learn::Grade& grade : marking.grades) {
    const char* verdict = grade.verdict == learn::Grade::Verdict::kPassed   ? "ok"
                          : grade.verdict == learn::Grade::Verdict::kFailed ? "FAIL"
                                                                            : "-";
    fmt::print("  {:<6}{:<24}  {}\n", verdict, grade.name,
               printable(grade.verdict == learn::Grade::Verdict::kNotReached ? "not reached"
                                                                             : grade.text));
    for (const std::string& line : grade.details) fmt::print("          {}\n", printable(line));
  }
}

// Never replaces a file: what is there is the learner's.
int begin(const LearnOptions& o) {
  const Assignment own = assignment_of(o);
  const fs::path& folder = own.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw BadInput(fmt::format("{}: {}", shown(folder), error.message()));
  const auto write_new = [&](const char* name, const std::string& text) {
    const fs::path file = folder / name;
    if (fs::exists(file, error)) return false;
    write_file(file.string(), text, "--dir");
    return true;
  };
  const bool is_new = write_new(kLearnerFile, text_of(own.exercise.folder / "start.cu"));
  write_new("README.md", text_of(own.exercise.folder / "README.md"));
  if (!read_progress(folder)) {
    Progress progress;
    progress.exercise = own.exercise.id;
    write_progress(folder, progress);
  }
  if (!is_new)
    fmt::print("{}: is there already and stays as it is\n", shown(folder / kLearnerFile));
  fmt::print("{}\n", text_of(own.exercise.folder / "README.md"));
  fmt::print("Edit {}, then `ladder learn {} --check{}`.\n", shown(folder / kLearnerFile),
             own.exercise.number(), o.dir.empty() ? "" : " --dir " + printable(o.dir));
  return kOk;
}

int check(const LearnOptions& o) {
  const Assignment own = assignment_of(o);
  Progress progress = started(own);
  const fs::path file = own.folder / kLearnerFile;
  fmt::print("{} {}: {}\n", own.exercise.number(), own.exercise.title, shown(file));
  if (const std::string why = learn::why_not_confined(); !why.empty())
    fmt::print(stderr, "ladder: {}\n", why);
  std::fflush(stdout);
  const Checked checked = check_solution(own.exercise, file, o.checking);
  print_marking(checked.marking);
  const learn::Grade* failed = checked.marking.failed();
  ++progress.checks;
  const bool passed = checked.marking.passed();
  progress.passed = progress.passed || passed;
  progress.failed = failed == nullptr ? "" : failed->name;
  write_progress(own.folder, progress);
  if (passed) {
    fmt::print("passed in {:.1f} s. `ladder learn {} --solution` shows ours.\n", checked.seconds,
               own.exercise.number());
    return kOk;
  }
  const auto hints = static_cast<int>(own.exercise.hints.size());
  fmt::print("not yet ({:.1f} s).{}\n", checked.seconds,
             failed == nullptr ? " Marks from counters need the virtual GPU."
             : progress.hints < hints
                 ? fmt::format(" `ladder learn {} --hint` helps.", own.exercise.number())
                 : "");
  return failed == nullptr ? kOk : kFailed;
}

int hint(const LearnOptions& o) {
  const Assignment own = assignment_of(o);
  Progress progress = started(own);
  const auto all = static_cast<int>(own.exercise.hints.size());
  const bool more = progress.hints < all;
  if (more) ++progress.hints;
  for (int i = 0; i < progress.hints; ++i)
    fmt::print("{}. {}\n", i + 1, own.exercise.hints[static_cast<std::size_t>(i)]);
  if (progress.hints == all)
    fmt::print("That is all. `ladder learn {} --solution` shows ours.\n", own.exercise.number());
  if (more) write_progress(own.folder, progress);
  return kOk;
}

int solution(const LearnOptions& o) {
  const Assignment own = assignment_of(o);
  Progress progress = started(own);
  const fs::path ours = own.exercise.folder / "solution.cu", file = own.folder / kLearnerFile;
  fmt::print("{}\n", text_of(ours));
  const auto diff =
      tune::run({"diff", "-u", "--label", "yours", "--label", "ours", file.string(), ours.string()},
                tune::in_seconds(kDiffSeconds), interrupted);
  if (diff && diff.value().ended && !diff.value().output.empty())
    fmt::print("{}", printable(diff.value().output, "\n\t"));
  if (!own.exercise.rung.empty())
    fmt::print("The rung with this idea: {} (docs/ladder/{}.md, `ladder explain {}`)\n",
               own.exercise.rung, own.exercise.rung, own.exercise.rung);
  progress.solution_shown = true;
  write_progress(own.folder, progress);
  return kOk;
}

int run(LearnOptions o) {
  catch_interrupt();
  o.checking.limits.memory_bytes = o.memory_mb << 20;
  if (o.checking.device != kMarkingDevice && !o.checking.device.starts_with("cuda:"))
    throw BadInput(fmt::format("--device: {} or cuda:N", kMarkingDevice));
  if (!o.mark.empty()) {
    o.checking.quiet = true;
    return mark_class(o.mark, o.csv, o.checking);
  }
  if (!o.csv.empty()) throw BadInput("--csv: goes with --mark");
  if (o.progress) return show_progress(o);
  if (o.check) return check(o);
  if (o.hint) return hint(o);
  if (o.solution) return solution(o);
  return o.exercise.empty() ? list(o) : begin(o);
}

}  // namespace

std::vector<Exercise> course() {
  return required(learn::read_course(fs::path(source_folder()) / "lessons"));
}

std::optional<Progress> read_progress(const fs::path& folder) {
  const fs::path file = folder / kProgressFile;
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  try {
    const Json json = Json::parse(text_of(file));
    return Progress{json.at("exercise").get<std::string>(),
                    json.at("checks").get<int>(),
                    json.at("hints").get<int>(),
                    json.at("passed").get<bool>(),
                    json.at("solution_shown").get<bool>(),
                    json.at("failed").get<std::string>()};
  } catch (const Json::exception& bad) {
    throw BadInput(fmt::format("{}: {}", shown(file), bad.what()));
  }
}

void add_learn(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("learn", "The course: exercises that the virtual GPU marks");
  auto o = std::make_shared<LearnOptions>();
  verb->add_option("EXERCISE", o->exercise,
                   "number or name of an exercise; default: list the course");
  verb->add_option("--dir", o->dir, "folder of the learner's exercises; default ./learn");
  verb->add_flag("--check", o->check, "compile, run and mark kernel.cu");
  verb->add_flag("--hint", o->hint, "print the next hint");
  verb->add_flag("--solution", o->solution,
                 "print the course's solution and its difference from the learner's");
  verb->add_flag("--progress", o->progress, "print which exercises were tried and passed");
  verb->add_option("--mark", o->mark,
                   "mark the exercises in each of these folders, e.g. those of a class");
  verb->add_option("--csv", o->csv, "with --mark: write the marks here; default standard output");
  verb->add_option("--device", o->checking.device,
                   "virtual:h200 (default) or cuda:N, which gives no marks for counters");
  add_number(*verb, "--limit", o->checking.limits.seconds, kSecondsRange,
             "time limit of a check in seconds; default 60");
  add_number(*verb, "--memory", o->memory_mb, kMemoryRange,
             "memory limit of the program in megabytes; default 8192");
  verb->footer(
      "The program runs in a process that writes nowhere but in a temporary folder (Landlock).\n"
      "Exit status of --check: 0 passed, 1 a mark failed.\n"
      "Examples:\n"
      "  ladder learn\n"
      "  ladder learn 01 && $EDITOR learn/01_vector_add/kernel.cu\n"
      "  ladder learn 01 --check\n"
      "  ladder learn --mark class/* --csv marks.csv --limit 20");
  verb->callback([&chosen, o] { chosen = [o] { return run(*o); }; });
  add_learn_trial(app, chosen);
}

}  // namespace ladder::app
