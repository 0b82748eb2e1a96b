// SPDX-License-Identifier: Apache-2.0
// ladder tune: searches a rung's tile parameters, or the library's plans, on this device. The
// hidden verb tune-worker is the process in which candidates run.
#include <fmt/format.h>
#include <unistd.h>
#include <ladder/registry.hpp>
#include <ladder/search.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "common.hpp"
#include "page/render.hpp"
#include "problem/suites.hpp"
#include "report/installation.hpp"
#include "report/terminal.hpp"
#include "tune/earlier.hpp"
#include "tune/heat_map.hpp"
#include "tune/result.hpp"
#include "tune/tuner.hpp"
#include "tune_others.hpp"

namespace ladder::app {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kSide = 4096;        // the size of published ladders
constexpr std::int64_t kCountedSide = 256;  // on the virtual GPU: a few blocks for any tile
constexpr std::int64_t kCountedDepth = 64;
constexpr const char* kWorkerVerb = "tune-worker";

struct TuneOptions {
  std::string rung, device = "auto", shape, json, output, source = source_folder(),
                    strategy = "auto";
  std::string points, heat_map, axes, suite, rows;
  int candidates = 12;
  double budget_s = 120;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::uint64_t seed = 1;
};

const SearchSpace& selected_space(const std::string& name) {
  const auto found = kernels_named(name, "RUNG");
  if (const SearchSpace* space = search_space(found.front()->rung)) return *space;
  std::string there;
  for (const KernelInfo& kernel : kernels()) {
    if (search_space(kernel.rung) != nullptr)
      there += (there.empty() ? "" : ", ") + std::string(kernel.rung);
  }
  throw BadInput(fmt::format("RUNG: {} declares no search space; those that do: {}",
                             found.front()->rung, there.empty() ? "none" : there));
}

tune::Strategy selected_strategy(const std::string& name) {
  static const std::map<std::string, tune::Strategy> kNames{
      {"auto", tune::Strategy::kAuto},
      {"exhaustive", tune::Strategy::kExhaustive},
      {"halving", tune::Strategy::kHalving}};
  const auto found = kNames.find(name);
  if (found == kNames.end())
    throw BadInput(fmt::format("--strategy: '{}' is none of auto, exhaustive, halving", name));
  return found->second;
}

Problem selected_problem(const std::string& shape) {
  const Problem p = shape_or(shape, make_problem(kSide, kSide, kSide));
  if (p.m == 0 || p.n == 0 || p.k == 0)
    throw BadInput("--shape: nothing to time in an empty product");
  return p;
}

tune::Provenance provenance_of(const Target& target) {
  const Environment e = query_environment(target.main());
  return {e.date, e.version, e.commit, e.driver, "CUDA " + e.toolkit};
}

// "BM,BN": the parameters on the vertical and horizontal axis of the heat map; by default the
// space's first two.
std::pair<std::string, std::string> selected_axes(const std::string& text,
                                                  const SearchSpace& space) {
  if (text.empty())
    return {
        std::string(space.parameters[0].name),
        std::string(space.parameters[std::min<std::size_t>(1, space.parameters.size() - 1)].name)};
  const std::size_t comma = text.find(',');
  std::pair<std::string, std::string> axes{
      text.substr(0, comma), comma == std::string::npos ? "" : text.substr(comma + 1)};
  std::string there;
  for (const Parameter& parameter : space.parameters)
    there += (there.empty() ? "" : ", ") + std::string(parameter.name);
  for (const std::string& name : {axes.first, axes.second}) {
    const bool known = std::ranges::any_of(
        space.parameters, [&](const Parameter& parameter) { return parameter.name == name; });
    if (!known || axes.first == axes.second)
      throw BadInput(
          fmt::format("--axes: '{}' is not two of {} with a comma between", text, there));
  }
  return axes;
}

bool is_csv(const std::string& path) { return path.ends_with(".csv"); }
bool is_spec(const std::string& path) { return path.ends_with(".vl.json"); }

std::vector<tune::EarlierCandidate> selected_points(const std::string& path,
                                                    const SearchSpace& space) {
  if (path.empty()) return {};
  return required(tune::earlier_candidates(required(read_file(path), "--points"), space),
                  "--points: " + path);
}

// The files that a search writes during its run and at its end.
class Files {
 public:
  Files(const TuneOptions& options, std::string output, const tune::Job& job,
        tune::Provenance provenance)
      : options_(options),
        output_(std::move(output)),
        job_(job),
        provenance_(std::move(provenance)) {
    axes_ = selected_axes(options.axes, *job.space);
    std::error_code error;
    if (output_.empty() || !fs::exists(output_, error)) return;
    before_ = required(read_file(output_), "--output");
    required(tune::check_tuned_file(before_, job), "--output: " + output_);
    saved_ = tune::saved_tile(before_, *job.space);
  }

