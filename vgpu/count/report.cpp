// SPDX-License-Identifier: Apache-2.0
// Computes metrics from the instructions' counts, per launch and per source line.
#include "count/report.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "count/metrics.hpp"

namespace vgpu::count {
namespace {

bool is_exact(const Metric& metric, bool machine_code, Doubts doubts) {
  const Doubts unless = machine_code ? metric.unless_sass : metric.unless_ptx;
  return unless != kAlways && ((unless | kCalledDriver | kOrderOfWarps) & doubts) == 0;
}

using Values = std::vector<std::uint64_t>;  // by index into metrics()

void add(Values& values, const Instruction& instruction) {
  const auto table = metrics();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Metric& m = table[i];
    if (m.share == nullptr || !m.operations.has(instruction.what.operation) ||
        !m.spaces.has(instruction.what.space)) {
      continue;
    }
    values[i] += m.share(instruction);
  }
}

// Writes the values; for a source line only the nonzero ones.
void write(const Values& values, bool machine_code, Doubts doubts, bool zeros, Metrics& exact,
           Metrics& estimates) {
  const auto table = metrics();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].share == nullptr || (values[i] == 0 && !zeros)) continue;
    (is_exact(table[i], machine_code, doubts) ? exact : estimates)[std::string(table[i].name)] =
        values[i];
  }
}

// Metrics of a launch's warps, by bits of observer::Role.
constexpr std::array<const char*, observer::kRoles> kWarpsOfRole = {
    "vgpu__warps_other.sum", "vgpu__warps_producer.sum", "vgpu__warps_consumer.sum",
    "vgpu__warps_producer_and_consumer.sum"};

InstructionReport trace_of(const Instruction& instruction) {
  InstructionReport report;
  report.text = instruction.text;
  report.place = instruction.place;
  report.file = instruction.file;
  report.line = instruction.line;
  report.operation = to_string(instruction.what.operation);
  const InstructionCount& count = instruction.count;
  report.executions = count.executions;
  report.lanes = count.lanes;
  report.global_requests = count.global_requests;
  report.global_sectors = count.global_sectors;
  report.shared_requests = count.shared_requests;
  report.shared_wavefronts = count.shared_wavefronts;
  if (instruction.sample != nullptr) report.sample = *instruction.sample;
  return report;
}

}  // namespace

const char* to_string(Operation operation) {
  static constexpr const char* kNames[] = {
#define COUNTED(name, text, pipes) text,
#include "ir/counter_class.def"
  };
  return kNames[static_cast<std::size_t>(operation)];
}

void report(const ir::Program& program, const observer::Counters& counters,
            const LaunchConfig& config, LaunchReport& into) {
  const bool machine_code = program.machine_code.has_value();
  const Doubts doubts = count::doubts(program, counters) | (into.raced ? kOrderOfWarps : kNever);
  const std::size_t n = metrics().size();
  Values total(n);
  std::map<std::pair<std::string_view, std::uint32_t>, Values> lines;
  into.lane_instructions = 0;
  const std::vector<Instruction> counted = instructions(program, counters);
  for (const Instruction& instruction : counted) {
    // In PTX some instructions count by the accesses of helpers alone.
    const InstructionCount& count = instruction.count;
    if (count.executions + count.global_requests + count.shared_requests + count.local_requests +
            count.shared_bytes ==
        0)
      continue;
    add(total, instruction);
    into.lane_instructions += count.lanes;
    if (config.trace) into.instructions.push_back(trace_of(instruction));
    if (!config.count_lines || instruction.file.empty() || count.executions == 0) continue;
    add(lines.try_emplace({instruction.file, instruction.line}, n).first->second, instruction);
  }
  into.engine = machine_code ? "sass" : "ptx";
  into.exact["launch__grid_size"] = config.grid.count();
  into.exact["launch__block_size"] = config.block.count();
  for (std::size_t role = 0; role < observer::kRoles; ++role)
    into.exact[kWarpsOfRole[role]] = counters.roles[role];
  write(total, machine_code, doubts, true, into.exact, into.estimates);
  for (const auto& [place, values] : lines) {
    LineReport& line = into.lines.emplace_back();
    line.file = place.first;
    line.line = place.second;
    write(values, machine_code, doubts, false, line.exact, line.estimates);
  }
  if (config.count_lines && machine_code) report_schedule(program, counted, into);
}

void mark_unmeasured(int architecture, LaunchReport& report) {
  constexpr int kMeasured = 90;
  if (architecture == kMeasured) return;
  report.unmeasured = fmt::format("sm_{}", architecture);
  const bool machine_code = report.engine == "sass";
  const auto mark = [&](Metrics& exact, Metrics& estimates) {
    for (const Metric& metric : metrics()) {
      if (is_exact(metric, machine_code, kOtherArchitecture)) continue;
      if (auto value = exact.extract(std::string(metric.name))) estimates.insert(std::move(value));
    }
  };
  mark(report.exact, report.estimates);
  for (LineReport& line : report.lines) mark(line.exact, line.estimates);
}

}  // namespace vgpu::count
