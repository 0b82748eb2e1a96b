// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "check/checks.hpp"
#include "count/report.hpp"
#include "engine/kernel.hpp"
#include "machine/device_runtime.hpp"
#include "machine/grid.hpp"
#include "memory/image.hpp"
#include "memory/touched_memory.hpp"
#include "memory/trial.hpp"

namespace vgpu {
namespace {

check::Ending ending(const machine::GridRun& run) {
  try {
    if (run.error) std::rethrow_exception(run.error);
  } catch (const std::exception& fault) {
    return {fault.what(), ""};
  }
  return {"", run.output.text()};
}

bool is_race(const machine::GridRun& run) {
  try {
    if (run.error) std::rethrow_exception(run.error);
  } catch (const Fault& fault) {
    return fault.kind == FaultKind::kRace;
  } catch (const std::exception&) {  // another fault
  }
  return false;
}

}  // namespace

void check_launch(const Kernel& kernel, const LaunchConfig& config,
                  std::span<const std::byte> params) {
  const ir::Program& program = kernel.program();
  if (!program.unsupported.empty()) {
    throw Unsupported(fmt::format("{}\n  kernel {}", program.unsupported, program.display_name));
  }
  machine::check_config(program, config, params);
}

LaunchReport launch(const Kernel& kernel, const LaunchConfig& config,
                    std::span<const std::byte> params, Memory& memory) {
  const auto begin = std::chrono::steady_clock::now();
  check_launch(kernel, config, params);
  const ir::Program& program = kernel.program();
  std::optional<machine::GridWorkspace> workspace;
  machine::Launch launch = machine::prepare(program, config, params, memory, workspace);

  // The kernel cannot run again if it uses the heap, because the heap has changed.
  const bool has_local = std::ranges::any_of(
      program.functions, [](const auto& function) { return function.local_bytes != 0; });
  const bool proves = config.check_init && config.check_init_shared &&
                      (launch.shared_end > program.shared_begin || has_local) && !program.heap;
  std::optional<MemoryImage> before;
  if (proves) before.emplace(launch.map->first());
  machine::DeviceRuntime device_runtime;
  launch.device_runtime = &device_runtime;
  std::optional<check::Checks> checks_of_run;
  const auto run_with = [&](Trial* trial, Findings* findings) {
    launch.observer = &checks_of_run.emplace(program, config, memory, proves);
    launch.trial = trial;
    launch.config.findings = findings;
    return machine::run_grid(launch);
  };
  std::optional<machine::GridRun> tried;
  if (!proves && !kernel.needs_order() && machine::may_try(launch)) {
    Trial trial(memory.map(), memory.shadow(), config.touched != nullptr);
    Findings findings;
    tried = run_with(&trial, config.findings == nullptr ? nullptr : &findings);
    if (trial.failed() || tried->error || findings.any()) {
      trial.undo();
      tried.reset();
      kernel.set_needs_order();
    } else if (config.touched != nullptr) {
      config.touched->set_sums(trial.take_sums());
    }
  }
  const machine::GridRun run = tried ? std::move(*tried) : run_with(nullptr, config.findings);
  const check::Checks& checks = *checks_of_run;
  // If others wrote memory meanwhile, another run would have other results.
  const bool races =
      is_race(run) || (config.findings != nullptr && config.findings->any(FaultKind::kRace));
  if (before && checks.unwritten().any() && !races && !run.waited) {
    const auto again = [&](const observer::UnwrittenFill& fill) {
      return ending(machine::run_again(launch, run, fill));
    };
    const std::optional<Fault> fault = check::effect_of(checks.unwritten(), memory, *before,
                                                        ending(run), config.defer_doubts, again);
    if (fault && config.findings == nullptr) throw *fault;
    if (fault) {
      const FindingKey key(fault->kind, ir::kNone, ir::kNone);
      config.findings->add(key, ~std::uint64_t{0}, *fault);
      config.findings->count(key, 1);
    }
  }
  if (run.error) std::rethrow_exception(run.error);

  LaunchReport report;
  report.raced = races;
  if (config.count) count::report(program, run.counters, config, report);
  if (!before && checks.unwritten().any()) report.unwritten = checks.unwritten().first();
  report.output = run.output.text();
  report.lost_prints = run.output.lost();
  report.end_clock = run.end_clock;
  report.launches = device_runtime.finish(config.heap);
  report.called_driver = run.counters.called_driver;
  report.linked_with_driver = program.prints || program.heap;
  // What is recorded of a launch does not include bytes in doubt (Memory::doubt).
  const bool may_doubt =
      config.check_init_shared &&
      (checks.unwritten().any() || (config.findings != nullptr && config.findings->any()));
  report.repeatable = config.touched != nullptr && config.touched->is_complete() &&
                      !report.called_driver && !run.counters.read_clock && !run.waited &&
                      !may_doubt && report.launches.empty();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace vgpu
