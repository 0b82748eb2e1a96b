// SPDX-License-Identifier: Apache-2.0
// ladder tune: searches a rung's tile parameters on this device. The verb tune-worker, which is not shown, is the
// process in which candidates run.
#include <fmt/format.h>
#include <unistd.h>
#include <ladder/registry.hpp>
#include <ladder/search.hpp>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "common.hpp"
#include "report/terminal.hpp"
#include "tune/result.hpp"
#include "tune/tuner.hpp"

namespace ladder::app {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kSide = 4096;        // what published ladders are measured at
constexpr std::int64_t kCountedSide = 256;  // on the virtual GPU: a few blocks of any tile
constexpr std::int64_t kCountedDepth = 64;
constexpr const char* kWorkerVerb = "tune-worker";

struct TuneOptions {
  std::string rung, device = "auto", shape, json, output, source = LADDER_SOURCE_DIR, strategy = "auto";
  double budget_s = 120;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::uint64_t seed = 1;
};

const SearchSpace& selected_space(const std::string& name) {
  const auto found = find_kernels(name);
  if (!found) throw BadInput("RUNG: " + found.status().message());
  if (const SearchSpace* space = search_space(found.value().front()->rung)) return *space;
  std::string there;
  for (const KernelInfo& kernel : kernels()) {
    if (search_space(kernel.rung) != nullptr) there += (there.empty() ? "" : ", ") + std::string(kernel.rung);
  }
  throw BadInput(fmt::format("RUNG: {} declares no search space; those that do: {}",
                             found.value().front()->rung, there.empty() ? "none" : there));
}

tune::Strategy selected_strategy(const std::string& name) {
  static const std::map<std::string, tune::Strategy> kNames{{"auto", tune::Strategy::kAuto},
                                                            {"exhaustive", tune::Strategy::kExhaustive},
                                                            {"halving", tune::Strategy::kHalving}};
  const auto found = kNames.find(name);
  if (found == kNames.end())
    throw BadInput(fmt::format("--strategy: '{}' is none of auto, exhaustive, halving", name));
  return found->second;
}

Problem selected_problem(const std::string& shape) {
  if (shape.empty()) return make_problem(kSide, kSide, kSide);
  const auto problem = parse_shape(shape);
  if (!problem) throw BadInput("--shape: " + problem.status().message());
  const Problem& p = problem.value();
  if (p.m == 0 || p.n == 0 || p.k == 0) throw BadInput("--shape: nothing to time in an empty product");
  return p;
}

tune::Provenance provenance_of(const Target& target) {
  const Environment e = query_environment(target.main());
  return {e.date, e.version, e.commit, e.driver, "CUDA " + e.toolkit};
}

// Adds the winner to the tuned file, or says why not.
void save(const std::string& path, const tune::Job& job, const tune::Tuning& outcome,
          const tune::Provenance& provenance, TablePrinter& printer) {
  std::string before;
  std::error_code error;
  if (fs::exists(path, error)) {
    const auto text = read_file(path);
    if (!text) throw BadInput("--output: " + text.status().message());
    before = text.value();
  }
  const auto text = tune::tuned_file(before, job, outcome, provenance);
  if (!text) throw BadInput(fmt::format("--output: {}: {}", path, text.status().message()));
  if (Status status = write_atomic(path, text.value()); !status)
    throw BadInput("--output: " + status.message());
  printer.line(fmt::format("saved in {}; the rung uses it once it is built again", path));
}

int run(const TuneOptions& options) {
  // Everything that needs no device first: bad input stops before any work.
  const SearchSpace& space = selected_space(options.rung);
  const Problem problem = selected_problem(options.shape);
  tune::Options tuning;
  tuning.strategy = selected_strategy(options.strategy);
  if (!(options.budget_s > 0) || !std::isfinite(options.budget_s))
    throw BadInput("--budget: seconds for the whole search, more than 0");
  if (options.jobs < 1) throw BadInput("--jobs: compilers at once, at least 1");
  require_writable(options.json, "--json");
  require_writable(options.output, "--output");
  const fs::path source(options.source);
  std::error_code error;
  if (!fs::is_directory(source / "src" / "kernels", error))
    throw BadInput(
        fmt::format("--source: {}: no checkout of ladder; candidates are compiled from it", options.source));
  if (tune::find_nvcc().empty())
    throw BadInput(
        "nvcc: not found in LADDER_NVCC, PATH, CUDA_HOME or /usr/local/cuda; candidates are compiled");

  const Target target = select_target(options.device);
  if (!target.cuda) throw BadInput("--device: " + target.why_no_cuda);
  require_memory(problem, *target.cuda, "--shape");

  tune::Job job;
  job.space = &space;
  job.device = *target.cuda;
  job.problem = problem;
  job.counted = make_problem(std::min(problem.m, kCountedSide), std::min(problem.n, kCountedSide),
                             std::min(problem.k, kCountedDepth));
  job.compiler.source = source / "src" / "kernels" / "cuda" / (std::string(space.rung) + ".cu");
  job.compiler.includes = {source / "include", source / "src"};
  job.compiler.cc = job.device.cc;
  job.compiler.with_ptx = job.device.is_virtual;
  job.worker = {"/proc/self/exe", kWorkerVerb, "--device",
                job.device.is_virtual ? "auto" : fmt::format("cuda:{}", job.device.ordinal)};

  // A model's winner is no measured tile: it goes only where it is sent.
  std::string output = options.output;
  if (output.empty() && !job.device.is_virtual) {
    const fs::path folder = source / "src" / "dispatch" / "tuned";
    fs::create_directories(folder, error);  // if it cannot be, the next line says so
    output = (folder / tune::tuned_file_name(job.device.name)).string();
  }
  require_writable(output, "--output");

  catch_interrupt();
  const tune::Provenance provenance = provenance_of(target);
  TablePrinter printer(stdout, stderr, detect_style());
  const auto write_candidates = [&](const tune::Tuning& outcome) {
    if (options.json.empty()) return;
    if (Status status = write_atomic(options.json, tune::to_json(job, outcome, provenance)); !status)
      throw BadInput("--json: " + status.message());
  };
  tuning.budget_s = options.budget_s;
  tuning.jobs = options.jobs;
  tuning.seed = options.seed;
  tuning.interrupted = interrupted;
  tuning.progress = [&](const std::string& line) {
    printer.progress(fmt::format("{}: {}", space.rung, line));
  };
  tuning.keep = write_candidates;
  const auto outcome = tune::tune(job, tuning);
  if (!outcome) {
    if (interrupted()) return kInterrupted;
    throw BadInput(outcome.status().message());
  }
  for (const std::string& line : tune::table(job, outcome.value())) printer.line(line);
  write_candidates(outcome.value());
  if (outcome.value().winner && !output.empty()) save(output, job, outcome.value(), provenance, printer);
  if (outcome.value().interrupted) return kInterrupted;
  return outcome.value().winner ? kOk : kFailed;
}

int run_worker(const std::string& device) {
  const Target target = select_target(device);
  // What a candidate prints must not come between the answers.
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kFailed;
  return tune::serve(STDIN_FILENO, answers, target.main());
}

}  // namespace

