// SPDX-License-Identifier: Apache-2.0
#include "observer/counters.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace vgpu::observer {

void Exchanges::note(u64 word, u64 warp) {
  if (contended_) return;
  const auto [owner, is_new] = owners_.try_emplace(word, warp);
  contended_ = owner->second != warp || owners_.size() > kMost;
}

void Exchanges::add(const Exchanges& other) {
  contended_ |= other.contended_;
  for (const auto& [word, warp] : other.owners_) note(word, warp);
}

void SiteCount::add(const SiteCount& other) {
  // Every member is a sum.
  using Sums = std::array<u64, sizeof(SiteCount) / sizeof(u64)>;
  auto sums = std::bit_cast<Sums>(*this);
  const auto others = std::bit_cast<Sums>(other);
  std::ranges::transform(sums, others, sums.begin(), std::plus());
  *this = std::bit_cast<SiteCount>(sums);
}

void SiteCount::add_remote(u32 lanes, u32 bytes, bool measured) {
  ++remote_requests;
  remote_lanes += lanes;
  remote_bytes += u64{lanes} * bytes;
  remote_apart += measured ? 0 : 1;
}

Counters::Counters(const ir::Program& program, bool traced)
    : runs(program.runs.size()),
      guards(program.guard_sites),
      sites(program.sites),
      divergent(program.code.size()),
      again(program.machine_code ? program.code.size() : 0),
      samples(traced ? program.sites : 0) {}

void Counters::add(const Counters& other) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].executions += other.runs[i].executions;
    runs[i].lanes += other.runs[i].lanes;
  }
  for (std::size_t i = 0; i < guards.size(); ++i) {
    guards[i].executions += other.guards[i].executions;
    guards[i].lanes += other.guards[i].lanes;
  }
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i].add(other.sites[i]);
  for (std::size_t i = 0; i < divergent.size(); ++i) divergent[i] += other.divergent[i];
  for (std::size_t i = 0; i < again.size(); ++i) {
    again[i].executions += other.again[i].executions;
    again[i].lanes += other.again[i].lanes;
    again[i].repeated += other.again[i].repeated;
    again[i].refused += other.again[i].refused;
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (other.samples[i].block < samples[i].block) samples[i] = other.samples[i];
  }
  for (std::size_t i = 0; i < kRoles; ++i) roles[i] += other.roles[i];
  retried |= other.retried;
  exchanges.add(other.exchanges);
  scattered_atomics |= other.scattered_atomics;
  waited |= other.waited;
  called_driver |= other.called_driver;
  read_clock |= other.read_clock;
  parted |= other.parted;
  broke |= other.broke;
}

}  // namespace vgpu::observer