  const std::optional<tune::SavedTile>& saved() const { return saved_; }

  void keep(const tune::Tuning& so_far) const {
    candidates(so_far, std::nullopt);
    if (!output_.empty() && tune::may_replace(saved_, job_, so_far)) tuned(so_far);
  }

  void finish(const tune::Tuning& outcome, const std::optional<tune::Agreement>& with,
              TablePrinter& printer) const {
    candidates(outcome, with);
    draw(outcome, printer);
    if (output_.empty() || !outcome.winner) return;
    if (outcome.interrupted && !tune::may_replace(saved_, job_, outcome)) {
      printer.line(
          fmt::format("not saved: {} has a tile that was compared and is not slower", output_));
      return;
    }
    tuned(outcome);
    printer.line(fmt::format("saved in {}; the rung uses it once it is built again", output_));
  }

 private:
  void candidates(const tune::Tuning& outcome, const std::optional<tune::Agreement>& with) const {
    if (options_.json.empty()) return;
    write_file(options_.json, tune::to_json(job_, outcome, provenance_, with), "--json");
  }

  void draw(const tune::Tuning& outcome, TablePrinter& printer) const {
    if (options_.heat_map.empty()) return;
    if (is_csv(options_.heat_map))
      return write_file(options_.heat_map, tune::candidates_csv(job_, outcome), "--heat-map");
    const auto chart = tune::heat_map(job_, outcome, axes_.first, axes_.second);
    if (!chart) return printer.line(fmt::format("no heat map: {}", chart.status().message()));
    if (is_spec(options_.heat_map))
      return write_file(options_.heat_map, chart.value().spec + "\n", "--heat-map");
    const auto pictures = page::render(std::array{chart.value().spec});
    if (!pictures) return printer.line(fmt::format("no heat map: {}", pictures.status().message()));
    write_file(options_.heat_map,
               page::stand_alone(pictures.value().front(), chart.value().description),
               "--heat-map");
  }

  void tuned(const tune::Tuning& outcome) const {
    write_file(
        output_,
        required(tune::tuned_file(before_, job_, outcome, provenance_), "--output: " + output_),
        "--output");
  }

