// SPDX-License-Identifier: Apache-2.0
#include "analyse/schedule.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ladder::analyse {
namespace {

std::vector<PipeSlots> pipes_of(std::span<const MachineInstruction> loop,
                                std::span<const MemoryCost> costs, const Machine& machine,
                                double tensor_cycles) {
  const double fp32 = kWarp * machine.schedulers / static_cast<double>(machine.fp32_lanes);
  const double integer = kWarp / kIntegerLanes;
  enum Index : std::size_t { kIssue, kFp32, kMad, kAlu, kL1, kMatrix, kControl, kRest };
  std::vector<PipeSlots> pipes{{"issue"},     {"FP32"},   {"integer MAD"}, {"integer ALU"},
                               {"L1/shared"}, {"tensor"}, {"control"},     {"other"}};
  pipes[kL1].per_sm = true;
  const auto take = [&](Index pipe, double cycles) {
    ++pipes[pipe].slots;
    pipes[pipe].cycles += cycles;
  };
  for (std::size_t at = 0; at < loop.size(); ++at) {
    take(kIssue, 1);
    switch (loop[at].kind) {
      case Kind::kFfma:
      case Kind::kFloat: take(kFp32, fp32); break;
      case Kind::kImad: take(kMad, integer); break;
      case Kind::kInteger: take(kAlu, integer); break;
      case Kind::kLoadShared:
      case Kind::kStoreShared:
      case Kind::kLoadGlobal:
      case Kind::kStoreGlobal:
      case Kind::kAsyncCopy:
      case Kind::kLocal: take(kL1, costs[at].pipe); break;
      case Kind::kTensor:
      case Kind::kWarpgroup: take(kMatrix, tensor_cycles); break;
      case Kind::kCommitCopies:
      case Kind::kWaitCopies:
      case Kind::kMbarrier:
      case Kind::kBarrier:
      case Kind::kBranch:
      case Kind::kExit: take(kControl, 0); break;
      case Kind::kOther: take(kRest, 0); break;
    }
  }
  pipes.insert(pipes.begin() + 1, {"register reads", pipes[kIssue].slots, issue_cycles(loop)});
  std::erase_if(pipes, [](const PipeSlots& p) { return p.slots == 0; });
  return pipes;
}

void add_lines(Schedule& schedule, std::span<const MachineInstruction> loop,
               std::span<const SourcePlace> places) {
  if (places.size() != loop.size()) return;
  std::map<std::pair<std::string, std::uint32_t>, LineSchedule> lines;
  const auto line_of = [&](std::size_t at) -> LineSchedule& {
    return lines[{places[at].file, places[at].line}];
  };
  for (std::size_t at = 0; at < loop.size(); ++at) {
    LineSchedule& line = line_of(at);
    line.file = places[at].file;
    line.line = places[at].line;
    ++line.slots;
    line.stall += loop[at].cycles();
  }
  std::map<std::size_t, std::set<std::string>> names;  // waiter -> what it waits for
  for (const ScoreboardWait& wait : schedule.waits)
    names[wait.waiter].insert(mnemonic_of(loop[wait.setter]) + (wait.for_reads ? " (reads)" : ""));
  for (const auto& [waiter, setters] : names) {
    LineSchedule& line = line_of(waiter);
    ++line.waits;
    for (const std::string& name : setters) ++line.waits_for[name];
  }
  for (auto& [place, line] : lines) schedule.lines.push_back(std::move(line));
}

}  // namespace

double PipeSlots::bound(int warps, const Machine& machine) const {
  return cycles * warps / (per_sm ? 1 : machine.schedulers);
}

const PipeSlots* Schedule::binding(int warps, const Machine& machine) const {
  const auto most = std::ranges::max_element(pipes, [&](const PipeSlots& a, const PipeSlots& b) {
    return a.bound(warps, machine) < b.bound(warps, machine);
  });
  return most == pipes.end() || most->cycles == 0 ? nullptr : &*most;
}

Schedule schedule_of(std::span<const MachineInstruction> loop, std::span<const MemoryCost> costs,
                     std::span<const SourcePlace> places, const Machine& machine,
                     double tensor_cycles) {
  Schedule schedule;
  if (loop.empty() || costs.size() != loop.size()) return schedule;
  schedule.pipes = pipes_of(loop, costs, machine, tensor_cycles);
  for (const MachineInstruction& i : loop) {
    schedule.stall += i.cycles();
    schedule.barriers += i.kind == Kind::kBarrier ? 1 : 0;
    schedule.copy_waits += i.kind == Kind::kWaitCopies ? 1 : 0;
  }
  const std::vector<vgpu::ir::ControlCode> control(loop.begin(), loop.end());
  schedule.waits = vgpu::ir::waits_of_loop(control);
  schedule.chain = vgpu::ir::longest_chain(control);
  add_lines(schedule, loop, places);
  return schedule;
}

}  // namespace ladder::analyse
