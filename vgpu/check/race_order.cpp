// SPDX-License-Identifier: Apache-2.0
// What orders accesses: the vector clocks, and the barriers, waits and fences that advance them.
#include <algorithm>

#include "check/race_state.hpp"

namespace vgpu::check {
namespace {

// If a cluster would start with a greater clock, the history is cleared and clocks restart at 0.
constexpr u32 kLastClock = 1u << 31;

void raise(std::vector<u32>& to, const std::vector<u32>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

void RaceCheck::start() {
  State& s = *state_;
  u32 past = s.past + s.last_epoch;
  for (u32 w = 0; w < s.warps; ++w) {
    if (!s.known[w].empty()) past = std::max(past, s.known[w][w]);
  }
  s.past = past;
  s.last_epoch = 0;
  if (s.past > kLastClock) {
    s.past = 0;
    for (BlockMemory& memory : s.memories) memory.forget();
  }
  s.epochs.clear();
  s.seen_epochs.assign(s.warps, 0);
  ++changes_;
  s.agents.clear();
  s.by_name.clear();
  s.copiers.clear();
  fenced_ = false;
  s.transferred.clear();
  for (u32 w = 0; w < s.warps; ++w) {
    s.released[w].clear();
    s.acquired[w].clear();
  }
  for (BlockMemory& memory : s.memories) memory.async_reads.clear();
  for (u32 w = 0; w < s.warps; ++w) {
    s.known[w].assign(s.first_agent(), s.past);
    s.known[w][w] = s.past + 1;
  }
  for (u32 w = 0; w < s.warps; ++w) s.update_oldest(w);
}

void RaceCheck::State::update_oldest(u32 warp) {
  const std::vector<u32>& row = known[warp];
  u32 least = row[warp];
  for (u32 v = 0; v < warps; ++v) least = v == warp ? least : std::min(least, row[v]);
  oldest[warp] = least;
  oldest_async[warp] = oldest_agent(row);
}

u32 RaceCheck::State::oldest_agent(const std::vector<u32>& row) const {
  u32 least = ~0u;
  for (std::size_t a = first_agent(); a < row.size(); ++a) least = std::min(least, row[a]);
  return least;
}

void RaceCheck::State::join(u32 warp, const std::vector<u32>& clocks) {
  if (clocks.empty()) return;
  raise(known[warp], clocks);
  update_oldest(warp);
}

u32 RaceCheck::State::agent_of(const AgentName& name) {
  if (name.kind == AgentKind::kCopies) {
    if (copiers.empty()) copiers.resize(u64{warps} * ir::kLanes);
    u32& index = copiers[name.owner * ir::kLanes + name.place];
    if (index == 0) index = new_agent(name);
    return index;
  }
  constexpr u32 kKindAt = 60, kOwnerAt = 32;
  const u64 key =
      u64{static_cast<u32>(name.kind)} << kKindAt | u64{name.owner} << kOwnerAt | name.place;
  const auto [found, added] = by_name.try_emplace(key, 0);
  if (added) found->second = new_agent(name);
  return found->second;
}

u32 RaceCheck::State::new_agent(const AgentName& name) {
  agents.push_back(name);
  for (u32 w = 0; w < warps; ++w) {
    known[w].push_back(past);
    oldest_async[w] = past;
  }
  return first_agent() + static_cast<u32>(agents.size()) - 1;
}

void RaceCheck::barrier(const observer::Block& block, const u32* arrived, u32 waited) {
  State& s = *state_;
  const u32 base = block.rank * s.block_warps;
  std::vector<u32>& joined = s.joined;
  joined.clear();
  for (u32 w = 0; w < s.block_warps; ++w) {
    if (arrived[w] != 0) raise(joined, s.known[base + w]);
  }
  // Warps that arrived and waited know what all of them know.
  u32 least = 0;  // the warp with the least clock there
  for (u32 w = 1; w < s.warps && !joined.empty(); ++w)
    least = joined[w] < joined[least] ? w : least;
  const u32 oldest_async = joined.empty() ? 0 : s.oldest_agent(joined);
  for (u32 w = 0; w < s.block_warps; ++w) {
    const u32 warp = base + w;
    const bool waits = (waited >> w & 1) != 0;
    if (waits && arrived[w] != 0)
      s.known[warp] = joined;
    else if (waits)
      raise(s.known[warp], joined);
    if (arrived[w] != 0) s.tick(warp);
    if (waits && arrived[w] != 0 && warp != least) {
      s.oldest[warp] = std::min(joined[least], s.known[warp][warp]);
      s.oldest_async[warp] = oldest_async;
    } else {
      s.update_oldest(warp);
    }
  }
  ++changes_;
}

void RaceCheck::copies_landed(const observer::Warp& warp, u32 mask, const u32* epochs) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  for (const u32 lane : ir::SetBits(mask)) {
    const u32 of = agent(AgentKind::kCopies, warp, lane).index;
    u32& seen = s.known[me][of];
    seen = std::max(seen, s.past + epochs[lane]);
  }
  s.update_oldest(me);
}

RaceCheck::Made RaceCheck::made(const observer::Warp& warp, const ir::Insn& insn) const {
  const u32 me = state_->index_of(warp);
  return {me, state_->known[me][me], static_cast<u32>(&insn - warp.code)};
}

void RaceCheck::use(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                    const SharedRange& where, const Made& made) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  if (me == made.warp || s.known[me][made.warp] >= made.clock) return;
  if (s.known[me][2 * s.warps + made.warp] >= made.clock) return;
  s.report({warp, insn, lane, me, {}, where.block->rank, false, {}}, made.warp,
           {made.clock, made.pc << 5}, true, (where.offset - s.begin) / 4);
}

void RaceCheck::arrive(const observer::Warp& warp, PhaseClock& clock) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  raise(clock.arriving, s.known[me]);
  s.tick(me);
  ++changes_;
}

