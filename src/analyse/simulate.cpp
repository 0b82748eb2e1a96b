// SPDX-License-Identifier: Apache-2.0
#include "analyse/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace ladder::analyse {
namespace {

constexpr int kNoScoreboard = 7, kNoRegister = 255;
// Cycles of queued register reads per bank that do not yet block the next issue. From runs of eight
// FFMAs with two operands in one bank, measured at 1.88 cycles each.
constexpr double kReadsAhead = 1;
constexpr int kWarmRounds = 3, kRounds = 24;
constexpr double kLongest = 5e7;  // cycles; gives up on damaged code whose loop never ends

// A scheduler's register file: two banks, selected by the register number's parity, each with one
// read per cycle. Operands marked for reuse cost no read.
struct Ports {
  std::array<double, 2> free{};

  double busy_until() const { return std::max(free[0], free[1]); }
  void read(const MachineInstruction& i, std::array<int, 6>& kept, double now) {
    std::array<double, 2> reads{};
    for (std::size_t slot = 0; slot < i.sources.size(); ++slot) {
      const int reg = i.sources[slot];
      if (reg == kNoRegister) continue;
      const auto bank = static_cast<std::size_t>(reg % 2);
      int& place = kept[slot * 2 + bank];
      if (place != reg) ++reads[bank];
      place = (i.reuse >> slot & 1) != 0 ? reg : -1;
    }
    for (std::size_t bank = 0; bank < reads.size(); ++bank)
      free[bank] = std::max(free[bank], now) + reads[bank];
  }
};

struct Warp {
  std::size_t at = 0;  // next instruction
  double ready = 0;    // earliest issue
  bool in_barrier = false;
  int block = 0, rounds = 0;
  std::array<int, kScoreboards> pending{};
  std::array<int, 6> kept{};   // (slot, bank) -> register kept for reuse, by the last FFMA
  std::vector<double> groups;  // completion times of committed asynchronous copy groups
  double open_group = 0;
};

struct Scheduler {
  std::vector<int> warps;
  int last = -1;         // warp that issued last
  std::size_t turn = 0;  // round-robin position
  double ffma_free = 0, integer_free = 0, tensor_free = 0;
  Ports ports;
  double issued = 0, ffma_busy = 0, tensor_busy = 0;
};

struct Completion {
  double time = 0;
  int warp = 0, scoreboard = 0;
  bool operator>(const Completion& other) const { return time > other.time; }
};

class Sm {
 public:
  Sm(std::span<const MachineInstruction> loop, std::span<const MemoryCost> costs,
     const SmLoad& load, const Machine& machine)
      : loop_(loop), costs_(costs), load_(load), machine_(machine) {
    warps_.resize(static_cast<std::size_t>(load.warps_per_block) *
                  static_cast<std::size_t>(load.blocks));
    schedulers_.resize(static_cast<std::size_t>(machine.schedulers));
    arrived_.resize(static_cast<std::size_t>(load.blocks));
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      warps_[w].block = static_cast<int>(w) / load.warps_per_block;
      schedulers_[w % schedulers_.size()].warps.push_back(static_cast<int>(w));
    }
    ffma_cycles_ = kWarp / (static_cast<double>(machine.fp32_lanes) / machine.schedulers);
  }

  SmRound run() {
    const double warps = static_cast<double>(warps_.size());
    SmRound before, round;
    double start = 0, first = 0;
    while (rounds_done_ < warps * (kWarmRounds + kRounds) && now_ < kLongest) {
      step();
      if (start == 0 && rounds_done_ >= warps * kWarmRounds) {
        start = now_;
        first = rounds_done_;
        before = busy();
      }
    }
    const double rounds = (rounds_done_ - first) / load_.warps_per_block;
    if (!(rounds > 0)) return round;
    const SmRound after = busy();
    round.cycles = (now_ - start) / rounds;
    round.issue = (after.issue - before.issue) / rounds;
    round.ffma = (after.ffma - before.ffma) / rounds;
    round.tensor = (after.tensor - before.tensor) / rounds;
    round.l1 = (after.l1 - before.l1) / rounds;
    round.l2 = (after.l2 - before.l2) / rounds;
    return round;
  }

