// SPDX-License-Identifier: Apache-2.0
// ladder climb, the main verb: verifies every rung, then times it on a GPU or counts it on the
// virtual GPU.
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "common.hpp"
#include "report/progress.hpp"
#include "report/selection.hpp"
#include "report/terminal.hpp"
#include "report/text.hpp"
#include "report/text_chart.hpp"

namespace ladder::app {
namespace {

constexpr std::int64_t kGpuSide = 4096;     // the size of published ladders
constexpr std::int64_t kVirtualSide = 256;  // small enough that every rung takes only a moment
constexpr std::int64_t kHostSide = 512;     // the three-loop rung takes a few tenths of a second
constexpr double kGpuBudget = 1.5, kHostBudget = 0.5;  // seconds
constexpr double kBatteryFlops =
    2.0 * 256 * 256 * 256;  // cost of the quick battery on the virtual GPU
constexpr double kHostMostFlops =
    2.0 * 1024 * 1024 * 1024;  // larger problems take a host rung too long

#ifdef LADDER_HAVE_ANALYSE
constexpr bool kHasPage = true;
#else
constexpr bool kHasPage = false;
#endif

struct ClimbOptions {
  CommonOptions common;
  std::optional<double> budget_s;  // of timing, per kernel
  bool has_report = false;         // the program has the verb `report`
};

class Climb {
  using Clock = std::chrono::steady_clock;
  struct Item {
    const KernelInfo* kernel;
    Problem problem;
  };

 public:
  Climb(const ClimbOptions& options, const Target& target)
      : options_(options),
        target_(target),
        battery_(selected_battery(options.common)),
        recorder_(options.common.json, "--json", target),
        printer_(stdout, stderr, detect_style()) {}

  int run(const std::vector<const KernelInfo*>& kernels, const std::vector<Problem>& shapes) {
    std::vector<Item> items;
    for (const KernelInfo* kernel : kernels) {
      for (const Problem& problem : problems_of(*kernel, shapes))
        items.push_back({kernel, in_types_of(*kernel, problem)});
    }
    for (const Item& item : items) {
      printer_.expect(make_row(*item.kernel, item.problem, device_of(*item.kernel, target_)));
      progress_.expect(to_string(item.kernel->place), weight(item));
    }
    explain(items);
    for (const Item& item : items) {
      started_ = Clock::now();
      Row row = climb(*item.kernel, item.problem);
      if (interrupted()) return finish(kInterrupted);
      if (row.verdict.outcome == Outcome::kRefused) {
        refused_[row.verdict.reason].push_back(&item);
      } else {
        printer_.row(row);
      }
      const bool shown = row.verdict.outcome != Outcome::kRefused;
      recorder_.add(std::move(row));
      progress_.finish_item(Clock::now() - started_);
      if (shown) printer_.milestone(fmt::format("ladder climb: {}", progress_.text()));
    }
    return finish(exit_status(recorder_.rows()));
  }

  // Shapes that would take a host rung too long run only on the GPU, unless the user named the
  // rung.
  std::vector<Problem> problems_of(const KernelInfo& kernel,
                                   const std::vector<Problem>& shapes) const {
    const bool host = kernel.place == Place::kHost;
    const bool on_gpu = target_.cuda && !target_.cuda->is_virtual;
    const std::int64_t side = host ? kHostSide : (on_gpu ? kGpuSide : kVirtualSide);
    if (shapes.empty()) return {make_problem(side, side, side)};
    if (!host || !options_.common.kernels.empty()) return shapes;
    std::vector<Problem> small;
    for (const Problem& problem : shapes) {
      if (flops(problem) <= kHostMostFlops) small.push_back(problem);
    }
    if (small.empty()) small.push_back(make_problem(side, side, side));
    return small;
  }

 private:
  bool counts(const KernelInfo& kernel) const {
    return kernel.place == Place::kCuda && target_.cuda && target_.cuda->is_virtual;
  }

  // An item's share of the time. On the virtual GPU it is proportional to the work; elsewhere
  // timing has a fixed budget.
  double weight(const Item& item) const {
    const Device& device = device_of(*item.kernel, target_);
    if (!accepts(*item.kernel, item.problem, device)) return 0;
    return counts(*item.kernel) ? kBatteryFlops + flops(item.problem) : 1;
  }

