// SPDX-License-Identifier: Apache-2.0
#include "app/instructions.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "count/instruction.hpp"
#include "ptx/lower/classify.hpp"
#include "sass/decode/decode.hpp"
#include "sass/lower/classify.hpp"

namespace vgpu::app {
namespace {

struct Known {
  std::string_view counted;
  std::vector<std::uint16_t> opcodes;
  bool executed = false, measured = false;
};

std::map<std::string_view, Known> machine_code() {
  std::map<std::string_view, Known> known;
  for (const sass::Mnemonic& m : sass::mnemonics()) {
    Known& row = known[m.text];
    if (row.opcodes.empty())
      row.counted = count::to_string(sass::class_of(m.op, m.uniform).operation);
    row.opcodes.insert(row.opcodes.end(), m.opcodes.begin(), m.opcodes.end());
  }
#define COVERED(name, is_executed, is_measured) \
  known.at(name).executed = is_executed;        \
  known.at(name).measured = is_measured;
#include "app/coverage.inc"
  return known;
}

}  // namespace

std::string list_instructions(bool json) {
  std::string sass, ptx;
  for (const auto& [name, row] : machine_code()) {
    sass += json ? fmt::format(
                       "{}\n    {{\"name\": \"{}\", \"class\": \"{}\", \"executed\": {}, "
                       "\"measured\": {}, \"opcodes\": [{}]}}",
                       sass.empty() ? "" : ",", name, row.counted, row.executed, row.measured,
                       fmt::join(row.opcodes, ", "))
                 : fmt::format("  {:24}{:18}{:12}{}\n", name, row.counted,
                               row.executed ? "executed" : "-", row.measured ? "measured" : "-");
  }
  for (const std::string_view name : ptx::instruction_names()) {
    ptx +=
        json ? fmt::format("{}\"{}\"", ptx.empty() ? "" : ", ", name) : fmt::format("  {}\n", name);
  }
  if (json) return fmt::format("{{\n  \"sass\": [{}\n  ],\n  \"ptx\": [{}]\n}}\n", sass, ptx);
  return fmt::format(
      "Machine code of sm_90: the class in Nsight Compute's counters; executed by a test; its "
      "counts measured on a GPU:\n{}PTX:\n{}",
      sass, ptx);
}

}  // namespace vgpu::app