void RaceCheck::copies_arrive(const observer::Warp& warp, u32 mask, const u32* epochs,
                              PhaseClock& clock) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  std::vector<u32> handed = s.known[me];
  handed[me] = 0;
  raise(clock.arriving, handed);
  for (const u32 lane : ir::SetBits(mask))
    tells(clock, agent(AgentKind::kCopies, warp, lane), epochs[lane]);
}

void RaceCheck::complete(PhaseClock& clock) {
  raise(clock.completed, clock.arriving);
  std::ranges::fill(clock.arriving, 0);
}

void RaceCheck::wait(const observer::Warp& warp, const PhaseClock& clock) {
  state_->join(state_->index_of(warp), clock.completed);
  ++changes_;
}

void RaceCheck::fence(const observer::Warp& warp) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  fenced_ = true;
  s.join(me, s.acquired[me]);
  s.acquired[me].clear();
  s.released[me] = s.known[me];
  s.tick(me);
  ++changes_;
}

void RaceCheck::strong(const observer::Warp& warp, u64 location, bool reads, bool writes) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  if (reads) {
    if (const auto found = s.transferred.find(location); found != s.transferred.end()) {
      if (s.program.machine_code) {
        s.join(me, found->second);
        ++changes_;
      } else {
        raise(s.acquired[me], found->second);
      }
    }
  }
  if (!writes) return;
  // A read-modify-write continues the release sequence of the value that it replaces.
  if (reads)
    raise(s.transferred[location], s.released[me]);
  else
    s.transferred[location] = s.released[me];
}

Agent RaceCheck::agent(AgentKind kind, const observer::Warp& warp, u32 lane) {
  return {state_->agent_of({kind, state_->index_of(warp), lane})};
}

Agent RaceCheck::agent_of_barrier(const observer::Block& block, u32 address) {
  return {state_->agent_of({AgentKind::kBarrier, block.rank, address})};
}

void RaceCheck::arrive_relaxed(const observer::Warp& warp, PhaseClock& clock) {
  const State& s = *state_;
  const std::vector<u32>& row = s.known[s.index_of(warp)];
  if (clock.arriving.size() < row.size()) clock.arriving.resize(row.size());
  for (u32 a = 2 * s.warps; a < s.first_agent(); ++a)
    clock.arriving[a] = std::max(clock.arriving[a], row[a]);
  raise(clock.arriving, s.released[s.index_of(warp)]);
}

void RaceCheck::fence_barriers(const observer::Warp& warp) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  std::vector<u32>& row = s.known[me];
  row[2 * s.warps + me] = row[me];
  s.tick(me);
  ++changes_;
}

void RaceCheck::fence_proxy(const observer::Warp& warp) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  std::vector<u32>& row = s.known[me];
  for (u32 v = 0; v < s.warps; ++v) row[s.warps + v] = std::max(row[s.warps + v], row[v]);
  s.tick(me);
  ++changes_;
}

void RaceCheck::knows(const observer::Warp& warp, Agent agent, u32 epoch) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  u32& seen = s.known[me][agent.index];
  seen = std::max(seen, s.past + epoch);
  s.update_oldest(me);
}

void RaceCheck::tells(PhaseClock& clock, Agent agent, u32 epoch) {
  if (clock.arriving.size() <= agent.index) clock.arriving.resize(agent.index + 1);
  u32& told = clock.arriving[agent.index];
  told = std::max(told, state_->past + epoch);
}

RaceCheck::Moments RaceCheck::moments(const observer::Warp& warp) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  const u64 past_epochs = u64{s.most_epochs} * s.warps;
  if (s.epochs.empty() || s.epoch_ticks != s.ticks) {
    if (s.epochs.size() == past_epochs) return {1 + static_cast<u32>(past_epochs), 0};
    s.epoch_ticks = s.ticks;
    for (u32 w = 0; w < s.warps; ++w) s.epochs.push_back(s.known[w][w]);
  }
  const u32 last = static_cast<u32>(s.epochs.size()) / s.warps - 1;
  const auto is_seen = [&](u32 epoch) {
    for (u32 w = 0; w < s.warps; ++w)
      if (w != me && s.epochs[epoch * s.warps + w] > s.known[me][w]) return false;
    return true;
  };
  u32& seen = s.seen_epochs[me];
  while (seen < last && is_seen(seen)) ++seen;
  return {1 + seen * s.warps, 1 + last * s.warps + me};
}

bool RaceCheck::is_ordered(const observer::Warp& warp, u32 moment) const {
  const State& s = *state_;
  const u32 me = s.index_of(warp);
  if (moment == 0) return true;
  const u32 other = (moment - 1) % s.warps;
  return other == me || s.epochs[moment - 1] <= s.known[me][other];
}

}  // namespace vgpu::check
