// SPDX-License-Identifier: Apache-2.0
#include "runtime/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace vgpu {
namespace {

std::string in_one_line(const Fault& fault) {
  const std::string where =
      fault.file.empty() ? fault.instruction : fmt::format("{}:{}", fault.file, fault.line);
  return fmt::format("{}, kernel {}, at {}", to_string(fault.kind), fault.kernel, where);
}

}  // namespace

FoundList::Seen FoundList::note(const Fault& fault, std::uint64_t times) {
  const auto [known, is_new] = by_identity_.try_emplace(fault.identity, entries_.size());
  if (is_new) entries_.push_back({entries_.size() < kMostPrinted ? in_one_line(fault) : "", 0});
  entries_[known->second].times += times;
  if (!is_new) return Seen::kBefore;
  return entries_.size() > kMostPrinted ? Seen::kNewNotPrinted : Seen::kNew;
}

std::string FoundList::summary() const {
  const auto again = [](const Entry& entry) { return entry.times > 1; };
  const std::size_t printed = std::min(entries_.size(), kMostPrinted);
  std::string text;
  if (std::ranges::any_of(entries_, again)) {
    text = fmt::format("{} finding{}, and how often each was found:", entries_.size(),
                       entries_.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < printed; ++i)
      text += fmt::format("\n  {:>8}: {}", entries_[i].times, entries_[i].text);
  }
  if (printed < entries_.size()) {
    text += fmt::format("{}{} more findings are not printed; --junit and --sarif have all",
                        text.empty() ? "" : "\n", entries_.size() - printed);
  }
  return text;
}

void LaunchErrors::note(const Finding& error) {
  const std::scoped_lock lock(mutex_);
  first_.try_emplace(std::this_thread::get_id(), error);
}

void LaunchErrors::asked() {
  const std::scoped_lock lock(mutex_);
  first_.erase(std::this_thread::get_id());
}

void LaunchErrors::clear() {
  const std::scoped_lock lock(mutex_);
  first_.clear();
}

std::vector<Finding> LaunchErrors::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Finding> all;
  for (const auto& [thread, error] : first_) all.push_back(error);
  return all;
}

}  // namespace vgpu