  const TuneOptions& options_;
  std::string output_, before_;
  const tune::Job& job_;
  tune::Provenance provenance_;
  std::pair<std::string, std::string> axes_;
  std::optional<tune::SavedTile> saved_;
};

#ifdef LADDER_HAVE_HIGHWAY
// Tunes a CPU rung: nothing is compiled, and only the options of the search itself apply.
int run_blocks(const TuneOptions& options) {
  const std::pair<const char*, bool> others[] = {
      {"--device", options.device != "auto" && options.device != "cpu"},
      {"--json", !options.json.empty()},
      {"--heat-map", !options.heat_map.empty()},
      {"--axes", !options.axes.empty()},
      {"--points", !options.points.empty()},
      {"--strategy", options.strategy != "auto"}};
  for (const auto& [name, given] : others) {
    if (given)
      throw BadInput(
          fmt::format("{}: not for a CPU rung, whose blocks are searched on this machine", name));
  }
  constexpr std::int64_t kBlockSide = 2048;  // several blocks in each dimension
  const Problem problem = options.shape.empty() ? make_problem(kBlockSide, kBlockSide, kBlockSide)
                                                : selected_problem(options.shape);
  return tune_blocks(problem, options.budget_s, options.source, options.output);
}
#endif

int run_plans(const TuneOptions& options) {
  if (!options.rung.empty())
    throw BadInput("RUNG: not with --suite, which tunes the library's plans");
  require_writable(options.output, "--output");
  require_writable(options.rows, "--rows");
  auto problems = required(find_suite(options.suite), "--suite");
  return tune_plans(
      {std::move(problems), options.output, options.rows, options.candidates, options.seed},
      select_target(options.device));
}

int run(const TuneOptions& options) {
  if (!options.suite.empty()) return run_plans(options);
  if (options.rung.empty()) throw BadInput("RUNG: required without --suite");
    // Checks that need no device come first: bad input stops before any work.
#ifdef LADDER_HAVE_HIGHWAY
  if (has_blocks(options.rung)) return run_blocks(options);
#endif
  const SearchSpace& space = selected_space(options.rung);
  const Problem problem = selected_problem(options.shape);
  tune::Options tuning;
  tuning.strategy = selected_strategy(options.strategy);
  (void)selected_axes(options.axes, space);
  if (!options.heat_map.empty() && !is_csv(options.heat_map) && !is_spec(options.heat_map)) {
    if (!options.heat_map.ends_with(".svg"))
      throw BadInput(fmt::format("--heat-map: '{}' ends in none of .svg, .vl.json and .csv",
                                 options.heat_map));
    // Checked before the search rather than after it.
    required(page::can_render(), "--heat-map");
  }
  require_writable(options.heat_map, "--heat-map");
  const std::vector<tune::EarlierCandidate> earlier = selected_points(options.points, space);
  require_writable(options.json, "--json");
  require_writable(options.output, "--output");
  const fs::path source(options.source);
  std::error_code error;
  if (!fs::is_directory(source / "src" / "rungs", error))
    throw BadInput(fmt::format(
        "--source: {}: no checkout of ladder; candidates are compiled from it", options.source));
  if (tune::find_nvcc().empty())
    throw BadInput(
        "nvcc: not found in LADDER_NVCC, PATH, CUDA_HOME or /usr/local/cuda; candidates are "
        "compiled");

  const Target target = select_target(options.device);
  if (!target.cuda) throw BadInput("--device: " + target.why_no_cuda);
  require_memory(problem, *target.cuda, "--shape");

  tune::Job job;
  job.space = &space;
  job.device = *target.cuda;
  job.problem = problem;
  job.counted = make_problem(std::min(problem.m, kCountedSide), std::min(problem.n, kCountedSide),
                             std::min(problem.k, kCountedDepth));
  job.compiler.source = source / "src" / "rungs" / "cuda" / (std::string(space.rung) + ".cu");
  job.compiler.includes = {source / "include", source / "src"};
  job.compiler.cc = job.device.cc;
  job.compiler.with_ptx = job.device.is_virtual;
  job.worker = {"/proc/self/exe", kWorkerVerb, "--device",
                job.device.is_virtual ? "auto" : fmt::format("cuda:{}", job.device.ordinal)};

  // The winner by the model is not a measured tile, so it is written only to an explicit --output.
  std::string output = options.output;
  if (output.empty() && !job.device.is_virtual) {
    const fs::path folder = source / "src" / "registry" / "tuned";
    fs::create_directories(folder, error);  // on failure the write below reports the error
    output = (folder / tune::tuned_file_name(job.device.name)).string();
  }
  require_writable(output, "--output");

  catch_interrupt();
  const Files files(options, output, job, provenance_of(target));
  TablePrinter printer(stdout, stderr, detect_style());
  tuning.budget_s = options.budget_s;
  tuning.jobs = options.jobs;
  tuning.seed = options.seed;
  if (files.saved()) tuning.first.push_back(files.saved()->point);
  for (const tune::EarlierCandidate& candidate : earlier) tuning.only.push_back(candidate.point);
  tuning.interrupted = interrupted;
  tuning.progress = [&](const std::string& line) {
    printer.progress(fmt::format("{}: {}", space.rung, line));
  };
  tuning.keep = [&](const tune::Tuning& so_far) { files.keep(so_far); };
  const auto outcome = tune::tune(job, tuning);
  if (!outcome) {
    if (interrupted()) return kInterrupted;
    throw BadInput(outcome.status().message());
  }
  for (const std::string& line : tune::table(job, outcome.value())) printer.line(line);
  const auto with = tune::agreement(earlier, outcome.value());
  if (with)
    printer.line(
        fmt::format("against the times of {}: rank correlation {:.2f} of {} candidates; the first "
                    "choice reaches {:.0f}% of the best rate, the best of the first ten {:.0f}%",
                    options.points, with->rank_correlation, with->candidates,
                    100 * with->first_choice, 100 * with->best_of_ten));
  files.finish(outcome.value(), with, printer);
  if (outcome.value().interrupted) return kInterrupted;
  return outcome.value().winner ? kOk : kFailed;
}

int run_worker(const std::string& device) {
  const Target target = select_target(device);
  // Output that a candidate prints must not mix with the answers.
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kFailed;
  return tune::serve(STDIN_FILENO, answers, target.main());
}

}  // namespace

