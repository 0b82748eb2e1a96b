// SPDX-License-Identifier: Apache-2.0
// ladder tune --suite.
#include "tune_others.hpp"

#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include "common.hpp"
#include "gemm/plan/plan.hpp"
#include "gemm/plan/tuned_plans.hpp"
#include "measure/operands.hpp"
#include "measure/timer.hpp"
#include "measure/turns.hpp"
#include "report/terminal.hpp"

namespace ladder::app {
namespace {

constexpr int kRounds = 7, kMostLaunches = 40;
constexpr double kSampleMs = 0.4;
// A plan replaces the planner's if it takes less than this share of its time.
constexpr double kFaster = 0.97;

const KernelInfo& kernel_named(const char* id) { return *required(find_kernels(id)).front(); }

struct Candidate {
  std::optional<SimtPlan> plan;  // on CUDA cores
  std::optional<AutoForm> form;  // on tensor cores; neither: cuBLAS
  Launch replay;
  int launches = 1;
  std::vector<double> us;
  double median = 0;
};

class PlanTuner {
 public:
  PlanTuner(const PlanTuning& tuning, const Device& device) : tuning_(tuning), device_(device) {
    facts_.sms = device.sm_count;
    facts_.cc = device.cc;
    timer_ = required(Timer::make(Place::kCuda), "--device");
    const auto cublas = find_kernels("cublas_ieee");
    if (cublas) cublas_ = cublas.value().front();
  }

  // The times of all candidates, the fastest first.
  Result<std::vector<Candidate>> measure(const Problem& problem) {
    const auto drawing = drawing_of(problem, {Values::kUniform, tuning_.seed}, Precision::kIeee);
    if (!drawing) return drawing.status();
    auto operands = OperandSet::draw(problem, drawing.value());
    if (!operands) return operands.status();
    const Problem p = as_row_major(problem).problem;
    const PartShape shape = part_shape(p, {});
    std::vector<Candidate> all;
    const auto add = [&](std::optional<SimtPlan> plan, std::optional<AutoForm> form,
                         const KernelInfo& kernel) -> Status {
      if (!accepts(kernel, problem, device_)) return Status::ok();
      if (plan) TunedPlans::of_process().set(shape, facts_.sms, *plan);
      if (form) TunedPlans::of_process().set_form(shape, facts_.sms, *form);
      Status status =
          prepare(all, {plan, form, {}, 1, {}, 0}, kernel, problem, operands.value().operands());
      TunedPlans::of_process().erase(shape, facts_.sms);
      return status;
    };
    for (const SimtPlan& plan :
         simt_candidates(p, {}, facts_, static_cast<std::size_t>(tuning_.candidates))) {
      if (Status s = add(plan, std::nullopt, plan.large ? large_ : parts_); !s) return s;
    }
    const GuardedCycles guarded = guarded_cycles(p, {}, facts_.sms);
    for (const auto& [form, cycles] : {std::pair{AutoForm::kPrepass, guarded.prepass},
                                       std::pair{AutoForm::kFused, guarded.fused}}) {
      if (!std::isfinite(cycles)) continue;
      if (Status s = add(std::nullopt, form, guarded_); !s) return s;
    }
    if (cublas_ != nullptr) {
      if (Status s = add(std::nullopt, std::nullopt, *cublas_); !s) return s;
    }
    if (Status s = time(all); !s) return s;
    return all;
  }

  // How the planner computes in precision auto without measured plans.
  AutoForm planned_form(const Problem& problem) const {
    const auto plan = ladder::plan(problem, Precision::kAuto, facts_);
    if (!plan) return AutoForm::kCudaCores;
    if (std::holds_alternative<FusedPlan>(plan.value().tiles)) return AutoForm::kFused;
    return std::holds_alternative<TensorPlan>(plan.value().tiles) ? AutoForm::kPrepass
                                                                  : AutoForm::kCudaCores;
  }

  // What the planner takes on CUDA cores without measured plans.
  std::optional<SimtPlan> planned(const Problem& problem) const {
    const auto plan = ladder::plan(problem, Precision::kIeee, facts_);
    if (!plan) return std::nullopt;
    if (const auto* small = std::get_if<SmallPlan>(&plan.value().tiles))
      return SimtPlan{std::nullopt, *small};
    if (const auto* large = std::get_if<LargePlan>(&plan.value().tiles)) return SimtPlan{*large};
    return std::nullopt;
  }

