// SPDX-License-Identifier: Apache-2.0
#include "runtime/known_launches.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/kernel.hpp"
#include "machine/sums.hpp"
#include "memory/content_hash.hpp"

namespace vgpu::runtime {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of all effects
constexpr std::size_t kShare = 8;  // of the host's free memory, which all effects may take
constexpr std::size_t kMostKnown = 512, kMostOfOneKey = 4;

// All that a launch depends on, but for parameters, memory and textures.
std::string key_of(const Kernel& kernel, const LaunchConfig& config) {
  std::string key;
  const auto add = [&](const auto&... values) {
    (key.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  };
  for (const Dim3& extent : {config.grid, config.block, config.cluster})
    add(extent.x, extent.y, extent.z);
  add(kernel.number(), config.dynamic_shared_bytes, config.check_race, config.check_init,
      config.check_init_shared, config.defer_doubts, config.check_sync, config.check_local,
      config.stack_bytes, config.count, config.count_lines, config.trace,
      config.findings == nullptr, config.schedule.kind, config.schedule.seed, config.numerics,
      config.cooperative, config.in_clusters, config.registers, config.device, config.devices);
  return key;
}

}  // namespace

std::size_t KnownLaunches::most_bytes() {
  if (most_bytes_ == 0)
    most_bytes_ = std::min<std::uint64_t>(kMostBytes, host_room().memory.bytes / kShare);
  return most_bytes_;
}

void KnownLaunches::host_function_ends() {
  Changes* const changes = memory_.changes();
  if (changes == nullptr) return;
  changes->begin_writing();
  changes->end_writing(true);
}

std::uint64_t KnownLaunches::moment() {
  const Changes* const changes = running_ == 0 ? memory_.watch_changes() : nullptr;
  return changes == nullptr ? 0 : changes->now();
}

bool KnownLaunches::may_have_changed(std::uint64_t moment, std::uint64_t address,
                                     std::size_t bytes) const {
  const Changes* const changes = memory_.changes();
  const Allocation* const of = memory_.find(address);
  return changes == nullptr || of == nullptr || of->freed || of->shared ||
         bytes > of->end - address || !changes->covers(of->begin) ||
         !changes->covers(of->end - 1) || changes->any_since(moment, address, bytes);
}

KnownLaunches::History& KnownLaunches::history_of(std::uint64_t hash) {
  History& history = histories_[hash % histories_.size()];
  if (history.hash != hash) history = {hash};
  return history;
}

bool KnownLaunches::repeat(const std::string& key, std::uint64_t hash, std::uint64_t alike,
                           const LaunchConfig& config, LaunchReport& report,
                           std::vector<Found>& found) {
  for (auto known = known_.begin(); known != known_.end(); ++known) {
    if (known->hash != hash || known->textures != config.textures || known->key != key) continue;
    if (!known->effect.repeat(memory_, *memory_.changes())) continue;
    machine::add_sums(known->effect.sums());
    known_.splice(known_.begin(), known_, known);
    report = known->report;
    found = known->found;
    report.end_clock = config.begin_clock + known->clocks;
    ++reused_;
    history_of(hash).executed = history_of(alike).executed = 1;
    return true;
  }
  return false;
}

void KnownLaunches::keep(Known launch) {
  bytes_ += launch.effect.bytes();
  known_.push_front(std::move(launch));
  const Known& first = known_.front();
  const auto drop = [&](auto which) {
    bytes_ -= which->effect.bytes();
    return known_.erase(which);
  };
  std::size_t same = 0;
  for (auto known = known_.begin(); known != known_.end();) {
    same += known->hash == first.hash ? 1 : 0;
    known = known->hash == first.hash && same > kMostOfOneKey ? drop(known) : std::next(known);
  }
  while (known_.size() > kMostKnown || bytes_ > most_bytes()) drop(std::prev(known_.end()));
}

LaunchTurn::LaunchTurn(KnownLaunches& launches, const Kernel& kernel, LaunchConfig& config,
                       std::span<const std::byte> params, bool may_repeat)
    : launches_(launches), config_(config) {
  const bool alone = launches_.running_++ == 0;
  changes_ = launches_.memory_.changes();
  if (!may_repeat || !alone) return;
  key_ = key_of(kernel, config);
  alike_ = content_hash(key_.data(), key_.size());
  key_.append(reinterpret_cast<const char*>(params.data()), params.size());
  hash_ = content_hash(key_.data(), key_.size(), 1);
}

bool LaunchTurn::repeat(LaunchReport& report, std::vector<Found>& found) {
  if (changes_ != nullptr && !key_.empty() &&
      launches_.repeat(key_, hash_, alike_, config_, report, found)) {
    noted_ = true;
    return true;
  }
  // A launch that never finds its memory unchanged is noted ever more rarely, and so are launches
  // of a kernel whose parameters differ each time.
  const auto is_due = [&](std::uint64_t hash) {
    return std::has_single_bit(launches_.history_of(hash).executed++);
  };
  const bool has_key = !key_.empty(), due = has_key && is_due(hash_),
             alike_due = has_key && is_due(alike_);
  if (due || alike_due)
    changes_ = launches_.memory_.watch_changes();
  else
    key_.clear();
  if (changes_ == nullptr) return false;
  begin_ = changes_->now();
  changes_->begin_writing();
  writes_ = true;
  if (key_.empty()) return false;
  touched_.emplace(launches_.memory_.map(), *changes_, launches_.memory_.shadow());
  config_.touched = &*touched_;
  return false;
}

void LaunchTurn::executed(const LaunchReport& report, const std::vector<Found>& found) {
  config_.touched = nullptr;
  if (!touched_ || !report.repeatable || !report.output.empty() || report.lost_prints != 0) return;
  changes_->end_writing(false);
  writes_ = false;
  noted_ = true;
  auto effect =
      MemoryEffect::of(*touched_, launches_.memory_, *changes_, begin_, launches_.most_bytes() / 2);
  if (!effect) return;
  launches_.keep({hash_, std::move(key_), config_.textures, std::move(*effect), report, found,
                  report.end_clock - config_.begin_clock});
}

LaunchTurn::~LaunchTurn() {
  config_.touched = nullptr;
  --launches_.running_;
  if (changes_ == nullptr || (noted_ && !writes_)) return;
  if (!writes_) changes_->begin_writing();
  changes_->end_writing(true);
}

}  // namespace vgpu::runtime
