// SPDX-License-Identifier: Apache-2.0
#include "host_verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include "analyse/host_explanation.hpp"
#include "common.hpp"
#include "explain.hpp"
#include "host/query.hpp"
#include "measure/measure.hpp"

namespace ladder::app {
namespace {

constexpr double kBudget = 0.3;  // seconds of samples
// FLOP of the largest problem that is timed for comparison with its prediction
constexpr double kMostFlops = 0x1p36;
constexpr std::int64_t kShownSide = 512;  // of the problem whose register tile is shown

const analyse::HostMachine& machine_for(const KernelInfo& kernel) {
  static std::map<int, analyse::HostMachine> measured;
  const int threads =
      kernel.all_cores ? static_cast<int>(std::max(1U, std::thread::hardware_concurrency())) : 1;
  if (const auto known = measured.find(threads); known != measured.end()) return known->second;
  return measured.emplace(threads, required(analyse::measure_host(threads), "RUNG")).first->second;
}

// Median milliseconds of a verified launch; nullopt if it is wrong, fails or would take too long.
std::optional<double> timed(const KernelInfo& kernel, const Problem& problem) {
  if (flops(problem) > kMostFlops) return std::nullopt;
  const Device device = host_device();
  std::vector<Case> cases = cases_of(problem, 1);
  std::erase_if(cases, [](const Case& which) { return which.input.values != Values::kUniform; });
  VerifyOptions how;
  how.interrupted = interrupted;
  ReferenceStore store;
  if (!summarize(verify(kernel, cases, device, how, store).cases).ok()) return std::nullopt;
  MeasureOptions options;
  options.warmup_s = 0.05;
  options.budget_s = kBudget;
  options.min_samples = 3;
  options.interrupted = interrupted;
  const KernelInfo* const one = &kernel;
  const auto result = measure(std::span(&one, 1), problem, device, options);
  if (!result || !result.value().front().alarms.empty()) return std::nullopt;
  return result.value().front().ms.median;
}

analyse::HostExplanation explained(const KernelInfo& kernel, const Problem& problem) {
  analyse::HostExplanation e = analyse::explain_host(kernel, problem, machine_for(kernel));
  e.measured_ms = timed(kernel, problem);
  return e;
}

}  // namespace

std::vector<const KernelInfo*> host_rungs(const std::vector<const KernelInfo*>& kernels) {
  std::vector<const KernelInfo*> rungs;
  bool others = false;
  for (const KernelInfo* kernel : kernels) {
    if (kernel->role == Role::kBaseline) continue;
    if (kernel->place == Place::kHost) rungs.push_back(kernel);
    others = others || kernel->place == Place::kCuda;
  }
  if (!rungs.empty() && others)
    throw BadInput(
        "RUNG: CPU rungs are explained for this machine, CUDA rungs for a device: name either");
  return rungs;
}

int explain_host_rungs(const std::vector<const KernelInfo*>& rungs, const Problem& problem,
                       bool json) {
  bool first = true;
  for (const KernelInfo* kernel : rungs) {
    const analyse::HostExplanation e = explained(*kernel, problem);
    if (!json && !first) fmt::print("\n{:=<100}\n", "");
    first = false;
    print_explanation(e, json);
  }
  return kOk;
}

int diff_host_rungs(const KernelInfo& a, const KernelInfo& b, const Problem& problem) {
  const analyse::HostExplanation first = explained(a, problem), second = explained(b, problem);
  fmt::print("{} -> {}, {} on {}\n", a.id, b.id, to_string(problem), first.machine.cpu);
  for (const std::string& sentence : analyse::why(first, second)) fmt::print("{}\n", sentence);
  print_differences("traffic, hot loop and times", analyse::compare(first, second), a.id, b.id);
  return kOk;
}

int show_host_rungs(const std::vector<const KernelInfo*>& rungs, bool hot) {
  for (const KernelInfo* kernel : rungs) {
    const auto function =
        required(analyse::host_function(*kernel, make_problem(kShownSide, kShownSide, kShownSide)),
                 fmt::format("RUNG: {}", kernel->id));
    const auto loop = analyse::hot_loop(function);
    fmt::print("machine code of {}: {}, by objdump\n| the innermost loop with the most products\n",
               kernel->id, function.name);
    const auto& code = function.code;
    for (std::size_t i = 0; i < code.size(); ++i) {
      const bool in_loop = loop && i >= loop.value().first && i <= loop.value().last;
      if (!hot || in_loop)
        fmt::print("{} {:06x}  {}\n", in_loop ? '|' : ' ', code[i].address, code[i].text);
    }
    if (!loop) fmt::print("no hot loop: {}\n", loop.status().message());
  }
  return kOk;
}

}  // namespace ladder::app