 private:
  Status prepare(std::vector<Candidate>& all, Candidate one, const KernelInfo& kernel,
                 const Problem& problem, const Operands& o) {
    const Launch launch = [&kernel, problem, o](Stream stream) {
      return kernel.launch(problem, o, stream);
    };
    const auto probe = timer_->time({launch, launch});
    if (!probe) return probe.status();
    one.launches = std::clamp(static_cast<int>(kSampleMs / std::max(probe.value().back(), 1e-4)), 1,
                              kMostLaunches);
    auto replay =
        timer_->together(std::vector<Launch>(static_cast<std::size_t>(one.launches), launch));
    if (!replay) return replay.status();
    one.replay = std::move(replay).value();
    all.push_back(std::move(one));
    return Status::ok();
  }

  Status time(std::vector<Candidate>& all) {
    for (std::size_t round = 0; round <= kRounds; ++round) {
      std::vector<Launch> launches;
      std::vector<std::size_t> order;
      for (std::size_t turn = 0; turn < all.size(); ++turn) {
        order.push_back(kernel_in_turn(all.size(), round, turn));
        launches.push_back(all[order.back()].replay);
      }
      const auto ms = timer_->time(launches);
      if (!ms) return ms.status();
      for (std::size_t i = 0; round > 0 && i < order.size(); ++i)  // the first round warms up
        all[order[i]].us.push_back(1000 * ms.value()[i] / all[order[i]].launches);
    }
    for (Candidate& one : all) {
      std::nth_element(one.us.begin(), one.us.begin() + kRounds / 2, one.us.end());
      one.median = one.us[kRounds / 2];
    }
    return Status::ok();
  }

