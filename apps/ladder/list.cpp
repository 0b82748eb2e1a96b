// SPDX-License-Identifier: Apache-2.0
// ladder list: the registry, for people or programs.
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <memory>
#include <nlohmann/json.hpp>

#include "common.hpp"
#include "report/json_text.hpp"

namespace ladder::app {
namespace {

// The last compute capability of GPUs that it accepts; 0: it accepts later ones, too.
int last_capability(const KernelInfo& kernel) {
  constexpr int kSide = 64;
  constexpr int kLater[] = {100, 103, 110, 120, 121};
  const Problem problem = in_types_of(kernel, make_problem(kSide, kSide, kSide));
  for (const int cc : kLater) {
    const Device device{.name = "a later GPU", .has_cuda = true, .cc = cc, .sm_count = 1};
    if (accepts(kernel, problem, device)) return 0;
  }
  return kernel.min_cc;
}

// "8.0+", "9.0"
std::string capability(const KernelInfo& kernel) {
  if (kernel.min_cc == 0) return "-";
  return fmt::format("{}.{}{}", kernel.min_cc / 10, kernel.min_cc % 10,
                     last_capability(kernel) == 0 ? "+" : "");
}

int print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  using json_type = nlohmann::ordered_json;
  for (const KernelInfo& k : kernels()) {
    const int last = k.min_cc == 0 ? 0 : last_capability(k);
    all.push_back({{"id", k.id},
                   {"rung", k.rung},
                   {"idea", k.idea},
                   {"place", to_string(k.place)},
                   {"role", to_string(k.role)},
                   {"precision", to_string(k.precision)},
                   {"in", to_string(k.in)},
                   {"out", to_string(k.out)},
                   {"min_compute_capability", k.min_cc},
                   {"max_compute_capability", last > 0 ? json_type(last) : json_type()}});
  }
  fmt::print("{}\n", json_text(all, 1));
  return kOk;
}

int print_table() {
  constexpr const char* kLine = "{:<29}  {:<14}  {:<5}  {:<9}  {:<4}  {:<4}  {:>6}  {}\n";
  fmt::print(kLine, "kernel", "role", "place", "precision", "in", "out", "cc", "idea");
  for (const KernelInfo& k : kernels()) {
    fmt::print(kLine, k.id, to_string(k.role), to_string(k.place), to_string(k.precision),
               to_string(k.in), to_string(k.out), capability(k), k.idea);
  }
  return kOk;
}

}  // namespace

void add_list(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("list", "The kernels that there are");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "print JSON");
  verb->footer("Examples:\n  ladder list\n  ladder list --json");
  verb->callback(
      [&chosen, json] { chosen = [json] { return *json ? print_json() : print_table(); }; });
}

}  // namespace ladder::app
