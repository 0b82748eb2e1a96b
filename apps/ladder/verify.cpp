// SPDX-License-Identifier: Apache-2.0
// ladder verify: verifies every kernel with the battery, and on shapes that the user names.
#include "verify/verify.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "common.hpp"
#include "report/progress.hpp"
#include "report/terminal.hpp"

namespace ladder::app {
namespace {

constexpr std::size_t kFailuresShown = 10;

void print_verdict(TablePrinter& printer, const Row& row) {
  const Verdict& v = row.verdict;
  const std::size_t run = v.cases.size() - v.refused;
  printer.line(fmt::format("{:<18}  {:<16}  {:>4} of {} cases{}", row.kernel, to_string(v.outcome),
                           v.passed, run,
                           v.refused > 0 ? fmt::format(", {} refused", v.refused) : ""));
  if (v.outcome == Outcome::kRefused) printer.line("    " + v.reason);
  std::size_t shown = 0;
  for (const CaseResult& c : v.cases) {
    if (c.outcome == Outcome::kPassed || c.outcome == Outcome::kRefused) continue;
    if (++shown > kFailuresShown) {
      printer.line("    and more");
      break;
    }
    printer.line(fmt::format("    {}: {}: {}", to_string(c.outcome), c.name, c.reason));
  }
}

int run(const CommonOptions& options, bool no_battery) {
  // Checks that need no device come first: bad input stops before any work.
  const std::vector<Problem> shapes = selected_shapes(options);
  std::vector<Case> cases = selected_battery(options);
  (void)selected_kernels(options, {});
  require_writable(options.json, "--json");
  const Target target = select_target(options.device);
  const std::vector<const KernelInfo*> kernels = selected_kernels(options, target, true);
  if (no_battery) cases.clear();
  for (const Problem& problem : shapes) {
    require_memory(problem, target.main(), "--shape");
    for (Case& which : cases_of(problem, options.seed)) cases.push_back(std::move(which));
  }
  if (cases.empty()) throw BadInput("--no-battery: leaves nothing to verify without --shape");

  catch_interrupt();
  Recorder recorder(options.json, "--json", target);
  ReferenceStore store;
  TablePrinter printer(stdout, stderr, detect_style());
  Progress progress;
  for (const KernelInfo* kernel : kernels) progress.expect(to_string(kernel->place));
  for (const KernelInfo* kernel : kernels) {
    const auto started = std::chrono::steady_clock::now();
    const auto elapsed = [&] { return std::chrono::steady_clock::now() - started; };
    const Device& device = device_of(*kernel, target);
    Row row = make_row(*kernel, shapes.empty() ? Problem{} : shapes.front(), device);
    VerifyOptions verify_options;
    verify_options.interrupted = interrupted;
    verify_options.progress = [&](std::size_t done, std::size_t of) {
      progress.within(static_cast<double>(done) / static_cast<double>(of), elapsed());
      printer.progress(
          fmt::format("{}: case {} of {} | {}", row.kernel, done + 1, of, progress.text()));
    };
    row.verdict = verify(*kernel, cases, device, verify_options, store);
    if (interrupted()) break;
    print_verdict(printer, row);
    recorder.add(std::move(row));
    progress.finish_item(elapsed());
    printer.milestone(fmt::format("ladder verify: {}", progress.text()));
  }
  recorder.finish();
  return interrupted() ? kInterrupted : exit_status(recorder.rows());
}

}  // namespace

void add_verify(CLI::App& app, Verb& chosen) {
  CLI::App* verb =
      app.add_subcommand("verify", "Verify kernels within error bounds, or name what is wrong");
  auto options = std::make_shared<CommonOptions>();
  auto no_battery = std::make_shared<bool>(false);
  add_common_options(*verb, *options);
  verb->add_flag("--no-battery", *no_battery, "only the shapes");
  verb->footer(
      "Examples:\n"
      "  ladder verify                                   every kernel, quick battery\n"
      "  ladder verify r03 --battery full --seed 7\n"
      "  ladder verify r02 --shape 4096x4096x4096 --no-battery --device cuda:0");
  verb->callback([&chosen, options, no_battery] {
    chosen = [options, no_battery] { return run(*options, *no_battery); };
  });
}

}  // namespace ladder::app