void add_tune(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("tune", "Search a rung's tile parameters on this device");
  auto options = std::make_shared<TuneOptions>();
  verb->add_option("RUNG", options->rung, "a rung that declares a search space, e.g. r09")->required();
  verb->add_option("--device", options->device, "auto (a GPU, else virtual:h200), cuda:N or virtual:NAME");
  verb->add_option("--shape", options->shape,
                   "MxNxK, or N for a cube, that candidates are timed at; default 4096");
  verb->add_option("--budget", options->budget_s, "seconds, compilation included; default 120");
  verb->add_option("--strategy", options->strategy, "auto, exhaustive or halving");
  verb->add_option("--jobs", options->jobs, "compilers at once; default one a hardware thread");
  verb->add_option("--seed", options->seed, "of the operands and of the order of candidates");
  verb->add_option("--json", options->json, "write every candidate here (docs/tuning.md)");
  verb->add_option("--output", options->output,
                   "tuned file; default src/dispatch/tuned/GPU.json of the checkout");
  verb->add_option("--source", options->source, "the checkout that candidates are compiled from");
  verb->footer(
      "Ctrl-C ends the search and saves the best so far. On the virtual GPU candidates are ranked by a "
      "model, and\n"
      "saved only with --output.\n"
      "Examples:\n"
      "  ladder tune r09 --budget 120\n"
      "  ladder tune r09 --shape 1024 --json candidates.json --output tuned.json\n"
      "  ladder tune r09 --device virtual:a100 --budget 60");
  verb->callback([&chosen, options] { chosen = [options] { return run(*options); }; });

  CLI::App* worker = app.add_subcommand(kWorkerVerb, "");
  worker->group("");  // not shown
  auto device = std::make_shared<std::string>("auto");
  worker->add_option("--device", *device);
  worker->callback([&chosen, device] { chosen = [device] { return run_worker(*device); }; });
}

}  // namespace ladder::app
