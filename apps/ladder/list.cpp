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

std::string capability(int cc) { return cc == 0 ? "-" : fmt::format("{}.{}", cc / 10, cc % 10); }

int print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const KernelInfo& k : kernels()) {
    all.push_back({{"id", k.id},
                   {"rung", k.rung},
                   {"idea", k.idea},
                   {"place", to_string(k.place)},
                   {"role", to_string(k.role)},
                   {"precision", to_string(k.precision)},
                   {"in", to_string(k.in)},
                   {"out", to_string(k.out)},
                   {"min_compute_capability", k.min_cc}});
  }
  fmt::print("{}\n", json_text(all, 1));
  return kOk;
}

int print_table() {
  constexpr const char* kLine = "{:<20}  {:<8}  {:<5}  {:<9}  {:<4}  {:<4}  {:>6}  {}\n";
  fmt::print(kLine, "kernel", "role", "place", "precision", "in", "out", "min cc", "idea");
  for (const KernelInfo& k : kernels()) {
    fmt::print(kLine, k.id, to_string(k.role), to_string(k.place), to_string(k.precision),
               to_string(k.in), to_string(k.out), capability(k.min_cc), k.idea);
  }
  return kOk;
}

}  // namespace

void add_list(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("list", "The kernels that there are");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "as JSON");
  verb->footer("Examples:\n  ladder list\n  ladder list --json");
  verb->callback(
      [&chosen, json] { chosen = [json] { return *json ? print_json() : print_table(); }; });
}

}  // namespace ladder::app
