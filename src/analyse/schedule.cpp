// SPDX-License-Identifier: Apache-2.0
#include "analyse/schedule.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace ladder::analyse {
namespace {

// Passes over the loop until the scoreboards that one iteration leaves to the next are steady.
constexpr int kPasses = 8;

std::vector<PipeSlots> pipes_of(std::span<const MachineInstruction> loop,
                                std::span<const MemoryCost> costs, const Machine& machine) {
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
      case Kind::kFloat:
        take(kFp32, fp32);
        break;
      case Kind::kImad:
        take(kMad, integer);
        break;
      case Kind::kInteger:
        take(kAlu, integer);
        break;
      case Kind::kLoadShared:
      case Kind::kStoreShared:
      case Kind::kLoadGlobal:
      case Kind::kStoreGlobal:
      case Kind::kAsyncCopy:
      case Kind::kLocal:
        take(kL1, costs[at].pipe);
        break;
      case Kind::kTensor:
      case Kind::kWarpgroup:
        take(kMatrix, 0);
        break;
      case Kind::kCommitCopies:
      case Kind::kWaitCopies:
      case Kind::kMbarrier:
      case Kind::kBarrier:
      case Kind::kBranch:
      case Kind::kExit:
        take(kControl, 0);
        break;
      case Kind::kOther:
        take(kRest, 0);
        break;
    }
  }
  pipes.insert(pipes.begin() + 1, {"register reads", pipes[kIssue].slots, issue_cycles(loop)});
  std::erase_if(pipes, [](const PipeSlots& p) { return p.slots == 0; });
  return pipes;
}

// A wait on a chain, and the wait before it.
struct Link {
  ScoreboardWait wait;
  int pass = 0, depth = 0, before = -1;
};

class Waits {
 public:
  explicit Waits(std::span<const MachineInstruction> loop) : loop_(loop) {
    for (int pass = 0; pass < kPasses; ++pass) {
      for (std::size_t at = 0; at < loop.size(); ++at) issue(pass, at);
    }
  }

  void report(Schedule& schedule) const {
    schedule.waits = waits_;
    for (int at = last_; at >= 0; at = links_[static_cast<std::size_t>(at)].before) {
      const Link& link = links_[static_cast<std::size_t>(at)];
      if (link.pass == kPasses - 1) schedule.chain.push_back(link.wait);
    }
    std::reverse(schedule.chain.begin(), schedule.chain.end());
  }

 private:
  struct Pending {
    std::size_t setter;
    bool for_reads;
    int after;  // the last link of the longest chain before its issue
  };

  int depth_of(int link) const {
    return link < 0 ? 0 : links_[static_cast<std::size_t>(link)].depth;
  }

  void issue(int pass, std::size_t at) {
    const MachineInstruction& i = loop_[at];
    int longest = last_;
    for (std::size_t s = 0; s < pending_.size(); ++s) {
      if ((i.waits >> s & 1) == 0) continue;
      for (const Pending& p : pending_[s]) {
        const ScoreboardWait wait{p.setter, at, p.for_reads};
        if (pass == kPasses - 1) waits_.push_back(wait);
        if (depth_of(p.after) + 1 <= depth_of(longest)) continue;
        links_.push_back({wait, pass, depth_of(p.after) + 1, p.after});
        longest = static_cast<int>(links_.size()) - 1;
      }
      pending_[s].clear();
    }
    last_ = longest;
    if (i.sets_result < kScoreboards) pending_[i.sets_result].push_back({at, false, last_});
    if (i.sets_read < kScoreboards) pending_[i.sets_read].push_back({at, true, last_});
  }

  std::span<const MachineInstruction> loop_;
  std::array<std::vector<Pending>, kScoreboards> pending_;
  std::vector<Link> links_;
  std::vector<ScoreboardWait> waits_;
  int last_ = -1;
};

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
    line.stall += std::max<int>(loop[at].stall, 1);
  }
  std::map<std::size_t, std::set<std::string>> names;  // waiter -> what it waits for
  for (const ScoreboardWait& wait : schedule.waits)
    names[wait.waiter].insert(name_of(loop[wait.setter]) + (wait.for_reads ? " (reads)" : ""));
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
  const auto most =
      std::max_element(pipes.begin(), pipes.end(), [&](const PipeSlots& a, const PipeSlots& b) {
        return a.bound(warps, machine) < b.bound(warps, machine);
      });
  return most == pipes.end() || most->cycles == 0 ? nullptr : &*most;
}

Schedule schedule_of(std::span<const MachineInstruction> loop, std::span<const MemoryCost> costs,
                     std::span<const SourcePlace> places, const Machine& machine) {
  Schedule schedule;
  if (loop.empty() || costs.size() != loop.size()) return schedule;
  schedule.pipes = pipes_of(loop, costs, machine);
  for (const MachineInstruction& i : loop) {
    schedule.stall += std::max<int>(i.stall, 1);
    schedule.barriers += i.kind == Kind::kBarrier ? 1 : 0;
    schedule.copy_waits += i.kind == Kind::kWaitCopies ? 1 : 0;
  }
  Waits(loop).report(schedule);
  add_lines(schedule, loop, places);
  return schedule;
}

}  // namespace ladder::analyse