 private:
  // Busy cycles so far; for schedulers, their mean.
  SmRound busy() const {
    SmRound sum;
    for (const Scheduler& s : schedulers_) {
      sum.issue += s.issued;
      sum.ffma += s.ffma_busy;
      sum.tensor += s.tensor_busy;
    }
    const auto count = static_cast<double>(schedulers_.size());
    sum.issue /= count;
    sum.ffma /= count;
    sum.tensor /= count;
    sum.l1 = l1_busy_;
    sum.l2 = l2_busy_;
    return sum;
  }

  void step() {
    while (!completions_.empty() && completions_.top().time <= now_) {
      const Completion done = completions_.top();
      completions_.pop();
      --warps_[static_cast<std::size_t>(done.warp)]
            .pending[static_cast<std::size_t>(done.scoreboard)];
    }
    bool any = false;
    for (Scheduler& scheduler : schedulers_) any |= issue_one(scheduler);
    now_ = any ? now_ + 1 : next_event();
  }

  // If nothing can issue now: the next time at which something may.
  double next_event() const {
    double next = kLongest;
    if (!completions_.empty()) next = completions_.top().time;
    const auto consider = [&](double time) {
      if (time > now_) next = std::min(next, time);
    };
    for (const Warp& warp : warps_) {
      consider(warp.ready);
      for (const double time : warp.groups) consider(time);
    }
    for (const Scheduler& s : schedulers_) {
      consider(s.ffma_free);
      consider(s.integer_free);
      consider(s.tensor_free);
      for (const double time : s.ports.free) consider(time - kReadsAhead);
    }
    return std::max(now_ + 1, std::ceil(next));
  }

  // Greedy, then round-robin: the warp that issued last continues until it stalls.
  bool issue_one(Scheduler& scheduler) {
    if (scheduler.last >= 0 && try_issue(scheduler, scheduler.last)) return true;
    const std::size_t count = scheduler.warps.size();
    for (std::size_t k = 1; k <= count; ++k) {
      const std::size_t turn = (scheduler.turn + k) % count;
      if (!try_issue(scheduler, scheduler.warps[turn])) continue;
      scheduler.turn = turn;
      return true;
    }
    return false;
  }

  bool may_issue(const Scheduler& scheduler, Warp& warp, const MachineInstruction& i) const {
    if (warp.in_barrier || warp.ready > now_) return false;
    for (int s = 0; s < kScoreboards; ++s) {
      if ((i.waits >> s & 1) != 0 && warp.pending[static_cast<std::size_t>(s)] > 0) return false;
    }
    if (i.kind == Kind::kWaitCopies) {
      std::erase_if(warp.groups, [this](double time) { return time <= now_; });
      if (static_cast<int>(warp.groups.size()) > i.copies_left) return false;
    }
    // The register reads of the preceding multiply-adds are still queued.
    if (scheduler.ports.busy_until() > now_ + kReadsAhead) return false;
    if (i.kind == Kind::kTensor) return scheduler.tensor_free <= now_;
    if (i.kind == Kind::kFfma || i.kind == Kind::kFloat) return scheduler.ffma_free <= now_;
    if (i.kind == Kind::kImad || i.kind == Kind::kInteger) return scheduler.integer_free <= now_;
    return true;
  }

  bool try_issue(Scheduler& scheduler, int w) {
    Warp& warp = warps_[static_cast<std::size_t>(w)];
    const MachineInstruction& i = loop_[warp.at];
    if (!may_issue(scheduler, warp, i)) return false;
    ++scheduler.issued;
    warp.ready = now_ + std::max<double>(i.stall, 1);
    if (i.kind == Kind::kFfma) {
      // another warp's operands replaced the kept ones
      if (scheduler.last != w) warp.kept.fill(-1);
      scheduler.ports.read(i, warp.kept, now_);
    }
    if (i.kind == Kind::kFfma || i.kind == Kind::kFloat) {
      scheduler.ffma_free = now_ + ffma_cycles_;
      scheduler.ffma_busy += ffma_cycles_;
    }
    if (i.kind == Kind::kTensor) {
      scheduler.tensor_free = now_ + load_.tensor_cycles;
      scheduler.tensor_busy += load_.tensor_cycles;
    }
    if (i.kind == Kind::kImad || i.kind == Kind::kInteger)
      scheduler.integer_free = now_ + kWarp / kIntegerLanes;
    scheduler.last = w;
    access_memory(warp, w, i, costs_[warp.at]);
    if (i.kind == Kind::kCommitCopies) {
      warp.groups.push_back(warp.open_group);
      warp.open_group = 0;
    }
    if (i.kind == Kind::kBarrier) arrive(warp);
    if (++warp.at == loop_.size()) {
      warp.at = 0;
      ++warp.rounds;
      ++rounds_done_;
    }
    return true;
  }

