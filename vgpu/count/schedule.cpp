// SPDX-License-Identifier: Apache-2.0
#include "count/schedule.hpp"

#include <algorithm>
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

// The pipes whose use follows from an instruction's class, and their rates: CUDA C++ Programming
// Guide, "Throughput of Native Arithmetic Instructions". L1 and shared memory serve at most 128
// bytes per cycle.
std::vector<LoopPipe> pipes_of(const ir::Program& program, const Loop& loop,
                               const std::vector<Instruction>& counted) {
  constexpr double kSchedulers = 4, kSectorsPerCycle = 4;
  const int target = program.attributes.target;
  const double fp32 = target == 75 || target == 80 ? 2 : 1;
  const double fp64 = target == 80 ? 4 : target == 90 ? 2 : 64;
  std::vector<LoopPipe> pipes{{"issue"}, {"FP32"}, {"FP64"}, {"L1/shared"}};
  const auto take = [&](std::size_t pipe, double cycles) {
    ++pipes[pipe].slots;
    pipes[pipe].cycles += cycles;
  };
  for (const Instruction& i : counted) {
    const std::size_t at = i.place / 16;
    if (at < loop.first || at > loop.last) continue;
    take(0, 1 / kSchedulers);
    switch (i.what.operation) {
      case Operation::kFadd:
      case Operation::kFmul:
      case Operation::kFfma:
        take(1, fp32 / kSchedulers);
        break;
      case Operation::kDadd:
      case Operation::kDmul:
      case Operation::kDfma:
        take(2, fp64 / kSchedulers);
        break;
      default:
        break;
    }
    const InstructionCount& n = i.count;
    if (n.executions == 0 || n.global_requests + n.shared_requests + n.local_requests == 0)
      continue;
    const auto wavefronts = [](u64 requests, u64 sectors) {
      return std::max(static_cast<double>(requests),
                      static_cast<double>(sectors) / kSectorsPerCycle);
    };
    take(3, (static_cast<double>(n.shared_wavefronts) +
             wavefronts(n.global_requests, n.global_sectors) +
             wavefronts(n.local_requests, n.local_sectors)) /
                static_cast<double>(n.executions));
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
