// SPDX-License-Identifier: Apache-2.0
// ladder climb, the main job: every rung verified, then timed on a GPU or counted on the virtual one.
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <array>
#include <map>
#include <memory>
#include <span>

#include "common.hpp"
#include "report/selection.hpp"
#include "report/terminal.hpp"
#include "report/text_chart.hpp"

namespace ladder::app {
namespace {

constexpr std::int64_t kGpuSide = 4096;     // what published ladders are measured at
constexpr std::int64_t kVirtualSide = 256;  // every rung in a moment
constexpr std::int64_t kHostSide = 512;     // the three-loop rung takes a few tenths of a second
constexpr double kHostMostFlops =
    2.0 * 1024 * 1024 * 1024;  // beyond it a host rung takes too long to be timed along

struct ClimbOptions {
  CommonOptions common;
  bool cold = false;
  double budget_s = 1.5;
};

class Climb {
 public:
  Climb(const ClimbOptions& options, const Target& target)
      : options_(options),
        target_(target),
        battery_(selected_battery(options.common)),
        recorder_(options.common.json, target),
        printer_(stdout, stderr, detect_style()) {}

  int run(const std::vector<const KernelInfo*>& kernels, const std::vector<Problem>& shapes) {
    for (const KernelInfo* kernel : kernels) {
      for (const Problem& problem : problems_of(*kernel, shapes)) {
        printer_.expect(make_row(*kernel, in_types_of(*kernel, problem), device_of(*kernel, target_)));
      }
    }
    for (const KernelInfo* kernel : kernels) {
      for (const Problem& problem : problems_of(*kernel, shapes)) {
        Row row = climb(*kernel, in_types_of(*kernel, problem));
        if (interrupted()) return finish(kInterrupted);
        printer_.row(row);
        recorder_.add(std::move(row));
      }
    }
    return finish(exit_status(recorder_.rows()));
  }

  // Shapes beyond what a host rung does in a moment are left to the GPU, unless the rung was asked for by
  // name.
  std::vector<Problem> problems_of(const KernelInfo& kernel, const std::vector<Problem>& shapes) const {
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
      if (result.problem == problem && result.input.values == Values::kUniform) row.errors = result.errors;
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

  // The battery is run once a kernel, the shape once a kernel and shape.
  Verdict verdict_of(const KernelInfo& kernel, const Problem& problem) {
    std::vector<CaseResult>& battery = battery_results_[kernel.id];
    if (battery.empty()) battery = verify_cases(kernel, battery_, "battery");
    std::vector<CaseResult> results =
        verify_cases(kernel, cases_of(problem, options_.common.seed), to_string(problem));
    // A kernel that refuses the shape at hand was not verified on it, whatever else it passed.
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
      printer_.progress(fmt::format("{}: verifying {}, {} of {}", kernel.id, what, done + 1, of));
    };
    return verify(kernel, cases, device_of(kernel, target_), options, store_).cases;
  }

  void count_into(Row& row, const KernelInfo& kernel, const Problem& problem) {
    printer_.progress(fmt::format("{}: counting {}", kernel.id, to_string(problem)));
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
    printer_.progress(fmt::format("{}: timing {}", kernel.id, to_string(problem)));
    MeasureOptions options;
    options.budget_s = options_.budget_s;
    options.cold = options_.cold;
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
    row.baseline =
        BaselineTiming{std::string(baseline->id), baseline == &kernel ? *row.timing : results.value().back()};
  }

  // The rungs' rates as bars, where there are two or more.
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
    draw();
    bool counted = false, estimated = false;
    for (const Row& row : recorder_.rows()) {
      counted |= row.counters.has_value();
      estimated |= derive(row).counts_estimated;
    }
    if (counted) {
      printer_.line(
          "x least: bytes requested over the fewest possible. roofline: TFLOP/s if every requested byte "
          "came");
      printer_.line(std::string("from device memory; caches raise it.") +
                    (estimated ? " ~: rests on a counter that is an estimate." : ""));
    }
    if (status == kInterrupted)
      printer_.line(fmt::format("interrupted: {} rows finished", recorder_.rows().size()));
    return status;
  }

  const ClimbOptions& options_;
  const Target& target_;
  std::vector<Case> battery_;
  Recorder recorder_;
  TablePrinter printer_;
  ReferenceStore store_;
  std::map<std::string_view, std::vector<CaseResult>> battery_results_;
};

int run(const ClimbOptions& options) {
  // Everything that needs no device first: bad input stops before any work.
  const std::vector<Problem> shapes = selected_shapes(options.common);
  (void)selected_battery(options.common);
  (void)selected_kernels(options.common, {});
  require_writable(options.common.json, "--json");
  if (!(options.budget_s > 0)) throw BadInput("--budget: seconds a kernel, more than 0");
  const Target target = select_target(options.common.device);
  const auto kernels = selected_kernels(options.common, target);
  for (const Problem& problem : shapes) require_memory(problem, target.main(), "--shape");
  catch_interrupt();
  return Climb(options, target).run(kernels, shapes);
}

}  // namespace

void add_climb(CLI::App& app, Verb& chosen) {
  CLI::App* verb =
      app.add_subcommand("climb", "Verify every rung, then time it (GPU, host) or count it (virtual GPU)");
  auto options = std::make_shared<ClimbOptions>();
  add_common_options(*verb, options->common);
  verb->add_flag("--cold", options->cold, "GPU: rotate operands over twice the L2 cache");
  verb->add_option("--budget", options->budget_s, "seconds of timing a kernel");
  verb->footer(
      "Without --shape: 4096x4096x4096 on a GPU, 256x256x256 on the virtual one, 512x512x512 on the host. "
      "Host rungs\n"
      "leave shapes beyond 1024x1024x1024 to the GPU unless they are named.\n"
      "Examples:\n"
      "  ladder climb\n"
      "  ladder climb r01 r02 r03 --shape 250x251x253 --device virtual:h200\n"
      "  ladder climb --shape 4096x4096x4096 --json rows.json --cold");
  verb->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace ladder::app
