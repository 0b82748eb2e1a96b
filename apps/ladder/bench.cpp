// SPDX-License-Identifier: Apache-2.0
// ladder bench: times kernels on suites of shapes, saves the rows, and compares them with saved
// rows.
#include <fmt/format.h>
#include <unistd.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "bench_run.hpp"
#include "host/query.hpp"
#include "problem/random_suite.hpp"
#include "problem/suites.hpp"
#include "report/compare.hpp"
#include "report/temporary.hpp"

namespace ladder::app {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  CommonOptions common;  // its field `json` is not used
  std::vector<std::string> suites;
  std::string l2 = "cold", save, compare, rows, baseline = "auto", battery = "none", resume;
  double budget_s = 0.5, noise = 0.5, max_launch_s = 1, tolerance = 2, handicap = 0;
  std::optional<double> warm_up_s;
};

// The suite for a GPU if no option selects shapes.
constexpr const char* kGpuSuite = "square";
constexpr const char* kHostShapes = "128..512*2";
constexpr Range<double> kPercentRange{0, 1000, "per cent, from 0 to 1000"};
constexpr double kHostWarmUpS = 0.05;
// per row: more samples enlarge files without making medians more certain
constexpr int kMostSamples = 200;

std::vector<Problem> selected_problems(const BenchOptions& options, bool on_gpu) {
  std::vector<Problem> problems;
  const auto add = [&](const std::vector<Problem>& more) {
    for (const Problem& problem : more) {
      if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
    }
  };
  for (const std::string& name : options.suites) {
    add(required(find_suite(name), "--suite"));
  }
  for (const std::string& text : options.common.shapes) {
    add(required(parse_shapes(text), "--shape"));
  }
  if (problems.empty())
    add(on_gpu ? find_suite(kGpuSuite).value() : parse_shapes(kHostShapes).value());
  return problems;
}

const KernelInfo* selected_baseline(const std::string& name) {
  if (name == "auto" || name == "none") return nullptr;
  const auto found = kernels_named(name, "--baseline");
  if (found.size() > 1)
    throw BadInput(
        fmt::format("--baseline: '{}' is {} kernels; name one, auto or none", name, found.size()));
  return found.front();
}

std::vector<bool> selected_modes(const std::string& l2) {
  if (l2 == "cold") return {true};
  if (l2 == "warm") return {false};
  if (l2 == "both") return {true, false};
  throw BadInput(fmt::format("--l2: '{}' is none of cold, warm, both", l2));
}

Document read_rows(const std::string& path, const std::string& argument) {
  return required(read_document(path), argument);
}

void require(bool ok, const char* rule) {
  if (!ok) throw BadInput(rule);
}

void check(const BenchOptions& options) {
  require(options.rows.empty() || !options.compare.empty(), "--rows: goes together with --compare");
  (void)selected_modes(options.l2);
  (void)selected_baseline(options.baseline);
  (void)selected_problems(options, true);
  (void)selected_kernels(options.common, {});
  require_writable(options.save, "--save");
}

std::vector<Case> selected_bench_battery(const BenchOptions& options) {
  if (options.battery == "none") return {};
  CommonOptions common = options.common;
  common.battery = options.battery;
  return selected_battery(common);
}

CompareOptions compare_options(const BenchOptions& options) {
  CompareOptions how;
  how.tolerance = options.tolerance / 100;
  return how;
}

bool doubtful(Change change) { return change == Change::kSlower || change == Change::kUnsure; }

// True if two rows were or could have been measured in the same rounds: same problem, same rotation
// of operands, same units (CUDA or tensor cores).
bool together(const Row& a, const Row& b) {
  return a.timing && b.timing && a.problem == b.problem &&
         (a.timing->copies > 1) == (b.timing->copies > 1) &&
         (a.precision == Precision::kIeee) == (b.precision == Precision::kIeee);
}

