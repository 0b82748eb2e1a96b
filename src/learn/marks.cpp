// SPDX-License-Identifier: Apache-2.0
#include "learn/marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "analyse/trace.hpp"
#include "learn/expression.hpp"
#include "measure/count.hpp"
#include "problem/number.hpp"

namespace ladder::learn {
namespace {

using Verdict = Grade::Verdict;
constexpr int kDrawn = 4;                 // lines of a picture
constexpr double kMultiprocessors = 132;  // of virtual:h200
constexpr double kWarpsOfMultiprocessor = 64;
constexpr const char* kInstructions = "smsp__thread_inst_executed.sum";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t");
  return begin == line.npos ? "" : line.substr(begin);
}

// "kernel.cu:12:  acc += ..."
std::string quoted(const Solution& solution, int line) {
  return fmt::format("{}:{}:  {}", solution.file, line, trimmed(line_of(solution.source, line)));
}

// The line of the first kernel.
int kernel_line(const Solution& solution) {
  int number = 0;
  for (const std::string& line : lines_of(solution.source)) {
    ++number;
    if (line.find("__global__") != line.npos) return number;
  }
  return 1;
}

std::string figure(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.4g}", value);
}

// Sums over all launches; properties of a launch are those of the one with the most instructions.
struct Measures {
  Scope scope;
  Metrics estimates;  // names of the metrics that are not exact
};

Measures measures_of(const Exercise& exercise, const Counters& counters) {
  Measures m;
  std::uint64_t most = 0;
  double threads = 0;
  for (const CountedLaunch& launch : counters.launches) {
    std::uint64_t work = 1;
    for (const Metrics* metrics : {&launch.exact, &launch.estimates}) {
      if (const auto at = metrics->find(kInstructions); at != metrics->end()) work += at->second;
    }
    for (const Metrics* metrics : {&launch.exact, &launch.estimates}) {
      for (const auto& [name, value] : *metrics) {
        double& total = m.scope.variables[name];
        if (name.ends_with(".sum")) {
          total += static_cast<double>(value);
        } else if (work > most) {
          total = static_cast<double>(value);
        }
        if (metrics == &launch.estimates) m.estimates[name] = 0;
      }
    }
    most = std::max(most, work);
    threads += static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2] *
                                   launch.block[0] * launch.block[1] * launch.block[2]);
  }
  m.scope.variables["launches"] = static_cast<double>(counters.launches.size());
  m.scope.variables["threads"] = threads;
  m.scope.variables["multiprocessors"] = kMultiprocessors;
  m.scope.variables["occupancy"] =
      100 * m.scope.variables["sm__maximum_warps_avg_per_active_cycle"] / kWarpsOfMultiprocessor;
  for (const auto& [name, size] : exercise.cases[exercise.measured])
    m.scope.variables[name] = static_cast<double>(size);
  return m;
}

bool is_estimate(const Mark& mark, const Measures& measures) {
  return std::ranges::any_of(measures.estimates, [&](const auto& entry) {
    return mark.measure.find(entry.first) != std::string::npos;
  });
}

bool holds(const Mark& mark, double measured, double limit) {
  constexpr double kRounding = 1e-9;
  const double slack = kRounding * std::abs(limit);
  if (mark.relation == "at most") return measured <= limit + slack;
  if (mark.relation == "at least") return measured >= limit - slack;
  return std::abs(measured - limit) <= slack;
}

// How bad an instruction is for a mark that shows instructions of its kind.
double badness(const analyse::TracedInstruction& i, const std::string& show) {
  const bool shared = i.access.memory == analyse::Memory::kShared;
  const bool access = show == "global load"    ? !shared && i.operation == "load"
                      : show == "global store" ? !shared && i.operation == "store"
                      : show == "shared load"  ? shared && i.operation == "load"
                      : show == "shared store" ? shared && i.operation == "store"
                                               : false;
  if (access && i.access.mask != 0) {
    const analyse::Cost cost = analyse::cost_of(i.access);
    const double excess = shared ? cost.wavefronts - cost.least_wavefronts
                                 : cost.sectors * (1 - cost.sector_use) + 0.01 * cost.sectors;
    return (excess + 0.001) * static_cast<double>(i.executions);
  }
  return i.operation == show ? static_cast<double>(i.executions) : 0;
}

