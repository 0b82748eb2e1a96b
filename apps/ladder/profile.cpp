// SPDX-License-Identifier: Apache-2.0
// ladder profile RUNG: prints Nsight Compute's counters beside the virtual GPU's if there is a GPU
// with readable counters. Otherwise prints the virtual GPU's counters alone and says what is
// missing.
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <filesystem>
#include <memory>

#include "analyse/profiler.hpp"
#include "common.hpp"
#include "host/query.hpp"
#include "measure/count.hpp"
#include "measure/operands.hpp"
#include "operands/virtual_gpu.hpp"
#include "report/text.hpp"
#include "tune/process.hpp"

namespace ladder::app {
namespace {

constexpr const char* kLaunchVerb = "launch-once";
constexpr const char* kCountVerb = "count-once";
constexpr int kNcuSeconds = 600;

struct ProfileOptions {
  std::string rung, shape = "256";
  std::vector<std::string> metrics;
};

// The metrics that both provide, with Nsight Compute's names.
const std::vector<std::string>& common_metrics() {
  static const std::vector<std::string> metrics{
      "launch__registers_per_thread",
      "smsp__inst_executed.sum",
      "smsp__thread_inst_executed.sum",
      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
      "smsp__inst_executed_op_global_ld.sum",
      "smsp__inst_executed_op_shared_ld.sum",
      "smsp__inst_executed_op_shared_st.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
  };
  return metrics;
}

Problem shape_of(const std::string& text) { return required(parse_shape(text), "--shape"); }

const KernelInfo& rung_of(const std::string& name) {
  for (const KernelInfo* kernel : kernels_named(name, "RUNG")) {
    if (kernel->place == Place::kCuda) return *kernel;
  }
  throw BadInput(fmt::format("RUNG: {} is no CUDA kernel", name));
}

// Counters of the virtual GPU, from a separate process, because this one may use a real GPU.
Result<Counters> virtual_counters(const ProfileOptions& o) {
  const auto done = tune::run({"/proc/self/exe", kCountVerb, o.rung, "--shape", o.shape},
                              tune::in_seconds(kNcuSeconds), interrupted);
  if (!done) return done.status();
  const std::string& output = done.value().output;
  const auto begin = output.find("{\"device\"");
  if (done.value().end.status != 0 || begin == std::string::npos)
    return Status(Code::kLaunchFailed, output.substr(0, output.find('\n')));
  return parse_counters(output.substr(begin));
}

Result<std::vector<analyse::Profiled>> profiled(const ProfileOptions& o,
                                                const std::vector<std::string>& metrics) {
  if (virtual_gpu::active() || cuda_device_count() == 0)
    return Status(Code::kUnsupportedDevice, "there is no GPU here");
  const std::string ncu = analyse::find_ncu();
  if (ncu.empty())
    return Status(Code::kUnsupportedDevice,
                  "ncu is not installed (LADDER_NCU, PATH, CUDA_HOME, /usr/local/cuda)");
  // The resolved path: in ncu's process /proc/self/exe is ncu.
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return Status(Code::kIo, "/proc/self/exe: " + error.message());
  const auto done =
      tune::run(analyse::ncu_command(ncu, metrics, {self, kLaunchVerb, o.rung, "--shape", o.shape}),
                tune::in_seconds(kNcuSeconds), interrupted);
  if (!done) return done.status();
  if (done.value().timed_out)
    return Status(Code::kIo, fmt::format("ncu did not end within {} s", kNcuSeconds));
  return analyse::parse_ncu(done.value().output);
}

double of(const Counters& counters, const std::string& metric, bool& exact) {
  double sum = 0;
  bool any = false;
  for (const CountedLaunch& launch : counters.launches) {
    for (const Metrics* metrics : {&launch.exact, &launch.estimates}) {
      const auto at = metrics->find(metric);
      if (at == metrics->end()) continue;
      sum = metric.ends_with(".sum") ? sum + static_cast<double>(at->second)
                                     : static_cast<double>(at->second);
      exact = metrics == &launch.exact;
      any = true;
    }
  }
  return any ? sum : -1;
}

int run(const ProfileOptions& o) {
  const KernelInfo& kernel = rung_of(o.rung);
  const Problem problem = shape_of(o.shape);
  const std::vector<std::string>& metrics = o.metrics.empty() ? common_metrics() : o.metrics;
  catch_interrupt();
  const auto hardware = profiled(o, metrics);
  const auto counted = virtual_counters(o);
  if (interrupted()) return kInterrupted;
  fmt::print("{}, {}\n", kernel.id, to_string(problem));
  if (!hardware)
    fmt::print("no counters of hardware: {}\n", printable(hardware.status().message()));
  if (!counted)
    fmt::print("no counters of the virtual GPU: {}\n", printable(counted.status().message()));
  if (!hardware && !counted) return kFailed;
  fmt::print("  {:<70}{:>18}{:>18}  (~ an estimate)\n", "", hardware ? "Nsight Compute" : "",
             "virtual GPU");
  for (const std::string& metric : metrics) {
    double seen = -1, made = -1;
    bool exact = false;
    if (counted) made = of(counted.value(), metric, exact);
    if (hardware) {
      for (const analyse::Profiled& launch : hardware.value()) {
        if (const auto at = launch.metrics.find(metric); at != launch.metrics.end())
          seen = metric.ends_with(".sum") && seen > 0 ? seen + at->second : at->second;
      }
    }
    fmt::print("  {:<70}{:>18}{:>17}{}{}\n", metric, seen < 0 ? "-" : fmt::format("{:.0f}", seen),
               made < 0 ? "-" : fmt::format("{:.0f}", made), made < 0 || exact ? ' ' : '~',
               seen >= 0 && made >= 0 && exact && seen != made ? "  differs" : "");
  }
  return kOk;
}

int launch_once(const ProfileOptions& o, const std::string& device, bool print) {
  const KernelInfo& kernel = rung_of(o.rung);
  const Target target = select_target(device);
  if (!target.cuda) throw BadInput("--device: " + target.why_no_cuda);
  const Problem problem = shape_of(o.shape);
  required(kernel.accepts(problem, *target.cuda));
  if (print) {
    required(count(kernel, problem, *target.cuda, 1));
    fmt::print("{}\n", virtual_gpu::counters_json());
    return kOk;
  }
  const auto images = required(make_images(problem, {Values::kUniform, 1}, kernel.precision));
  const auto set = required(OperandSet::make(Place::kCuda, problem, images));
  required(kernel.launch(problem, set.operands(), nullptr));
  required(synchronize());
  return kOk;
}

}  // namespace

void add_profile(CLI::App& app, Verb& chosen) {
  CLI::App* verb =
      app.add_subcommand("profile", "Nsight Compute's counters beside the virtual GPU's");
  auto o = std::make_shared<ProfileOptions>();
  verb->add_option("RUNG", o->rung, "a CUDA kernel, by id, rung or number")->required();
  verb->add_option("--shape", o->shape, "MxNxK, or N for a cube; default 256");
  verb->add_option("--metric", o->metrics, "a metric by its name in Nsight Compute; repeatable")
      ->allow_extra_args(false);
  verb->footer(
      "Without a GPU, without ncu, or where the driver keeps its counters to itself, it says so "
      "and shows the virtual\n"
      "GPU's.\nExamples:\n  ladder profile r05\n  ladder profile r07 --shape 250x251x253 --metric "
      "smsp__inst_executed.sum");
  verb->callback([&chosen, o] { chosen = [o] { return run(*o); }; });

  for (const bool print : {false, true}) {
    CLI::App* hidden = hidden_verb(app, print ? kCountVerb : kLaunchVerb);
    auto h = std::make_shared<ProfileOptions>();
    hidden->add_option("RUNG", h->rung)->required();
    hidden->add_option("--shape", h->shape);
    hidden->callback([&chosen, h, print] {
      chosen = [h, print] { return launch_once(*h, print ? "virtual:h200" : "cuda:0", print); };
    });
  }
}

}  // namespace ladder::app