  // States what this machine cannot do before printing any results.
  void explain(const std::vector<Item>& items) {
    const auto any = [&](const auto& holds) {
      return std::ranges::any_of(items, [&](const Item& item) { return holds(*item.kernel); });
    };
    if (any([&](const KernelInfo& kernel) { return counts(kernel); })) {
      printer_.line(
          fmt::format("No GPU is used: CUDA kernels run on a virtual GPU ({}), which is software.",
                      target_.cuda->name));
      printer_.line(
          "Results are verified, and the memory accesses that a GPU would make are counted.");
      printer_.line("How long a GPU would take is not known here.");
      printer_.line("");
    }
  }

  void tell(const KernelInfo& kernel, const std::string& doing) {
    printer_.progress(fmt::format("{}: {} | {}", kernel.id, doing, progress_.text()));
  }

  // One line per reason, for any number of kernels.
  void list_refused() {
    constexpr std::size_t kNamed = 3;
    for (const auto& [reason, items] : refused_) {
      std::string names;
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (i == kNamed && items.size() > kNamed + 1) {
          names += fmt::format(" and {} more", items.size() - i);
          break;
        }
        names += fmt::format("{}{}", names.empty() ? "" : ", ", items[i]->kernel->id);
      }
      printer_.line(fmt::format("refused: {}: {}", names, reason));
    }
  }

  void offer_page() {
    const std::string& rows = options_.common.json;
    if (!kHasPage || !options_.has_report || rows.empty() || recorder_.rows().empty()) return;
    std::string page = std::filesystem::path(rows).replace_extension(".html").string();
    if (page == rows) page += ".html";
    printer_.line(fmt::format("rows: {}; to look at them as a page: {} report {} --html {}", rows,
                              shell_word(program_name()), shell_word(rows), shell_word(page)));
  }

  Row climb(const KernelInfo& kernel, const Problem& problem) {
    const Device& device = device_of(kernel, target_);
    Row row = make_row(kernel, problem, device);
    if (kernel.place == Place::kCuda && !target_.cuda) {
      row.device.name = "CUDA";
      row.verdict.outcome = Outcome::kRefused;
      row.verdict.reason = target_.why_no_cuda;
      row.note = "not run: " + row.verdict.reason;
      return row;
    }
    row.verdict = verdict_of(kernel, problem);
    for (const CaseResult& result : row.verdict.cases) {
      if (result.problem == problem && result.input.values == Values::kUniform)
        row.errors = result.errors;
    }
    if (row.verdict.outcome == Outcome::kRefused) row.note = "not run: " + row.verdict.reason;
    if (!row.verdict.ok() || interrupted()) return row;
    if (kind_of(row) == TableKind::kCounted) {
      count_into(row, kernel, problem);
    } else {
      time_into(row, kernel, problem);
    }
    return row;
  }

  // Runs the battery once per kernel, and each shape once per kernel.
  Verdict verdict_of(const KernelInfo& kernel, const Problem& problem) {
    std::vector<CaseResult>& battery = battery_results_[kernel.id];
    if (battery.empty()) battery = verify_cases(kernel, battery_, "battery");
    std::vector<CaseResult> results =
        verify_cases(kernel, cases_of(problem, options_.common.seed), to_string(problem));
    // A kernel that refuses the current shape is not verified on it, even if it passed the battery.
    Verdict shape = summarize(results);
    if (shape.outcome == Outcome::kRefused) return shape;
    results.insert(results.end(), battery.begin(), battery.end());
    return summarize(std::move(results));
  }

  std::vector<CaseResult> verify_cases(const KernelInfo& kernel, std::span<const Case> cases,
                                       const std::string& what) {
    VerifyOptions options;
    options.interrupted = interrupted;
    options.check_races = what == "battery";
    options.progress = [&](std::size_t done, std::size_t of) {
      tell(kernel, fmt::format("verifying {}, {} of {}", what, done + 1, of));
    };
    return verify(kernel, cases, device_of(kernel, target_), options, store_).cases;
  }

  void count_into(Row& row, const KernelInfo& kernel, const Problem& problem) {
    tell(kernel, "counting " + to_string(problem));
    auto counters = count(kernel, problem, *target_.cuda, options_.common.seed);
    if (counters) {
      row.counters = std::move(counters).value();
    } else {
      row.note = "not counted: " + counters.status().message();
    }
  }

