// SPDX-License-Identifier: Apache-2.0
#include "report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problem/names.hpp"

#include "report/table.hpp"

namespace ladder {
namespace {

// upper limit of the ratio of a chip's fastest to its slowest clock
constexpr double kMostClocks = 16;

bool has_time(const Row& row) {
  return derive(row).tflops.has_value() || (row.timing && flops(row.problem) == 0);
}

bool rotated(const Row& row) { return row.timing && row.timing->copies > 1; }

// A row without a time has no rotation setting and matches either.
bool matches(const Row& a, const Row& b) {
  return a.kernel == b.kernel && a.problem == b.problem && a.device.name == b.device.name &&
         (!a.timing || !b.timing || rotated(a) == rotated(b));
}

bool overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

Interval in_ms(const Row& row) {
  const Statistics& ms = row.timing->ms;
  return {ms.p25, ms.median, ms.p75, false};
}

std::string shape_of(const Row& row) {
  return to_string(row.problem) + (rotated(row) ? ", cold" : "");
}

RowChange start(const Row& row) {
  return {row.kernel, shape_of(row), Change::kUnsure, "", 0, 0, 0};
}

}  // namespace

const char* to_string(Change change) {
  return name_of<Change::kFailed>(change,
                                  {"SAME", "FASTER", "SLOWER", "UNSURE", "NEW", "GONE", "FAILED"});
}

std::optional<Interval> interval_of(const Row& row) {
  if (!row.timing || !has_time(row)) return std::nullopt;
  const Interval ms = in_ms(row);
  const auto clock = derive(row).sm_clock_mhz;
  const double scale = clock ? *clock * 1e3 : 1;
  return Interval{ms.low * scale, ms.middle * scale, ms.high * scale, clock.has_value()};
}

RowChange compare(const Row& old_row, const Row& new_row, const CompareOptions& options) {
  RowChange result = start(new_row);
  const auto before = interval_of(old_row);
  const auto now = interval_of(new_row);
  if (before) result.old_ms = old_row.timing->ms.median;
  if (now) result.new_ms = new_row.timing->ms.median;
  if (!now) {
    result.change = before ? Change::kFailed : Change::kUnsure;
    result.reason = !new_row.verdict.reason.empty() ? new_row.verdict.reason
                    : new_row.note.empty()          ? "it has no time"
                                                    : new_row.note;
    if (new_row.timing && !new_row.timing->alarms.empty())
      result.reason = new_row.timing->alarms.front();
    return result;
  }
  if (!before) {
    result.change = Change::kNew;
    return result;
  }
  const auto unsure = [&](std::string why) {
    result.reason = std::move(why);
    return result;
  };
  const double in_time = result.new_ms / result.old_ms - 1;
  const bool in_cycles = before->cycles && now->cycles;
  const double change = in_cycles ? now->middle / before->middle - 1 : in_time;
  result.percent = 100 * change;
  if (std::min(old_row.timing->ms.n, new_row.timing->ms.n) < options.min_samples)
    return unsure(fmt::format("fewer than {} samples", options.min_samples));
  const bool clocks_explain =
      std::max(result.new_ms / result.old_ms, result.old_ms / result.new_ms) < kMostClocks;
  if (before->cycles != now->cycles && clocks_explain)
    return unsure("only one of them has a clock");
  if ((old_row.timing->launches_per_sample > 1) != (new_row.timing->launches_per_sample > 1))
    return unsure("only one of them was replayed from a graph");
  if (std::abs(change) <= options.tolerance) {
    // A change that the clock explains is not a change of the kernel.
    result.change = Change::kSame;
    return result;
  }
  if (in_cycles ? overlap(*before, *now) : overlap(in_ms(old_row), in_ms(new_row)))
    return unsure("the quartiles overlap");
  const bool in_time_too = (in_time > 0) == (change > 0) && std::abs(in_time) > options.tolerance;
  if (in_cycles && !in_time_too) {
    // Only the cycles changed, not the time. That is conclusive only if the clocks are close: a
    // kernel that waits for memory, or that shares its rounds with kernels of higher power, takes
    // the same time at another clock.
    const double old_clock = *derive(old_row).sm_clock_mhz,
                 new_clock = *derive(new_row).sm_clock_mhz;
    if (std::abs(new_clock / old_clock - 1) > options.clock_tolerance)
      return unsure(fmt::format("time changed by {:+.1f}%, the clock from {:.0f} to {:.0f} MHz",
                                100 * in_time, old_clock, new_clock));
  }
  result.change = change > 0 ? Change::kSlower : Change::kFaster;
  return result;
}

std::vector<RowChange> compare(std::span<const Row> old_rows, std::span<const Row> new_rows,
                               const CompareOptions& options) {
  std::vector<RowChange> changes;
  std::vector<bool> found(old_rows.size(), false);
  for (const Row& row : new_rows) {
    bool matched = false;
    for (std::size_t i = 0; i < old_rows.size() && !matched; ++i) {
      if (found[i] || !matches(old_rows[i], row)) continue;
      matched = found[i] = true;
      if (interval_of(old_rows[i]) || interval_of(row))
        changes.push_back(compare(old_rows[i], row, options));
    }
    if (matched || !interval_of(row)) continue;
    changes.push_back(start(row));
    changes.back().change = Change::kNew;
    changes.back().new_ms = row.timing->ms.median;
  }
  for (std::size_t i = 0; i < old_rows.size(); ++i) {
    if (found[i] || !interval_of(old_rows[i])) continue;
    changes.push_back(start(old_rows[i]));
    changes.back().change = Change::kGone;
    changes.back().old_ms = old_rows[i].timing->ms.median;
  }
  return changes;
}

// True if any current row has a matching previous row.
static bool any_compared(std::span<const RowChange> changes) {
  return std::ranges::any_of(changes, [](const RowChange& c) {
    return c.change != Change::kNew && c.change != Change::kGone;
  });
}

std::string summary(std::span<const RowChange> changes) {
  std::string text;
  for (const Change which : {Change::kFailed, Change::kSlower, Change::kFaster, Change::kUnsure,
                             Change::kSame, Change::kNew, Change::kGone}) {
    const auto n = std::ranges::count(changes, which, &RowChange::change);
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(which), n);
  }
  if (any_compared(changes)) return text;
  return text.empty() ? "nothing to compare" : "nothing to compare: " + text;
}

std::vector<std::string> table(std::span<const RowChange> changes) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{:<18}  {:<26}  {:>9}  {:>9}  {:>8}  ", "kernel", "shape",
                              "ms before", "ms now", "change") +
                  "verdict");
  for (const RowChange& c : changes) {
    const auto ms = [](double value) {
      return figure(value > 0 ? std::optional(value) : std::nullopt);
    };
    const std::string percent =
        c.old_ms > 0 && c.new_ms > 0 ? fmt::format("{:+.1f}%", c.percent) : "-";
    lines.push_back(fmt::format("{:<18}  {:<26}  {:>9}  {:>9}  {:>8}  {}{}{}", c.kernel, c.shape,
                                ms(c.old_ms), ms(c.new_ms), percent, to_string(c.change),
                                c.reason.empty() ? "" : ": ", c.reason));
  }
  return lines;
}

bool passes(std::span<const RowChange> changes) {
  return any_compared(changes) && std::ranges::none_of(changes, [](const RowChange& c) {
           return c.change == Change::kSlower || c.change == Change::kFailed;
         });
}

}  // namespace ladder
