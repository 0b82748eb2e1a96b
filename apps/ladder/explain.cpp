// SPDX-License-Identifier: Apache-2.0
// ladder explain: predicts a kernel's performance on a problem and a device, with the reasons. The
// counts come from the virtual GPU; the explained device is not needed.

#include <fmt/ranges.h>
#include <ladder/registry.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "analyse/profiler.hpp"
#include "common.hpp"
#include "explain.hpp"
#include "gemm/plan/plan.hpp"
#include "gemm/plan/tuned_plans.hpp"
#include "host_verbs.hpp"
#include "report/installation.hpp"
#include "report/table.hpp"
#include "run.hpp"

namespace ladder::app {

analyse::Machine selected_machine(const std::string& device, const std::string& clock,
                                  const char* argument) {
  const std::string id = device.starts_with("virtual:") ? device.substr(8) : device;
  analyse::Machine machine = required(analyse::find_machine(id), argument);
  if (clock == "boost") return machine;
  if (clock == "base") {
    if (!(machine.base_clock_hz > 0))
      throw BadInput("--clock: the base clock of " + id + " is not published");
    machine.clock_hz = machine.base_clock_hz;
    return machine;
  }
  constexpr Range<double> kMhz{1, 1e5, "boost, base, or a number of MHz from 1 to 100000"};
  machine.clock_hz = number_in(kMhz, "--clock", clock) * 1e6;
  return machine;
}

std::optional<Document> measured_rows(const std::string& path, const analyse::Machine& machine,
                                      const std::string& source) {
  namespace fs = std::filesystem;
  const std::string file =
      path.empty() ? (fs::path(source) / "results" / machine.id / "climb-4096.json").string()
                   : path;
  std::error_code error;
  if (path.empty() && !fs::exists(file, error)) return std::nullopt;
  return required(read_document(file), "--measured");
}

std::optional<analyse::Measured> measured_of(const std::optional<Document>& document,
                                             std::string_view kernel, const Problem& problem,
                                             const analyse::Machine& machine) {
  if (!document) return std::nullopt;
  for (const Row& row : document->rows) {
    const bool same =
        row.problem.m == problem.m && row.problem.n == problem.n && row.problem.k == problem.k;
    if (row.kernel != kernel || !same || row.device.name.find(machine.name) == std::string::npos)
      continue;
    const Derived derived = derive(row);
    if (!derived.tflops || !row.timing) continue;
    return analyse::Measured{
        row.timing->ms.median, *derived.tflops,
        fmt::format("{}, {}", row.device.name, document->environment.date.substr(0, 10)),
        derived.sm_clock_mhz};
  }
  return std::nullopt;
}

namespace {

// Problems up to this cube are counted at their own size.
constexpr std::int64_t kCountedAsItIs = 512;

struct ExplainOptions {
  std::vector<std::string> kernels;
  std::string device = "h200", shape, call, precision = "auto", layout = "row", op_a = "N",
              op_b = "N", clock = "boost", measured, into, source = source_folder();
  std::optional<float> beta;  // 1 as in the published ladders; 0 for comparison with measured rows
  RunOptions file;            // a user's kernel and its launch
  bool json = false, accuracy = false;
};

Problem selected_problem(const ExplainOptions& o, bool host) {
  const std::int64_t side = host ? 512 : 4096;
  const Problem shape = shape_or(o.shape, make_problem(side, side, side));
  return make_problem(shape.m, shape.n, shape.k, 1,
                      o.beta.value_or(o.accuracy || host ? 0.0F : 1.0F));
}

std::vector<const KernelInfo*> named_kernels(const std::vector<std::string>& names) {
  std::vector<const KernelInfo*> list;
  for (const std::string& name : names) {
    for (const KernelInfo* kernel : required(find_kernels(name), "RUNG")) list.push_back(kernel);
  }
  if (names.empty()) {
    for (const KernelInfo& kernel : kernels()) {
      if (kernel.place == Place::kCuda) list.push_back(&kernel);
    }
  }
  return list;
}

std::vector<const KernelInfo*> cuda_rungs(std::vector<const KernelInfo*> list) {
  std::erase_if(list, [](const KernelInfo* kernel) {
    return kernel->place != Place::kCuda || kernel->role == Role::kBaseline;
  });
  if (list.empty())
    throw BadInput("RUNG: baselines are not explained, as their code is not Ladder's");
  return list;
}

void count_as_is(analyse::Explanation& e, const KernelInfo& kernel, const Device& device) {
  const Problem& p = e.problem;
  if (std::max({p.m, p.n, p.k}) > kCountedAsItIs) return;
  const auto counted = count(kernel, p, device, 1);
  if (!counted) return;
  for (analyse::Compared& c : e.counters) {
    for (const Metrics* metrics : {&counted.value().exact, &counted.value().estimates}) {
      if (const auto at = metrics->find(c.metric); at != metrics->end())
        c.counted = static_cast<double>(at->second);
    }
  }
}

// Adds Nsight Compute's counters of the same launch, if the checkout has them.
void add_golden(analyse::Explanation& e, const std::string& source) {
  if (e.problem.beta != 0) return;
  const auto table = read_file(
      (std::filesystem::path(source) / "tests" / "golden" / (e.machine.id + ".csv")).string());
  if (!table) return;
  const auto golden = analyse::golden_counters(
      table.value(), e.id, fmt::format("{}x{}x{}", e.problem.m, e.problem.n, e.problem.k));
  for (analyse::Compared& c : e.counters) {
    if (const auto at = golden.find(c.metric); at != golden.end()) c.profiled = at->second;
  }
}

// What a call of the library does, by its planner.
int explain_call(const ExplainOptions& o) {
  const auto shape = required(parse_shape(o.call), "--call");
  const auto all = precisions();
  const auto precision =
      std::ranges::find_if(all, [&](Precision p) { return to_string(p) == o.precision; });
  if (precision == all.end()) {
    std::vector<std::string_view> names;
    for (const Precision p : all) names.emplace_back(to_string(p));
    throw BadInput(
        fmt::format("--precision: '{}': there are {}", o.precision, fmt::join(names, ", ")));
  }
  const analyse::Machine machine = selected_machine(o.device, "boost");
  required(TunedPlans::of_process().status());
  const auto op = [](const std::string& name) { return name == "T" ? Op::kTranspose : Op::kNone; };
  const Problem problem =
      make_problem(shape.m, shape.n, shape.k, 1, o.beta.value_or(0.0F), op(o.op_a), op(o.op_b),
                   o.layout == "col" ? Layout::kColMajor : Layout::kRowMajor);
  const auto planned =
      plan(problem, *precision, {machine.sm_count, static_cast<int>(machine.l2_bytes), machine.cc});
  if (!planned) {
    fmt::print(stderr, "ladder: {}\n", planned.status().message());
    return kFailed;
  }
  const auto& [kernel, why, splits] = planned.value().choice;
  const auto decisions = describe(planned.value());
  const double clocks = predicted_clocks(planned.value());
  if (o.json) {
    nlohmann::ordered_json parts;
    for (const auto& [name, value] : decisions) parts[name] = value;
    const nlohmann::ordered_json json{
        {"problem", to_string(problem)},
        {"device", machine.id},
        {"precision", o.precision},
        {"kernel", kernel},
        {"why", why},
        {"plan", parts},
        {"clocks", clocks > 0 ? nlohmann::json(clocks) : nlohmann::json()}};
    fmt::print("{}\n", json.dump(2));
    return kOk;
  }
  fmt::print("{} in {} on {}: {}\n  {:26}{}\n", to_string(problem), o.precision, machine.name,
             kernel, "why", why);
  for (const auto& [name, value] : decisions) fmt::print("  {:26}{}\n", name, value);
  if (clocks > 0) fmt::print("  {:26}{:.0f} clocks per SM\n", "predicted", clocks);
  return kOk;
}

RunOptions file_of(const ExplainOptions& o) {
  if (o.kernels.size() != 1) throw BadInput("RUNG: a FILE.cu is explained alone");
  if (o.accuracy) throw BadInput("--accuracy: is for CUDA rungs");
  const Problem problem = selected_problem(o, false);
  RunOptions file = o.file;
  file.file = o.kernels.front();
  file.device = "virtual:h200";
  file.shape = fmt::format("{}x{}x{}", problem.m, problem.n, problem.k);
  file.beta = problem.beta;
  file.explain_on = o.device;
  file.clock = o.clock;
  file.source = o.source;
  file.json = o.json;
  file.only_explain = true;
  return file;
}

Device of_machine(const analyse::Machine& machine) {
  return {.name = machine.name, .has_cuda = true, .cc = machine.cc, .sm_count = machine.sm_count};
}

int run(const ExplainOptions& o) {
  const auto is_file = [](const std::string& name) { return name.ends_with(".cu"); };
  if (std::ranges::any_of(o.kernels, is_file)) return explain_file(file_of(o));
  if (!o.file.kernel.empty() || !o.file.grid.empty() || !o.file.block.empty())
    throw BadInput("--kernel, --grid, --block: need a FILE.cu");
  if (!o.call.empty()) {
    if (!o.kernels.empty()) throw BadInput("--call: takes no RUNG");
    return explain_call(o);
  }
  const auto named = named_kernels(o.kernels);
  const auto host = host_rungs(named);
  const Problem problem = selected_problem(o, !host.empty());
  if (!host.empty()) {
    if (o.accuracy) throw BadInput("--accuracy: is for CUDA rungs");
    return explain_host_rungs(host, problem, o.json);
  }
  const analyse::Machine machine = selected_machine(o.device, o.clock);
  const auto list = cuda_rungs(named);
  const auto document = measured_rows(o.measured, machine, o.source);
  const Target target = select_target("virtual:h200");
  std::vector<analyse::Explanation> all;
  int status = kOk;
  for (const KernelInfo* kernel : list) {
    auto explained = analyse::explain(*kernel, problem, machine, *target.cuda, {});
    if (!explained) {
      fmt::print(stderr, "ladder: {}: {}\n", kernel->id, explained.status().message());
      status = kFailed;
      continue;
    }
    if (const Status s = accepts(*kernel, in_types_of(*kernel, problem), of_machine(machine)); !s)
      fmt::print(stderr, "ladder: {}: {}; it is explained as if it ran there\n", kernel->id,
                 s.message());
    analyse::Explanation e = std::move(explained).value();
    e.measured = measured_of(document, e.id, problem, machine);
    count_as_is(e, *kernel, *target.cuda);
    add_golden(e, o.source);
    if (!o.json && !o.accuracy && !all.empty()) fmt::print("\n{:=<100}\n", "");
    if (!o.accuracy) print_explanation(e, o.json);
    all.push_back(std::move(e));
  }
  return o.accuracy ? print_accuracy(all, machine, o.into) : status;
}

}  // namespace

void add_explain(CLI::App& app, Verb& chosen) {
  CLI::App* verb =
      app.add_subcommand("explain", "What a kernel should do on a device, pipe by pipe, and why");
  auto o = std::make_shared<ExplainOptions>();
  verb->add_option("RUNG", o->kernels,
                   "kernels by id, rung or number (ladder list), default all CUDA rungs; or a "
                   "FILE.cu of your own");
  verb->add_option(
      "--kernel", o->file.kernel,
      "demangled name of the file's kernel, e.g. \"scale<float>\"; default the only kernel");
  verb->add_option(
      "--block", o->file.block,
      "threads per block of the file's kernel, e.g. 256 or \"32, 8\"; default __launch_bounds__");
  verb->add_option(
      "--grid", o->file.grid,
      "grid of the file's kernel: launches it to observe its accesses (see ladder run)");
  verb->add_option("--shared", o->file.shared, "with --grid: bytes of dynamic shared memory");
  verb->add_option("--needs", o->file.needs,
                   "with --grid: the problems that the kernel accepts (see ladder run)");
  verb->add_option("--args", o->file.arguments,
                   "with --grid: the kernel's arguments (see ladder run)");
  verb->add_option("--device", o->device,
                   "device to explain the kernel for: " + vgpu::known_devices());
  verb->add_option("--shape", o->shape, "MxNxK, or N for a cube; default 4096, for CPU rungs 512");
  CLI::Option* call = verb->add_option(
      "--call", o->call,
      "MxNxK, instead of a rung: the kernel and tiles that a library call of this size uses");
  verb->add_option("--precision", o->precision, "precision of the call; default auto")->needs(call);
  verb->add_option("--layout", o->layout, "layout of the call's matrices: row (default) or col")
      ->check(CLI::IsMember({"row", "col"}))
      ->needs(call);
  verb->add_option("--op-a", o->op_a, "A of the call: N, as it is (default), or T, transposed")
      ->check(CLI::IsMember({"N", "T"}))
      ->needs(call);
  verb->add_option("--op-b", o->op_b, "B of the call: N (default) or T")
      ->check(CLI::IsMember({"N", "T"}))
      ->needs(call);
  add_number(*verb, "--beta", o->beta, kFloatRange,
             "0: C is not read; default 1, as the published ladders have it, with --accuracy and "
             "of CPU rungs 0, as measured");
  verb->add_option("--clock", o->clock,
                   "SM clock for the peak and the times: boost, base or a number of MHz");
  verb->add_option("--measured", o->measured,
                   "file of measured rows to show beside the prediction; default "
                   "results/DEVICE/climb-4096.json");
  verb->add_flag("--json", o->json, "print JSON (docs/analysis.md)");
  CLI::Option* accuracy = verb->add_flag("--accuracy", o->accuracy,
                                         "print only a table of predictions against measurements");
  verb->add_option("--into", o->into, "write that table into this file, between its markers")
      ->needs(accuracy);
  verb->add_option("--source", o->source, "checkout whose results are read");
  verb->footer(
      "Runs on the virtual GPU; no GPU is needed, also for devices that are not here. CPU rungs "
      "are explained for this\n"
      "machine, which is measured.\n"
      "Examples:\n"
      "  ladder explain r05\n"
      "  ladder explain r03 --device a6000 --shape 4092 --clock base\n"
      "  ladder explain r07 --shape 256 --json\n"
      "  ladder explain h04 --shape 512\n"
      "  ladder explain mine.cu --kernel \"scale<float>\" --block 256\n"
      "  ladder explain --call 4096x4096x4096 --precision ieee\n"
      "  ladder explain --accuracy");
  verb->callback([&chosen, o] { chosen = [o] { return run(*o); }; });
}

}  // namespace ladder::app
