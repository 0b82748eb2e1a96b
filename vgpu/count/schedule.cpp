// SPDX-License-Identifier: Apache-2.0
#include "count/report.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace vgpu::count {
namespace {

using ir::Loop;
using ir::ScoreboardWait;
using ir::u32;
using ir::u64;

using Place = std::pair<std::string_view, u32>;  // file and line

Place place_of(const ir::Program& program, u32 statement) {
  const ir::Statement& s = program.statements[statement];
  return {s.file, s.line};
}

CodePlace code_place(const ir::Program& program, std::size_t statement) {
  const ir::Statement& s = program.statements[statement];
  return {s.place, std::string(s.text), std::string(s.file), s.line};
}

void add_lines(const ir::Program& program, std::vector<LineReport>& lines) {
  const ir::MachineCode& code = *program.machine_code;
  std::map<Place, LineSchedule> schedules;
  std::size_t end = code.control.size();  // without the padding
  while (end > 0 && program.statements[end - 1].text == "NOP") --end;
  for (u32 at = 0; at < end; ++at) {
    LineSchedule& line = schedules[place_of(program, at)];
    ++line.instructions;
    line.stall_cycles += static_cast<u32>(code.control[at].cycles());
  }
  // An instruction counts once for each line, scoreboard and kind.
  using Cause = std::tuple<Place, std::uint8_t, bool>;
  std::map<std::pair<Place, Cause>, std::vector<u32>> waiters;
  for (const ScoreboardWait& wait : ir::waits_of(code.control, code.ways)) {
    std::vector<u32>& known =
        waiters[{place_of(program, wait.waiter),
                 Cause{place_of(program, wait.setter), wait.scoreboard, wait.for_reads}}];
    if (known.empty() || known.back() != wait.waiter) known.push_back(wait.waiter);
  }
  for (const auto& [key, instructions] : waiters) {
    const auto& [place, scoreboard, for_reads] = key.second;
    schedules[key.first].waits.push_back({std::string(place.first), place.second, scoreboard,
                                          for_reads, static_cast<u32>(instructions.size())});
  }
  for (LineReport& line : lines) {
    if (const auto at = schedules.find({line.file, line.line}); at != schedules.end())
      line.schedule = at->second;
  }
}

// The loop with the most executed instructions. A loop inside is preferred if it has at least half
// of those of the loop around it.
std::optional<Loop> hottest(std::span<const ir::Ways> ways, const std::vector<u64>& executions) {
  std::optional<Loop> best;
  const auto weight = [&](const Loop& loop) {
    u64 sum = 0;
    for (std::size_t at = loop.first; at <= loop.last; ++at) sum += executions[at];
    return sum;
  };
  const std::vector<Loop> loops = ir::loops_of(ways);
  for (u64 least = 1;;) {
    std::optional<Loop> next;
    for (const Loop& loop : loops) {
      const u64 own = weight(loop);
      if ((best && !loop.inside(*best)) || own < least) continue;
      if (!next || own > weight(*next)) next = loop;
    }
    if (!next) return best;
    best = next;
    least = (weight(*best) + 1) / 2;
  }
}

// Cycles for which an instruction of a warp keeps its scheduler's part of a pipe busy: 32 lanes
// over the results per cycle of the CUDA C++ Programming Guide, "Throughput of Native Arithmetic
// Instructions", over four schedulers. 0: no rate is known here.
struct Rates {
  double fma, alu, fp64, xu;
};
Rates rates_of(int target) {
  const bool narrow = target == 75 || target == 80;  // 64 FP32 lanes per SM
  return {narrow ? 2.0 : 1.0, 2, target == 80 ? 4.0 : target == 90 ? 2.0 : 64.0, 8};
}

// L1 and shared memory serve at most 128 bytes per cycle.
double l1_cycles(const InstructionCount& n) {
  constexpr double kSectorsPerCycle = 4;
  const auto wavefronts = [](u64 requests, u64 sectors) {
    return std::max(static_cast<double>(requests), static_cast<double>(sectors) / kSectorsPerCycle);
  };
  if (n.executions == 0) return 0;
  return (static_cast<double>(n.shared_wavefronts) +
          wavefronts(n.global_requests, n.global_sectors) +
          wavefronts(n.local_requests, n.local_sectors)) /
         static_cast<double>(n.executions);
}

// By Nsight Compute's pipes, beside the issue slots and the data that L1 and shared memory move.
std::vector<LoopPipe> pipes_of(const ir::Program& program, const Loop& loop,
                               const std::vector<Instruction>& counted) {
  constexpr double kSchedulers = 4;
  const Rates rates = rates_of(program.attributes.target);
  struct Row {
    const char* name;
    ir::Pipes pipe;
    double cycles;
  };
  // Half of the FMA pipe's lanes are heavy. The LSU takes an instruction of any warp per cycle.
  const Row rows[] = {{"fma", ir::kPipeFma | ir::kPipeFmaHeavy | ir::kPipeFmaLite, rates.fma},
                      {"fmaheavy", ir::kPipeFmaHeavy, 2},
                      {"alu", ir::kPipeAlu, rates.alu},
                      {"fp64", ir::kPipeFp64, rates.fp64},
                      {"xu", ir::kPipeXu, rates.xu},
                      {"lsu", ir::kPipeLsu, kSchedulers},
                      {"adu", ir::kPipeAdu, 0},
                      {"cbu", ir::kPipeCbu, 0},
                      {"tma", ir::kPipeTma, 0},
                      {"uniform", ir::kPipeUniform, 0}};
  std::vector<LoopPipe> pipes{{"issue"}, {"L1 and shared memory"}};
  for (const Row& row : rows) pipes.push_back({row.name});
  const auto take = [&](std::size_t pipe, double cycles) {
    ++pipes[pipe].slots;
    pipes[pipe].cycles += cycles;
  };
  for (const Instruction& i : counted) {
    const std::size_t at = i.place / 16;
    if (at < loop.first || at > loop.last) continue;
    take(0, 1 / kSchedulers);
    if (const double cycles = l1_cycles(i.count); cycles > 0) take(1, cycles);
    for (std::size_t row = 0; row < std::size(rows); ++row) {
      if ((i.what.pipes & rows[row].pipe) != 0) take(row + 2, rows[row].cycles / kSchedulers);
    }
  }
  std::erase_if(pipes, [](const LoopPipe& p) { return p.slots == 0; });
  return pipes;
}

}  // namespace

void report_schedule(const ir::Program& program, const std::vector<Instruction>& counted,
                     LaunchReport& into) {
  const ir::MachineCode& code = *program.machine_code;
  add_lines(program, into.lines);
  std::vector<u64> executions(code.control.size());
  for (const Instruction& i : counted) executions[i.place / 16] = i.count.executions;
  const std::optional<Loop> loop = hottest(code.ways, executions);
  if (!loop) return;
  HotLoop& hot = into.hot_loop.emplace();
  hot.first = program.statements[loop->first].place;
  hot.last = program.statements[loop->last].place;
  hot.iterations = executions[loop->first];
  hot.pipes = pipes_of(program, *loop, counted);
  const auto body = std::span(code.control).subspan(loop->first, loop->size());
  for (const ir::ControlCode& i : body) hot.stall_cycles += static_cast<u32>(i.cycles());
  hot.waits = static_cast<u32>(ir::waits_of_loop(body).size());
  for (const ScoreboardWait& wait : ir::longest_chain(body)) {
    hot.chain.push_back({code_place(program, loop->first + wait.waiter),
                         code_place(program, loop->first + wait.setter), wait.scoreboard,
                         wait.for_reads});
  }
}

}  // namespace vgpu::count