  void arrive(Warp& warp) {
    warp.in_barrier = true;
    int& count = arrived_[static_cast<std::size_t>(warp.block)];
    if (++count < load_.warps_per_block) return;
    count = 0;
    for (Warp& other : warps_) {
      if (other.block != warp.block) continue;
      other.in_barrier = false;
      other.ready = std::max(other.ready, now_ + 1);
    }
  }

  void access_memory(Warp& warp, int w, const MachineInstruction& i, const MemoryCost& cost) {
    const bool shared = i.kind == Kind::kLoadShared || i.kind == Kind::kStoreShared;
    const bool load =
        i.kind == Kind::kLoadShared || i.kind == Kind::kLoadGlobal || i.kind == Kind::kAsyncCopy;
    double done = now_ + 1, read = now_ + 1;
    if (shared || load || i.kind == Kind::kStoreGlobal || i.kind == Kind::kLocal) {
      const double start = std::max(l1_free_, now_);
      l1_free_ = start + cost.pipe;
      l1_busy_ += cost.pipe;
      read = l1_free_;
      done = l1_free_ - 1 + (shared ? machine_.shared_latency : global_latency(cost));
      if (i.kind == Kind::kAsyncCopy) warp.open_group = std::max(warp.open_group, done);
    } else if (i.sets_result != kNoScoreboard) {
      // Constants and special registers: assumed equal to a shared load.
      done = now_ + machine_.shared_latency;
    }
    if (i.sets_result < kScoreboards) wait_for(warp, w, i.sets_result, done);
    if (i.sets_read < kScoreboards) wait_for(warp, w, i.sets_read, read);
  }

  // Distributes L1 misses evenly over the requests, according to the hit rate.
  double global_latency(const MemoryCost& cost) {
    misses_ += 1 - load_.l1_hits;
    if (misses_ < 1) return machine_.l1_latency;
    misses_ -= 1;
    const double transfer = cost.sectors * kBytesPerSector / machine_.l2_bytes_per_cycle;
    const double start = std::max(l2_free_, l1_free_);
    l2_free_ = start + transfer;
    l2_busy_ += transfer;
    far_ += load_.from_memory;
    const bool far = far_ >= 1;
    if (far) far_ -= 1;
    return l2_free_ - l1_free_ + (far ? machine_.memory_latency : machine_.l2_latency);
  }

  void wait_for(Warp& warp, int w, int scoreboard, double until) {
    ++warp.pending[static_cast<std::size_t>(scoreboard)];
    completions_.push({until, w, scoreboard});
  }

  std::span<const MachineInstruction> loop_;
  std::span<const MemoryCost> costs_;
  const SmLoad& load_;
  const Machine& machine_;
  double ffma_cycles_ = 1;
  std::vector<Warp> warps_;
  std::vector<Scheduler> schedulers_;
  std::vector<int> arrived_;
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> completions_;
  double now_ = 0, rounds_done_ = 0;
  double l1_free_ = 0, l1_busy_ = 0, l2_free_ = 0, l2_busy_ = 0;
  double misses_ = 0, far_ = 0;
};

}  // namespace

double issue_cycles(std::span<const MachineInstruction> loop) {
  Ports ports;
  std::array<int, 6> kept{};
  kept.fill(-1);
  double now = 0;
  for (const MachineInstruction& i : loop) {
    now = std::max(now + 1, ports.busy_until() - kReadsAhead);
    if (i.kind == Kind::kFfma) ports.read(i, kept, now);
  }
  return now;
}

SmRound simulate(std::span<const MachineInstruction> loop, std::span<const MemoryCost> costs,
                 const SmLoad& load, const Machine& machine) {
  if (loop.empty() || costs.size() != loop.size() || load.warps_per_block <= 0 || load.blocks <= 0)
    return {};
  return Sm(loop, costs, load, machine).run();
}

}  // namespace ladder::analyse