// The source line and, of a memory access, the picture of the instruction that the mark is about.
std::vector<std::string> shown(const Mark& mark, const std::vector<analyse::Trace>& traces,
                               const Solution& solution) {
  const analyse::TracedInstruction* worst = nullptr;
  for (const analyse::Trace& trace : traces) {
    for (const analyse::TracedInstruction& i : trace.instructions) {
      if (std::filesystem::path(i.file).filename() != "kernel.cu" || badness(i, mark.show) <= 0)
        continue;
      if (worst == nullptr || badness(i, mark.show) > badness(*worst, mark.show)) worst = &i;
    }
  }
  if (worst == nullptr) return {quoted(solution, kernel_line(solution))};
  std::vector<std::string> lines{quoted(solution, static_cast<int>(worst->line))};
  if (worst->access.mask == 0) return lines;
  const analyse::Cost cost = analyse::cost_of(worst->access);
  const bool shared = worst->access.memory == analyse::Memory::kShared;
  lines.push_back(
      shared
          ? fmt::format("lanes of warp {} of block {}, {} bytes each: {} wavefronts, {} would do",
                        worst->warp, worst->block, worst->access.bytes, cost.wavefronts,
                        cost.least_wavefronts)
          : fmt::format("lanes of warp {} of block {}, {} bytes each: {} sectors of 32 bytes, "
                        "{:.0f}% of them used",
                        worst->warp, worst->block, worst->access.bytes, cost.sectors,
                        100 * cost.sector_use));
  for (const std::string& line : analyse::draw(worst->access, kDrawn)) lines.push_back("  " + line);
  return lines;
}

Grade grade_of(const Mark& mark, Measures& measures, const std::vector<analyse::Trace>& traces,
               const Solution& solution) {
  Grade grade{mark.name, Verdict::kFailed, "", {}};
  const auto measured = evaluate(mark.measure, measures.scope);
  const auto limit = evaluate(mark.limit, measures.scope);
  for (const auto* value : {&measured, &limit}) {
    if (*value) continue;
    grade.text = "exercise.json: " + value->status().message();
    return grade;
  }
  if (holds(mark, measured.value(), limit.value())) grade.verdict = Verdict::kPassed;
  grade.text = fmt::format("{} {}; {} {} expected{}", figure(measured.value()), mark.unit,
                           mark.relation, figure(limit.value()),
                           is_estimate(mark, measures) ? " (counted in PTX, an estimate)" : "");
  if (grade.verdict == Verdict::kPassed) return grade;
  grade.details = shown(mark, traces, solution);
  if (!mark.why.empty()) grade.details.push_back(mark.why);
  return grade;
}

Grade right_grade(const TrialResult& trial, const std::vector<analyse::Trace>& traces,
                  const Solution& solution) {
  Grade grade{kRight, Verdict::kPassed, "", {}};
  double share = 0;
  for (const Outcome& o : trial.outcomes) {
    share = std::max(share, o.share);
    if (o.right) continue;
    const WrongResult& w = o.wrong;
    grade.verdict = Verdict::kFailed;
    const std::string where = fmt::format("{}: {} at {}", to_string(o.sizes), w.array, w.element);
    grade.text = w.unwritten
                     ? fmt::format("{} was never written; {:.7g} expected", where, w.expected)
                     : fmt::format("{} is {:.7g}; {:.7g} expected", where, w.got, w.expected);
    if (!w.unwritten && w.allowed > 0)
      grade.details.push_back(fmt::format("off by {:.2g}, {:.2g} allowed", w.error, w.allowed));
    grade.details.push_back(fmt::format("{} of {} elements of {} are wrong{}{}", w.wrong, w.of,
                                        w.array, " (. right, x wrong, ? never written)",
                                        o.schedule == "eager" ? "" : ", copies arrive late"));
    for (const std::string& line : w.map) grade.details.push_back("  " + line);
    Mark stores;
    stores.show = "global store";
    grade.details.push_back(shown(stores, traces, solution).front());
    return grade;
  }
  grade.text = fmt::format("{} runs", trial.outcomes.size());
  if (share > 0)
    grade.text += fmt::format(", largest error {:.0f}% of what is allowed", 100 * share);
  return grade;
}

// An instruction with many registers fills several lines of a terminal.
std::string shortened(const std::string& line) {
  constexpr std::size_t kLongest = 180, kHead = 90;
  if (line.size() <= kLongest) return line;
  return line.substr(0, kHead) + " ... " + line.substr(line.size() - kHead + 5);
}