// Measures rows that appear slower or undecided a second time, for longer, with the same kernels
// and with operands at other addresses. A row that is then unchanged counts as unchanged, and an
// undecided row may become decided. After an interrupt the remaining rows keep their first result.
std::vector<Row> confirmed(const Document& before, std::vector<Row> rows, const BenchPlan& plan,
                           const Target& target, const BenchOptions& options, TablePrinter& printer,
                           const std::function<void()>& device_lost) {
  constexpr double kLonger = 3;
  const auto change_of = [&](const Row& row) {
    const std::vector<RowChange> changes =
        compare(before.rows, std::span(&row, 1), compare_options(options));
    return changes.empty() || changes.front().kernel != row.kernel ? Change::kNew
                                                                   : changes.front().change;
  };
  std::vector<bool> repeated(rows.size(), false);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].timing || repeated[i] || !doubtful(change_of(rows[i]))) continue;
    BenchPlan again = plan;
    again.problems = {rows[i].problem};
    again.cold = {rows[i].timing->copies > 1};
    again.measure.budget_s *= kLonger;
    std::erase_if(again.kernels, [&](const KernelInfo* kernel) {
      return std::ranges::none_of(
          rows, [&](const Row& row) { return row.kernel == kernel->id && together(row, rows[i]); });
    });
    Recorder second("", "", target);
    if (!Bench(again, target, second, printer, device_lost).run({})) break;
    const Row first = rows[i];
    for (std::size_t j = i; j < rows.size(); ++j) {
      if (!together(rows[j], first)) continue;
      repeated[j] = true;
      const Change change = change_of(rows[j]);
      if (!doubtful(change)) continue;
      for (const Row& row : second.rows()) {
        if (row.kernel != rows[j].kernel || !row.timing) continue;
        const Change now = change_of(row);
        if (now == Change::kSame || (change == Change::kUnsure && now != Change::kUnsure))
          rows[j] = row;
      }
    }
  }
  return rows;
}

// Prints the changed rows and the number of unchanged ones. Returns the exit status.
int report_changes(const Document& before, const std::vector<Row>& now, const BenchOptions& options,
                   TablePrinter& printer) {
  const std::vector<RowChange> changes = compare(before.rows, now, compare_options(options));
  std::vector<RowChange> shown = changes;
  // Rows that were not measured this time because they were not requested are only counted.
  std::erase_if(shown, [](const RowChange& c) {
    return c.change == Change::kSame || c.change == Change::kGone;
  });
  printer.line("");
  printer.line(fmt::format("against {} of {} ({}):", options.compare,
                           before.environment.date.substr(0, 10), before.environment.commit));
  if (!shown.empty()) {
    for (const std::string& line : table(shown)) printer.line(line);
  }
  printer.line(summary(changes));
  return passes(changes) ? kOk : kFailed;
}

// After a kernel made the device unusable for this process, a new process measures the remaining
// rows.
void continue_elsewhere(const BenchOptions& options, const Document& so_far,
                        TablePrinter& printer) {
  std::string path = options.save;
  if (path.empty() || !is_replaced(path)) {
    auto file = required(Temporary::file("bench"));
    path = file.keep().string();  // the resumed process removes it
  }
  required(write_atomic(path, to_json(so_far)));
  printer.line("the device was lost: the rest is measured by a new process");
  const Status failed = start_again({"--resume", path});
  throw BadInput("cannot start again: " + failed.message());
}

std::vector<Row> resumed(const BenchOptions& options) {
  if (options.resume.empty()) return {};
  std::vector<Row> rows = read_rows(options.resume, "--resume").rows;
  // A temporary file is the one that continue_elsewhere() wrote for this process.
  if (fs::path(options.resume).filename().string().starts_with("ladder-bench-"))
    (void)::unlink(options.resume.c_str());
  return rows;
}

