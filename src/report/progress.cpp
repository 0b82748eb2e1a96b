// SPDX-License-Identifier: Apache-2.0
#include "report/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ladder {
namespace {

constexpr double kMinute = 60, kHour = 3600, kMost = 1e7;  // seconds

long rounded_up(double value, int step) {
  return static_cast<long>(std::ceil(value / step)) * step;
}

}  // namespace

void Progress::expect(const std::string& group, double weight) {
  auto found = std::ranges::find(groups_, group, &Group::name);
  if (found == groups_.end()) found = groups_.insert(groups_.end(), {.name = group});
  found->weight += weight;
  items_.push_back({static_cast<std::size_t>(found - groups_.begin()), weight});
}

void Progress::within(double fraction, Seconds elapsed) {
  fraction_ = std::clamp(fraction, 0.0, 1.0);
  item_seconds_ = elapsed.count();
}

void Progress::finish_item(Seconds elapsed) {
  if (at_ == items_.size()) return;
  const Item& item = items_[at_++];
  Group& group = groups_[item.group];
  group.done += item.weight;
  group.seconds += elapsed.count();
  group.known |= item.weight > 0;
  fraction_ = item_seconds_ = 0;
}

std::optional<Progress::Seconds> Progress::left() const {
  constexpr double kEnough = 0.5, kNone = 1e-9;
  double seconds = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    double done = group.done, spent = group.seconds;
    bool known = group.known;
    if (at_ < items_.size() && items_[at_].group == g) {
      done += fraction_ * items_[at_].weight;
      spent += item_seconds_;
      known |= fraction_ >= kEnough && items_[at_].weight > 0;
    }
    const double rest = group.weight - done;
    if (rest <= kNone * group.weight) continue;
    if (!known || !(done > 0)) return std::nullopt;
    seconds += rest * spent / done;
  }
  return std::isfinite(seconds) && seconds < kMost ? std::optional(Seconds(seconds)) : std::nullopt;
}

std::string Progress::text() const {
  const std::string count = fmt::format("{} of {}", at_, items_.size());
  const auto rest = left();
  return rest && rest->count() > 0 ? fmt::format("{}, {} left", count, about(*rest)) : count;
}

std::string about(Progress::Seconds duration) {
  const double seconds = std::max(1.0, duration.count());
  if (seconds <= 10) return fmt::format("about {} s", rounded_up(seconds, 1));
  if (seconds <= kMinute - 5) return fmt::format("about {} s", rounded_up(seconds, 5));
  if (seconds <= kHour - 5 * kMinute)
    return fmt::format("about {:.0f} min", std::max(1.0, seconds / kMinute));
  const long minutes = rounded_up(seconds / kMinute, 10);
  const std::string hours = fmt::format("about {} h", minutes / 60);
  return minutes % 60 == 0 ? hours : fmt::format("{} {} min", hours, minutes % 60);
}

}  // namespace ladder