void add_tune(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand(
      "tune", "Search a rung's tile parameters, or the library's plans, on this device");
  auto options = std::make_shared<TuneOptions>();
  verb->add_option(
      "RUNG", options->rung,
      "a rung that declares a search space, e.g. r09; h04: the blocks of the CPU rungs");
  CLI::Option* suite =
      verb->add_option("--suite", options->suite,
                       "measure the library's FP32 plans of these problems (ladder bench --suite); "
                       "--output gets those that are faster than the planner's, for LADDER_PLANS");
  constexpr Range<int> kCandidates{1, 1000, "plans, at least 1 and at most 1000"};
  add_number(
      *verb, "--candidates", options->candidates, kCandidates,
      "how many plans of each kind to measure per problem, fastest by prediction; default 12")
      ->needs(suite);
  verb->add_option("--rows", options->rows, "write every plan's time here, as CSV")->needs(suite);
  verb->add_option("--device", options->device,
                   "auto (a GPU, else virtual:h200), cuda:N or virtual:NAME");
  verb->add_option("--shape", options->shape,
                   "MxNxK, or N for a cube, that candidates are timed at; default 4096, h04 2048");
  add_number(*verb, "--budget", options->budget_s, kSecondsRange,
             "seconds for the search, including compilation; default 120");
  verb->add_option("--strategy", options->strategy, "auto, exhaustive or halving");
  constexpr Range<int> kJobs{1, 1024, "compilers at once, at least 1 and at most 1024"};
  add_number(*verb, "--jobs", options->jobs, kJobs,
             "parallel compilations; default one per hardware thread");
  add_number(*verb, "--seed", options->seed, kSeedRange,
             "seed of the operands and of the order of candidates");
  verb->add_option("--json", options->json, "write every candidate here (docs/tuning.md)");
  verb->add_option("--output", options->output,
                   "tuned file; default src/registry/tuned/GPU.json of the checkout, h04 "
                   "src/host/tuned/CPU.json");
  verb->add_option(
      "--heat-map", options->heat_map,
      "FILE.svg (or FILE.vl.json, its Vega-Lite specification): the best rate for each pair of "
      "values of two parameters; FILE.csv: all candidates");
  verb->add_option("--axes", options->axes,
                   "the two parameters of the heat map, e.g. BK,TM; default the first two");
  verb->add_option("--points", options->points,
                   "try only the candidates of this --json file, and compare the two rankings");
  verb->add_option("--source", options->source, "checkout that candidates are compiled from");
  verb->footer(
      "The tuned file always holds the best candidate so far; Ctrl-C ends the search. On the "
      "virtual "
      "GPU a model\n"
      "ranks the candidates, and they are saved only with --output.\n"
      "Examples:\n"
      "  ladder tune r09 --budget 120\n"
      "  ladder tune r09 --shape 1024 --json candidates.json --output tuned.json --heat-map "
      "r09.svg\n"
      "  ladder tune r09 --device virtual:a100 --budget 60\n"
      "  ladder tune h04 --budget 60\n"
      "  ladder tune --suite transformer --output plans.txt; LADDER_PLANS=plans.txt program");
  verb->callback([&chosen, options] { chosen = [options] { return run(*options); }; });

  CLI::App* worker = hidden_verb(app, kWorkerVerb);
  auto device = std::make_shared<std::string>("auto");
  worker->add_option("--device", *device);
  worker->callback([&chosen, device] { chosen = [device] { return run_worker(*device); }; });
}

}  // namespace ladder::app
