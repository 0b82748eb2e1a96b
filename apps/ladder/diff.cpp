// SPDX-License-Identifier: Apache-2.0
// ladder diff A B: compares two kernels (source, resources, instruction mix, counters, times) and
// explains the differences.
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "analyse/difference.hpp"
#include "common.hpp"
#include "explain.hpp"
#include "host_verbs.hpp"
#include "report/installation.hpp"
#include "tune/process.hpp"

namespace ladder::app {
namespace {

namespace fs = std::filesystem;

struct DiffOptions {
  std::string a, b, device = "h200", shape, measured, source = source_folder();
  bool no_source = false;
};

const KernelInfo& one_kernel(const std::string& name, const char* argument) {
  const auto found = kernels_named(name, argument);
  for (const KernelInfo* kernel : found) {
    if (kernel->role == Role::kRung) {
      if (found.size() > 1)
        fmt::print(stderr, "ladder: {} has {} variants; {} is taken\n", name, found.size(),
                   kernel->id);
      return *kernel;
    }
  }
  throw BadInput(fmt::format("{}: {} is not a rung", argument, name));
}

// The change of a quantity: "x 2.00", "/ 4.00", "=".
std::string change(const analyse::Compare& c) {
  if (c.a == c.b) return "=";
  if (!(c.a > 0) || !(c.b > 0)) return "";
  return c.b > c.a ? fmt::format("x {:.3g}", c.b / c.a) : fmt::format("/ {:.3g}", c.a / c.b);
}

void source_diff(const DiffOptions& o, const KernelInfo& a, const KernelInfo& b) {
  const auto file = [&](const KernelInfo& kernel) {
    const bool host = kernel.place == Place::kHost;
    return (fs::path(o.source) / "src" / "rungs" / (host ? "host" : "cuda") /
            (std::string(kernel.rung) + (host ? ".cpp" : ".cu")))
        .string();
  };
  std::error_code error;
  if (!fs::exists(file(a), error) || !fs::exists(file(b), error)) {
    fmt::print("no source diff: {} holds no such rungs (--source)\n", o.source);
    return;
  }
  const auto result = tune::run({"diff", "-u", "--label", std::string(a.rung), "--label",
                                 std::string(b.rung), "--", file(a), file(b)},
                                tune::in_seconds(20), interrupted);
  if (!result || result.value().end.status > 1) {
    fmt::print("no source diff: the program diff is missing\n");
    return;
  }
  fmt::print("\n{}", result.value().output);
}

int run(const DiffOptions& o) {
  const KernelInfo &first = one_kernel(o.a, "A"), &second = one_kernel(o.b, "B");
  const bool host = !host_rungs({&first, &second}).empty();
  const Problem problem =
      shape_or(o.shape, host ? make_problem(512, 512, 512) : make_problem(4096, 4096, 4096, 1, 1));
  if (host) {
    const int status = diff_host_rungs(first, second, problem);
    if (!o.no_source) source_diff(o, first, second);
    return status;
  }
  const analyse::Machine machine = selected_machine(o.device, "boost");
  const auto document = measured_rows(o.measured, machine, o.source);
  const Target target = select_target("virtual:h200");
  std::vector<analyse::Explanation> both;
  for (const KernelInfo* kernel : {&first, &second}) {
    auto e = analyse::explain(*kernel, problem, machine, *target.cuda, {});
    if (!e) {
      fmt::print(stderr, "ladder: {}: {}\n", kernel->id, e.status().message());
      return kFailed;
    }
    e.value().measured = measured_of(document, kernel->id, problem, machine);
    both.push_back(std::move(e).value());
  }
  const analyse::Explanation &a = both[0], &b = both[1];
  fmt::print("{} -> {}, {} on {}\n", a.id, b.id, to_string(problem), machine.name);
  for (const std::string& sentence : analyse::why(a, b)) fmt::print("{}\n", sentence);
  print_differences("resources, counts and times", analyse::compare(a, b), a.id, b.id);
  print_differences(fmt::format("hot loop, a thousand {}", analyse::mix_unit(a, b)),
                    analyse::compare_mixes(a, b), a.id, b.id);
  if (!o.no_source) source_diff(o, first, second);
  return kOk;
}

}  // namespace

void print_differences(const std::string& title, const std::vector<analyse::Compare>& rows,
                       std::string_view a, std::string_view b) {
  if (rows.empty()) return;
  const std::size_t width = std::max({std::size_t{20}, a.size() + 2, b.size() + 2});
  fmt::print("\n{:<34}{:>{}}{:>{}}  change\n", title, a, width, b, width);
  for (const analyse::Compare& row : rows)
    fmt::print("  {:<32}{:>{}.6g}{:>{}.6g}  {}\n", row.name, row.a, width, row.b, width,
               change(row));
}

void add_diff(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("diff", "Two kernels side by side, and why they differ");
  auto o = std::make_shared<DiffOptions>();
  verb->add_option("A", o->a, "a rung, by id, rung or number")->required();
  verb->add_option("B", o->b, "another rung of the same place (CUDA or CPU)")->required();
  verb->add_option("--device", o->device, "device to predict for: " + vgpu::known_devices());
  verb->add_option("--shape", o->shape, "MxNxK, or N for a cube; default 4096, for CPU rungs 512");
  verb->add_option("--measured", o->measured,
                   "file of rows with measured times; default results/DEVICE/climb-4096.json");
  verb->add_option("--source", o->source, "the checkout whose sources and results are read");
  verb->add_flag("--no-source", o->no_source, "do not print the difference of the sources");
  verb->footer(
      "Examples:\n  ladder diff r04 r05\n  ladder diff r06 r07 --device a6000 --no-source\n  "
      "ladder diff h03 h04 --no-source");
  verb->callback([&chosen, o] { chosen = [o] { return run(*o); }; });
}

}  // namespace ladder::app
