// SPDX-License-Identifier: Apache-2.0
#include "ir/fault.hpp"

#include <algorithm>
#include <iterator>

namespace vgpu {

const char* to_string(FaultKind kind) {
  static constexpr const char* kNames[] = {
#define FAULT(kind, name) name,
#include "ir/fault.def"
  };
  const auto at = static_cast<std::size_t>(kind);
  return at < std::size(kNames) ? kNames[at] : "fault";
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      line.push_back(c);
    else if (!line.empty() && line.back() != ' ')
      line.push_back(' ');
  }
  return line;
}

bool Findings::wants(const FindingKey& key, std::uint64_t block) const {
  const std::lock_guard lock(mutex_);
  const auto known = found_.find(key);
  return known == found_.end() || block < known->second.block;
}

void Findings::add(const FindingKey& key, std::uint64_t block, const Fault& fault) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = found_.try_emplace(key, Found{fault, block, 0});
  if (is_new || block >= known->second.block) return;
  known->second.fault = fault;
  known->second.block = block;
}

void Findings::count(const FindingKey& key, std::uint64_t times) {
  const std::lock_guard lock(mutex_);
  found_.at(key).times += times;
}

bool Findings::any(FaultKind kind) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(found_, [&](const auto& entry) { return entry.first.kind == kind; });
}

bool Findings::any() const {
  const std::lock_guard lock(mutex_);
  return !found_.empty();
}

std::vector<Found> Findings::sorted() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::uint64_t, Found>> by_instruction;
  for (const auto& [key, found] : found_) by_instruction.emplace_back(key.instructions, found);
  std::ranges::stable_sort(by_instruction, [](const auto& a, const auto& b) {
    return std::pair(a.second.block, a.first) < std::pair(b.second.block, b.first);
  });
  std::vector<Found> all;
  for (auto& [instructions, found] : by_instruction) all.push_back(std::move(found));
  return all;
}

}  // namespace vgpu