  const PlanTuning& tuning_;
  const Device& device_;
  DeviceFacts facts_;
  std::unique_ptr<Timer> timer_;
  const KernelInfo &large_ = kernel_named("ladder_large_tiles"),
                   &parts_ = kernel_named("ladder_split_k"),
                   &guarded_ = kernel_named("ladder_guarded");
  const KernelInfo* cublas_ = nullptr;
};

bool same(const SimtPlan& one, const SimtPlan& other) {
  if (one.large || other.large) return one.large == other.large;
  if (one.small.kernel != other.small.kernel) return false;
  if (one.small.kernel == SmallKernel::kOuterProduct) return true;
  return one.small.sided == other.small.sided && one.small.thin == other.small.thin;
}

std::string row_of(const Problem& problem, const Candidate& one, bool planned) {
  if (one.form)
    return fmt::format("{},guarded,{},,,,,0,{},{:.3f}\n", to_string(problem),
                       *one.form == AutoForm::kFused ? "fused" : "pre-pass", planned ? 1 : 0,
                       one.median);
  if (!one.plan)
    return fmt::format("{},cublas,,,,,,,{},{:.3f}\n", to_string(problem), 0, one.median);
  const SimtPlan& plan = *one.plan;
  const PartPlan& part = plan.small.sided.part;
  const ThinPlan& thin = plan.small.thin;
  const int is_planned = planned ? 1 : 0, swapped = plan.small.sided.swapped ? 1 : 0;
  if (plan.large) {
    return fmt::format("{},large,{},,{},,{},{:.0f},{},{:.3f}\n", to_string(problem),
                       plan.large->tile, plan.large->packs ? 1 : 0, plan.large->shares ? 1 : 0,
                       plan.large->cycles, is_planned, one.median);
  }
  if (plan.small.kernel == SmallKernel::kOuterProduct)
    return fmt::format("{},outer,,,,,,,{},{:.3f}\n", to_string(problem), is_planned, one.median);
  if (plan.small.kernel == SmallKernel::kThin) {
    return fmt::format("{},{},{}x{},{},,,{},{:.0f},{},{:.3f}\n", to_string(problem),
                       kThinNames[static_cast<std::size_t>(thin.kind)], 1 << thin.lanes,
                       thin.outputs, swapped, thin.parts, thin.cycles, is_planned, one.median);
  }
  return fmt::format("{},tiles,{},{},,{},{},{:.0f},{},{:.3f}\n", to_string(problem), part.tile,
                     swapped, part.cluster, part.parts, part.cycles, is_planned, one.median);
}

constexpr const char* kFormNames[] = {"CUDA cores", "pre-pass", "fused split"};

// Of precision auto, the form that is faster than the planner's, if one is. `cuda_us`: on CUDA
// cores.
std::optional<AutoForm> faster_form(const std::vector<Candidate>& all, AutoForm planned,
                                    double cuda_us, std::string& text) {
  double us[] = {cuda_us, HUGE_VAL, HUGE_VAL};
  for (const Candidate& one : all) {
    if (one.form) us[static_cast<std::size_t>(*one.form)] = one.median;
  }
  const auto at = static_cast<std::size_t>(std::ranges::min_element(us) - us);
  const double of_planner = us[static_cast<std::size_t>(planned)];
  if (us[at] >= kFaster * of_planner) return std::nullopt;
  text = fmt::format("{:8.2f} us in auto ({}), the planner's {:8.2f} us ({})", us[at],
                     kFormNames[at], of_planner, kFormNames[static_cast<std::size_t>(planned)]);
  return static_cast<AutoForm>(at);
}

}  // namespace

int tune_plans(const PlanTuning& tuning, const Target& target) {
  if (!target.cuda) throw BadInput("--device: " + target.why_no_cuda);
  const Device& device = *target.cuda;
  if (device.is_virtual)
    throw BadInput("--device: plans are measured; the virtual GPU has no clock worth measuring");
  if (device.cc != 90)
    throw BadInput("--device: the library has plans to choose from on compute capability 9.0");
  PlanTuner tuner(tuning, device);
  TablePrinter printer(stdout, stderr, detect_style());
  TunedPlans kept;
  std::string rows = "problem,kernel,tile,swapped,packed,cluster,k_splits,cycles,planned,us\n";
  double gain = 0;
  int count = 0, replaced = 0;
  catch_interrupt();
  for (const Problem& problem : tuning.problems) {
    if (interrupted()) break;
    const auto planned = tuner.planned(problem);
    if (!planned || problem.m == 0 || problem.n == 0 || !reads_ab(problem)) continue;
    printer.progress(
        fmt::format("{} ({} of {})", to_string(problem), count + 1, tuning.problems.size()));
    auto measured = tuner.measure(problem);
    if (!measured) {
      printer.line(fmt::format("{}: {}", to_string(problem), measured.status().message()));
      continue;
    }
    const Candidate *of_planner = nullptr, *best = nullptr;
    for (const Candidate& one : measured.value()) {
      if (one.plan && same(*one.plan, *planned)) of_planner = &one;
      if (one.plan && (best == nullptr || one.median < best->median)) best = &one;
    }
    for (const Candidate& one : measured.value()) rows += row_of(problem, one, &one == of_planner);
    if (of_planner == nullptr || best == nullptr) continue;
    ++count;
    gain += std::log(of_planner->median / best->median);
    const PartShape shape = part_shape(as_row_major(problem).problem, {});
    const bool is_faster = best->median < kFaster * of_planner->median;
    if (is_faster) {
      ++replaced;
      kept.set(shape, device.sm_count, *best->plan);
      printer.line(fmt::format("{:<40} {:8.2f} us, the planner's {:8.2f} us", to_string(problem),
                               best->median, of_planner->median));
    }
    std::string text;
    const auto form = faster_form(measured.value(), tuner.planned_form(problem),
                                  (is_faster ? best : of_planner)->median, text);
    if (form) {
      kept.set_form(shape, device.sm_count, *form);
      printer.line(fmt::format("{:<40} {}", to_string(problem), text));
    }
    if ((is_faster || form) && !tuning.output.empty())
      write_file(tuning.output, kept.text(), "--output");
  }
  if (!tuning.rows.empty()) write_file(tuning.rows, rows, "--rows");
  if (count == 0) return kFailed;
  printer.line(fmt::format(
      "{} problems: {} have a plan that takes less than {:.0f}% of the time of the planner's; with "
      "the fastest of all, the geometric mean of rates would rise by {:.1f}%",
      count, replaced, 100 * kFaster, 100 * (std::exp(gain / count) - 1)));
  if (!tuning.output.empty()) {
    write_file(tuning.output, kept.text(), "--output");
    printer.line(fmt::format("saved; LADDER_PLANS={} makes the library use them", tuning.output));
  }
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace ladder::app
