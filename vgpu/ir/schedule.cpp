// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule.hpp"

#include <algorithm>
#include <array>

namespace vgpu::ir {
namespace {

// Passes over a loop until the scoreboards that one iteration leaves to the next are steady.
constexpr int kPasses = 8;

// By scoreboard: the instructions that have set it since it was last waited for, in order, twice
// their index, plus 1 where their operands are read.
using Pending = std::array<std::vector<std::uint32_t>, kScoreboards>;

void insert(std::vector<std::uint32_t>& sorted, std::uint32_t value) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (at == sorted.end() || *at != value) sorted.insert(at, value);
}

void issue(Pending& pending, const ControlCode& i, std::uint32_t at) {
  for (std::size_t s = 0; s < pending.size(); ++s) {
    if ((i.waits >> s & 1) != 0) pending[s].clear();
  }
  if (i.sets_result < kScoreboards) insert(pending[i.sets_result], 2 * at);
  if (i.sets_read < kScoreboards) insert(pending[i.sets_read], 2 * at + 1);
}

// Adds `from` to `to`; returns whether `to` has grown.
bool merge(Pending& to, const Pending& from) {
  bool grown = false;
  for (std::size_t s = 0; s < to.size(); ++s) {
    const std::size_t before = to[s].size();
    for (const std::uint32_t value : from[s]) insert(to[s], value);
    grown |= to[s].size() != before;
  }
  return grown;
}

// A wait on a chain, and the wait before it.
struct Link {
  ScoreboardWait wait;
  int pass = 0, depth = 0, before = -1;
};

class Chains {
 public:
  explicit Chains(std::span<const ControlCode> loop) {
    for (int pass = 0; pass < kPasses; ++pass) {
      for (std::size_t at = 0; at < loop.size(); ++at)
        issue(pass, loop[at], static_cast<std::uint32_t>(at));
    }
  }

  std::vector<ScoreboardWait> longest() const {
    std::vector<ScoreboardWait> chain;
    for (int at = last_; at >= 0; at = links_[static_cast<std::size_t>(at)].before) {
      const Link& link = links_[static_cast<std::size_t>(at)];
      if (link.pass == kPasses - 1) chain.push_back(link.wait);
    }
    std::ranges::reverse(chain);
    return chain;
  }

 private:
  struct Set {
    std::uint32_t setter;
    bool for_reads;
    int after;  // the last link of the longest chain before its issue
  };

  int depth_of(int link) const {
    return link < 0 ? 0 : links_[static_cast<std::size_t>(link)].depth;
  }

  void issue(int pass, const ControlCode& i, std::uint32_t at) {
    int longest = last_;
    for (std::size_t s = 0; s < pending_.size(); ++s) {
      if ((i.waits >> s & 1) == 0) continue;
      for (const Set& set : pending_[s]) {
        if (depth_of(set.after) + 1 <= depth_of(longest)) continue;
        const ScoreboardWait wait{set.setter, at, static_cast<std::uint8_t>(s), set.for_reads};
        links_.push_back({wait, pass, depth_of(set.after) + 1, set.after});
        longest = static_cast<int>(links_.size()) - 1;
      }
      pending_[s].clear();
    }
    last_ = longest;
    if (i.sets_result < kScoreboards) pending_[i.sets_result].push_back({at, false, last_});
    if (i.sets_read < kScoreboards) pending_[i.sets_read].push_back({at, true, last_});
  }

  std::array<std::vector<Set>, kScoreboards> pending_;
  std::vector<Link> links_;
  int last_ = -1;
};

}  // namespace

std::vector<ScoreboardWait> waits_of(std::span<const ControlCode> code,
                                     std::span<const Ways> ways) {
  std::vector<Pending> before(code.size());  // by instruction
  std::vector<bool> reached(code.size());
  std::vector<std::size_t> open;
  const auto flow = [&](const Pending& state, std::size_t to) {
    if (to >= code.size()) return;
    if (!merge(before[to], state) && reached[to]) return;
    reached[to] = true;
    open.push_back(to);
  };
  // The first instruction; then what only calls and computed jumps reach.
  for (std::size_t entry = 0; entry < code.size(); ++entry) {
    if (reached[entry]) continue;
    flow({}, entry);
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      Pending state = before[at];
      issue(state, code[at], static_cast<std::uint32_t>(at));
      if (ways[at].jump >= 0) flow(state, static_cast<std::size_t>(ways[at].jump));
      if (ways[at].next) flow(state, at + 1);
    }
  }
  std::vector<ScoreboardWait> waits;
  for (std::uint32_t at = 0; at < code.size(); ++at) {
    for (std::uint8_t s = 0; s < kScoreboards; ++s) {
      if ((code[at].waits >> s & 1) == 0) continue;
      for (const std::uint32_t set : before[at][s]) waits.push_back({set / 2, at, s, set % 2 != 0});
    }
  }
  return waits;
}

std::vector<ScoreboardWait> waits_of_loop(std::span<const ControlCode> loop) {
  std::vector<Ways> ways(loop.size());
  if (!ways.empty()) ways.back().jump = 0;
  return waits_of(loop, ways);
}

std::vector<ScoreboardWait> longest_chain(std::span<const ControlCode> loop) {
  return Chains(loop).longest();
}

bool reachable(std::span<const Ways> program, std::size_t to, std::size_t without) {
  std::vector<bool> seen(program.size());
  std::vector<std::size_t> open;
  const auto visit = [&](std::size_t at) {
    if (at >= program.size() || at == without || seen[at]) return;
    seen[at] = true;
    open.push_back(at);
  };
  visit(0);
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at == to) return true;
    if (program[at].jump >= 0) visit(static_cast<std::size_t>(program[at].jump));
    if (program[at].next) visit(at + 1);
  }
  return false;
}

std::vector<Loop> loops_of(std::span<const Ways> program) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const std::ptrdiff_t head = program[i].jump;
    if (head < 0 || head >= static_cast<std::ptrdiff_t>(i)) continue;
    const Loop loop{static_cast<std::size_t>(head), i};
    if (!reachable(program, loop.last, loop.first)) loops.push_back(loop);
  }
  return loops;
}

}  // namespace vgpu::ir