BenchPlan plan_of(const BenchOptions& options, const Target& target) {
  const bool on_gpu = target.cuda.has_value();
  BenchPlan plan;
  plan.kernels = selected_kernels(options.common, target);
  if (on_gpu && options.common.kernels.empty())
    std::erase_if(plan.kernels,
                  [](const KernelInfo* kernel) { return kernel->place == Place::kHost; });
  if (!on_gpu)
    std::erase_if(plan.kernels,
                  [](const KernelInfo* kernel) { return kernel->place == Place::kCuda; });
  require(!plan.kernels.empty(),
          "--kernel: CUDA kernels are timed on a GPU, and there is none (ladder doctor)");
  plan.problems = selected_problems(options, on_gpu);
  for (const Problem& problem : plan.problems) require_memory(problem, target.main(), "--shape");
  plan.cold = on_gpu ? selected_modes(options.l2) : std::vector<bool>{false};
  plan.baseline = selected_baseline(options.baseline);
  plan.own_baseline = options.baseline == "auto";
  plan.battery = selected_bench_battery(options);
  plan.max_launch_s = options.max_launch_s;
  if (!options.resume.empty())
    plan.group_size = 1;  // so that a kernel that makes the device unusable is identified
  plan.measure.budget_s = options.budget_s;
  plan.measure.settled_s = std::min(plan.measure.settled_s, options.budget_s / 2);
  plan.measure.warmup_s = options.warm_up_s.value_or(on_gpu ? plan.measure.warmup_s : kHostWarmUpS);
  plan.measure.noise = options.noise / 100;
  plan.measure.max_samples = kMostSamples;
  // launch overhead is noticeable for kernels shorter than this
  constexpr double kReplayBelowMs = 0.05;
  plan.measure.replay_below_ms = kReplayBelowMs;
  plan.measure.handicap = options.handicap / 100;
  plan.measure.seed = options.common.seed;
  plan.measure.interrupted = interrupted;
  return plan;
}

Target timed_target(const std::string& device) {
  if (device == "auto" && cuda_device_count() == 0) return select_target("cpu");
  if (device.starts_with("virtual:"))
    throw BadInput(
        "--device: the virtual GPU has no clock worth measuring (ladder climb counts on it)");
  Target target = select_target(device);
  if (target.cuda && target.cuda->is_virtual)
    throw BadInput("--device: the virtual GPU has no clock worth measuring");
  return target;
}

int run(const BenchOptions& options) {
  // Checks that need no device come first: bad input stops before any work.
  check(options);
  Document before;
  if (!options.compare.empty()) before = read_rows(options.compare, "--compare");
  TablePrinter printer(stdout, stderr, detect_style(), true);
  if (!options.rows.empty())
    return report_changes(before, read_rows(options.rows, "--rows").rows, options, printer);

  const Target target = timed_target(options.common.device);
  const BenchPlan plan = plan_of(options, target);
  require(options.handicap == 0 || target.cuda,
          "--handicap: slows kernels on a GPU, and there is none");
  const std::vector<Row> done = resumed(options);
  catch_interrupt();
  Recorder recorder(options.save, "--save", target);
  for (const Row& row : done) recorder.add(row);
  if (!target.cuda && options.common.device == "auto")
    printer.line("no GPU: host kernels only (ladder climb counts the others on the virtual GPU)");
  if (target.cuda && !Nvml::open(target.cuda->ordinal))
    printer.line(
        "no NVML: clocks are not recorded, throttling is not seen, comparisons are in time");
  const auto device_lost = [&] { continue_elsewhere(options, recorder.document(), printer); };
  Bench bench(plan, target, recorder, printer, device_lost);
  if (!bench.run(done)) {
    printer.line(fmt::format("interrupted: {} rows finished", recorder.rows().size()));
    recorder.finish();
    return kInterrupted;
  }
  recorder.finish();
  int status = exit_status(recorder.rows());
  for (const Row& row : recorder.rows()) {
    if (row.timing && !row.timing->alarms.empty()) status = kFailed;
  }
  if (options.compare.empty()) return status;
  const std::vector<Row> rows =
      confirmed(before, recorder.rows(), plan, target, options, printer, device_lost);
  return std::max(status, report_changes(before, rows, options, printer));
}

