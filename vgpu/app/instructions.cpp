// SPDX-License-Identifier: Apache-2.0
#include "app/app.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "count/instruction.hpp"
#include "devices/devices.hpp"
#include "ptx/lower/lower.hpp"
#include "sass/decode/decode.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::app {
namespace {

struct Known {
  std::string_view counted;
  std::vector<std::uint16_t> opcodes;
  bool executed = false, measured = false;
};

using List = std::map<std::string_view, Known>;

List machine_code() {
  List known;
  constexpr int kMeasured = 90;  // sm_90
  for (const sass::Mnemonic& m : sass::mnemonics()) {
    if (m.first > kMeasured || m.last < kMeasured) continue;
    Known& row = known[m.text];
    if (row.opcodes.empty())
      row.counted = count::to_string(sass::class_of(m.op, m.uniform).operation);
    row.opcodes.insert(row.opcodes.end(), m.opcodes.begin(), m.opcodes.end());
  }
  return known;
}

List ptx_instructions() {
  List known;
  for (const std::string_view name : ptx::instruction_names()) known[name];
  return known;
}

void cover(List& sass, List& ptx) {
#define COVERED(name, is_measured) \
  sass.at(name).executed = true, sass.at(name).measured = is_measured;
#define COVERED_PTX(name, is_measured) \
  ptx.at(name).executed = true, ptx.at(name).measured = is_measured;
#include "app/coverage.inc"
}

}  // namespace

std::string list_instructions(bool json) {
  List sass_list = machine_code(), ptx_list = ptx_instructions();
  cover(sass_list, ptx_list);
  std::string sass, ptx;
  for (const auto& [name, row] : sass_list) {
    sass += json ? fmt::format(
                       "{}\n    {{\"name\": \"{}\", \"class\": \"{}\", \"executed\": {}, "
                       "\"measured\": {}, \"opcodes\": [{}]}}",
                       sass.empty() ? "" : ",", name, row.counted, row.executed, row.measured,
                       fmt::join(row.opcodes, ", "))
                 : fmt::format("  {:24}{:24}{:12}{}\n", name, row.counted,
                               row.executed ? "executed" : "-", row.measured ? "measured" : "-");
  }
  for (const auto& [name, row] : ptx_list) {
    ptx += json ? fmt::format("{}\n    {{\"name\": \"{}\", \"executed\": {}, \"measured\": {}}}",
                              ptx.empty() ? "" : ",", name, row.executed, row.measured)
                : fmt::format("  {:48}{:12}{}\n", name, row.executed ? "executed" : "-",
                              row.measured ? "measured" : "-");
  }
  if (json) return fmt::format("{{\n  \"sass\": [{}\n  ],\n  \"ptx\": [{}\n  ]\n}}\n", sass, ptx);
  return fmt::format(
      "Machine code of sm_90: the class in Nsight Compute's counters; executed by a test; in a "
      "kernel whose counts were measured on a GPU:\n{}PTX, likewise:\n{}",
      sass, ptx);
}

std::string list_devices(bool json) {
  std::string text;
  for (const Device& device : devices()) {
    const double gib = static_cast<double>(device.memory_bytes) / (1 << 30);
    text += json ? fmt::format("{}\n{}", text.empty() ? "" : ",", device_json(device))
                 : fmt::format("{:12}{:44}sm_{:<5}{:4} SMs {:8.1f} GiB\n", device.id, device.name,
                               device.target(), device.multiprocessors, gib);
  }
  return json ? fmt::format("[{}\n]\n", text) : text;
}

}  // namespace vgpu::app