  void time_into(Row& row, const KernelInfo& kernel, const Problem& problem) {
    const KernelInfo* baseline = baseline_of(kernel);
    if (baseline != nullptr && baseline != &kernel && !verdict_of(*baseline, problem).ok())
      baseline = nullptr;
    if (interrupted()) return;
    std::vector<const KernelInfo*> timed{&kernel};
    if (baseline != nullptr && baseline != &kernel) timed.push_back(baseline);
    tell(kernel, "timing " + to_string(problem));
    MeasureOptions options;
    options.budget_s =
        options_.budget_s.value_or(kernel.place == Place::kHost ? kHostBudget : kGpuBudget);
    options.seed = options_.common.seed;
    options.interrupted = interrupted;
    if (kernel.place == Place::kHost) options.warmup_s = 0.1;
    auto results = measure(timed, problem, device_of(kernel, target_), options);
    if (!results) {
      row.note = "not timed: " + results.status().message();
      return;
    }
    row.timing = std::move(results.value().front());
    row.device = rated_device_of(kernel, target_);
    if (baseline == nullptr) return;
    row.baseline = BaselineTiming{std::string(baseline->id),
                                  baseline == &kernel ? *row.timing : results.value().back()};
  }

  // Draws the rungs' rates as bars if there are at least two.
  void draw() {
    const auto documents = std::span(&recorder_.document(), 1);
    const auto problem = main_problem(documents);
    if (!problem) return;
    const std::vector<Pick> rows = rows_at(documents, *problem);
    for (const Precision precision : precisions_of(rows)) {
      const std::vector<Bar> bars = measured_bars(of_precision(rows, precision));
      if (bars.size() < 2) continue;
      printer_.line("");
      printer_.line(fmt::format("TFLOP/s at {}, {}", to_string(*problem), to_string(precision)));
      for (const std::string& line : climb_text(bars, terminal_width(stdout))) printer_.line(line);
    }
  }

  int finish(int status) {
    recorder_.finish();
    list_refused();
    draw();
    bool counted = false, estimated = false;
    for (const Row& row : recorder_.rows()) {
      counted |= row.counters.has_value();
      estimated |= derive(row).counts_estimated;
    }
    if (counted) {
      printer_.line(
          "x least: bytes requested over the fewest possible. roofline: TFLOP/s if every requested "
          "byte came");
      printer_.line(std::string("from device memory; caches raise it.") +
                    (estimated ? " ~: rests on a counter that is an estimate." : ""));
    }
    if (status == kInterrupted)
      printer_.line(fmt::format("interrupted: {} rows finished", recorder_.rows().size()));
    offer_page();
    return status;
  }

  const ClimbOptions& options_;
  const Target& target_;
  std::vector<Case> battery_;
  Recorder recorder_;
  TablePrinter printer_;
  Progress progress_;
  Clock::time_point started_;
  std::map<std::string, std::vector<const Item*>> refused_;  // by reason
  ReferenceStore store_;
  std::map<std::string_view, std::vector<CaseResult>> battery_results_;
};

int run(const ClimbOptions& options) {
  // Checks that need no device come first: bad input stops before any work.
  const std::vector<Problem> shapes = selected_shapes(options.common);
  (void)selected_battery(options.common);
  (void)selected_kernels(options.common, {});
  require_writable(options.common.json, "--json");
  const Target target = select_target(options.common.device);
  const auto kernels = selected_kernels(options.common, target);
  for (const Problem& problem : shapes) require_memory(problem, target.main(), "--shape");
  catch_interrupt();
  return Climb(options, target).run(kernels, shapes);
}

}  // namespace

void add_climb(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand(
      "climb", "Verify every rung, then time it (GPU, host) or count it (virtual GPU)");
  auto options = std::make_shared<ClimbOptions>();
  add_common_options(*verb, options->common);
  add_number(*verb, "--budget", options->budget_s, kSecondsRange,
             "seconds of timing per kernel; default 1.5 on a GPU, 0.5 on the host");
  verb->footer(
      "Without --shape: 4096x4096x4096 on a GPU, 256x256x256 on the virtual one, 512x512x512 on "
      "the host. Host rungs\n"
      "leave shapes beyond 1024x1024x1024 to the GPU unless they are named.\n"
      "Examples:\n"
      "  ladder climb\n"
      "  ladder climb r01 r02 r03 --shape 250x251x253 --device virtual:h200\n"
      "  ladder climb --shape 4096x4096x4096 --json rows.json");
  verb->callback([&app, &chosen, options] {
    const auto verbs = app.get_subcommands({});
    options->has_report = std::ranges::any_of(
        verbs, [](const CLI::App* other) { return other->get_name() == "report"; });
    chosen = [options] { return run(*options); };
  });
}

}  // namespace ladder::app