std::string suites_help() {
  std::string text = "Suites:\n";
  for (const Suite& suite : suites()) text += fmt::format("  {:<12} {}\n", suite.name, suite.what);
  text += fmt::format("  {} {}\n", random_suite::kForm, random_suite::kWhat);
  return text;
}

}  // namespace

void add_bench(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand(
      "bench", "Time kernels on suites of shapes, save the rows, compare with saved ones");
  auto options = std::make_shared<BenchOptions>();
  verb->add_option("kernels,--kernel", options->common.kernels,
                   "kernels by id, rung or number (ladder list); default: all CUDA kernels, "
                   "without a GPU the host's");
  verb->add_option("--suite", options->suites, "name of a suite of shapes, see below; repeatable")
      ->allow_extra_args(false);
  verb->add_option("--shape", options->common.shapes,
                   "MxNxK or N, lists with commas; a number may be a range, 128..4096*2 or "
                   "256..1024+256; repeatable")
      ->allow_extra_args(false);
  verb->add_option("--device", options->common.device, "auto, cuda:N or cpu");
  verb->add_option("--l2", options->l2,
                   "cold: operands rotate over twice the L2 cache (default); warm; or both");
  add_number(*verb, "--budget", options->budget_s, kSecondsRange,
             "seconds of sampling per kernel and shape; default 0.5");
  add_number(*verb, "--warm-up", options->warm_up_s, kSecondsRange,
             "minimum seconds of warm-up before the samples; default 0.2, on the host 0.05");
  add_number(*verb, "--noise", options->noise, kPercentRange,
             "stop early at this MAD, in per cent of the median; default 0.5");
  add_number(*verb, "--max-launch", options->max_launch_s, kSecondsRange,
             "leave out kernels whose launch takes longer than these seconds; default 1");
  verb->add_option(
      "--baseline", options->baseline,
      "kernel to launch in the same rounds: a name, auto (the library, default) or none");
  verb->add_option("--battery", options->battery,
                   "further problems to verify: quick or full; default none");
  verb->add_option("--save,--json", options->save,
                   "write rows and environment here (docs/schema.md)");
  verb->add_option("--compare", options->compare,
                   "file of earlier rows; prints SAME, FASTER, SLOWER or UNSURE per row");
  verb->add_option("--rows", options->rows,
                   "with --compare: measure nothing, compare the rows of this file");
  add_number(*verb, "--tolerance", options->tolerance, kPercentRange,
             "changes up to this many per cent count as SAME; default 2");
  add_number(*verb, "--handicap", options->handicap, kPercentRange,
             "slow the rungs down by this many per cent, to test --compare");
  add_number(*verb, "--seed", options->common.seed, kSeedRange, "seed of the operands");
  verb->add_option("--resume", options->resume)->group("")->take_last();
  verb->footer(
      suites_help() +
      "Without --suite and --shape: square on a GPU, 128..512*2 on the host. Each kernel is "
      "verified on each shape first.\n"
      "Exit status: 1 where a kernel failed, became SLOWER, or its time cannot be believed, and "
      "where --compare finds\n"
      "no row of the same kernel and shape.\n"
      "Examples:\n"
      "  ladder bench --save rows.json\n"
      "  ladder bench r09 r10 --shape 512..4096*2 --shape 4096x64..256+64x4096 --l2 both\n"
      "  ladder bench --suite transformer --compare rows.json\n"
      "  ladder bench ladder_ieee --suite random:7:400 --l2 warm --budget 0.03 --warm-up 0.02\n"
      "  ladder bench --compare old.json --rows new.json");
  verb->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace ladder::app
