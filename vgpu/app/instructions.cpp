// SPDX-License-Identifier: Apache-2.0
#include "app/instructions.hpp"

#include <map>
#include <string_view>

#include <fmt/format.h>

#include "count/instruction.hpp"
#include "ptx/lower/classify.hpp"
#include "sass/decode/decode.hpp"
#include "sass/lower/classify.hpp"

namespace vgpu::app {
namespace {

// The class of each mnemonic.
std::map<std::string_view, std::string_view> machine_code() {
  std::map<std::string_view, std::string_view> known;
  for (const sass::Mnemonic& m : sass::mnemonics()) {
    const ir::Class what = sass::class_of(m.op, m.uniform);
    known.try_emplace(m.text, count::to_string(what.operation));
  }
  return known;
}

}  // namespace

std::string list_instructions(bool json) {
  std::string sass, ptx;
  for (const auto& [name, counted] : machine_code()) {
    sass += json ? fmt::format("{}\n    {{\"name\": \"{}\", \"class\": \"{}\"}}",
                               sass.empty() ? "" : ",", name, counted)
                 : fmt::format("  {:24}{}\n", name, counted);
  }
  for (const std::string_view name : ptx::instruction_names()) {
    ptx +=
        json ? fmt::format("{}\"{}\"", ptx.empty() ? "" : ", ", name) : fmt::format("  {}\n", name);
  }
  if (json) return fmt::format("{{\n  \"sass\": [{}\n  ],\n  \"ptx\": [{}]\n}}\n", sass, ptx);
  return fmt::format(
      "Machine code of sm_90, with the class in Nsight Compute's counters:\n{}PTX:\n{}", sass, ptx);
}

}  // namespace vgpu::app