// Splits a report into lines, and quotes the source lines that it names.
std::vector<std::string> fault_details(const Outcome& outcome, const Solution& solution) {
  constexpr std::string_view kFile = "kernel.cu:";
  std::vector<std::string> details;
  std::vector<int> named;
  for (std::string line : lines_of(outcome.fault_report)) {
    for (auto at = line.find(kFile); at != line.npos; at = line.find(kFile, at + 1)) {
      const auto digits = at + kFile.size();
      const auto end = line.find_first_not_of("0123456789", digits);
      const int number = parse_number<int>(line.substr(digits, end - digits)).value_or(0);
      if (number > 0 && std::ranges::find(named, number) == named.end()) named.push_back(number);
      // The compiler saw the file in a temporary folder.
      const auto begin = line.find_last_of(" (\"", at);
      if (begin != line.npos && begin + 1 < at) {
        line.erase(begin + 1, at - begin - 1);
        at = begin + 1;
      }
    }
    details.push_back(shortened(line));
  }
  for (const int number : named) details.push_back(quoted(solution, number));
  return details;
}

Grade fault_grade(const Outcome& outcome, const Solution& solution) {
  const Explained* fault = fault_named(outcome.fault_kind);
  Grade grade{fault == nullptr ? kNoFault : std::string(fault->mark), Verdict::kFailed,
              fmt::format("{}: {}", to_string(outcome.sizes), outcome.fault_kind),
              fault_details(outcome, solution)};
  if (fault != nullptr) grade.details.emplace_back(fault->text);
  return grade;
}

Grade error_grade(const Outcome& outcome, const Solution& solution) {
  const Explained* error = error_named(outcome.error);
  Grade grade{error == nullptr ? kLaunches : std::string(error->mark),
              Verdict::kFailed,
              fmt::format("{}: {}", to_string(outcome.sizes), outcome.error),
              {}};
  int number = 0;
  for (const std::string& line : lines_of(solution.source)) {
    ++number;
    if (line.find("<<<") != line.npos) grade.details.push_back(quoted(solution, number));
  }
  if (error != nullptr) grade.details.emplace_back(error->text);
  return grade;
}

void add_not_reached(Marking& marking, const Exercise& exercise) {
  for (const Mark& mark : exercise.marks) {
    marking.grades.push_back({mark.name, Verdict::kNotReached, "", {}});
  }
}

void add_exercise_marks(Marking& marking, const Exercise& exercise, const TrialResult& trial,
                        const Solution& solution) {
  const auto counters = parse_counters(trial.counters);
  const auto traces = analyse::parse_trace(trial.trace);
  if (!counters || !traces) {
    add_not_reached(marking, exercise);
    return;
  }
  Measures measures = measures_of(exercise, counters.value());
  for (const Mark& mark : exercise.marks)
    marking.grades.push_back(grade_of(mark, measures, traces.value(), solution));
}

}  // namespace

bool Marking::passed() const {
  return std::ranges::all_of(grades, [](const Grade& g) { return g.verdict == Verdict::kPassed; });
}

const Grade* Marking::failed() const {
  const auto at = std::ranges::find(grades, Verdict::kFailed, &Grade::verdict);
  return at == grades.end() ? nullptr : &*at;
}

Marking not_compiled(const Exercise& exercise, const Compilation& compilation) {
  Marking marking;
  marking.grades.push_back({kCompiles, Verdict::kFailed, "nvcc reports errors", {}});
  for (const std::string& error : compilation.errors) {
    for (const std::string& line : lines_of(error)) marking.grades[0].details.push_back(line);
  }
  add_not_reached(marking, exercise);
  return marking;
}

Marking not_ended(const Exercise& exercise, const std::string& why,
                  const std::vector<std::string>& details) {
  Marking marking;
  marking.grades.push_back({kEnds, Verdict::kFailed, why, details});
  add_not_reached(marking, exercise);
  return marking;
}

Marking mark(const Exercise& exercise, const Compilation& compilation, const TrialResult& trial,
             const Solution& solution) {
  Marking marking;
  marking.grades.push_back(
      {kCompiles,
       Verdict::kPassed,
       fmt::format("{} registers per thread, {} bytes of shared memory, {}", compilation.registers,
                   compilation.shared_bytes,
                   compilation.spill_bytes == 0
                       ? "no spill"
                       : fmt::format("{} bytes spilled", compilation.spill_bytes)),
       {}});
  const Outcome& last = trial.outcomes.back();
  if (!last.fault_kind.empty()) {
    marking.grades.push_back(fault_grade(last, solution));
  } else if (!last.error.empty()) {
    marking.grades.push_back(error_grade(last, solution));
  } else {
    marking.grades.push_back({kNoFault, Verdict::kPassed, "in bounds, initialised, no race", {}});
    const auto traces = analyse::parse_trace(trial.trace);
    marking.grades.push_back(
        right_grade(trial, traces ? traces.value() : std::vector<analyse::Trace>{}, solution));
    if (last.right) {
      add_exercise_marks(marking, exercise, trial, solution);
      return marking;
    }
  }
  add_not_reached(marking, exercise);
  return marking;
}

}  // namespace ladder::learn
