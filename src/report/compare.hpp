// SPDX-License-Identifier: Apache-2.0
// Two measurements of the same thing, older and newer: is it as fast as before? docs/measurement.md
// states the rule.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/json.hpp"

namespace ladder {

enum class Change {
  kSame,    // within the tolerance
  kFaster,  // beyond it, and the intervals do not overlap
  kSlower,  // likewise
  kUnsure,  // the figures do not decide; the reason says why
  kNew,     // only measured now
  kGone,    // only measured then
  kFailed   // has no time now, and had one then
};
const char* to_string(Change change);

// What a measurement says of the time of a launch, in cycles of the SM clock, or in milliseconds
// without a clock.
struct Interval {
  double low = 0, middle = 0, high = 0;
  bool cycles = false;
};
// The quartiles around the median; none without a time that can be believed.
std::optional<Interval> interval_of(const Row& row);

struct RowChange {
  std::string kernel, shape;
  Change change = Change::kUnsure;
  std::string reason;             // where unsure or failed
  double old_ms = 0, new_ms = 0;  // medians; 0 where there is none
  double percent = 0;             // of the old time, in cycles where both have them: + is slower
};

struct CompareOptions {
  double tolerance = 0.02;        // of the old median: what is smaller is no change
  std::size_t min_samples = 5;    // on either side, or it stays unsure
  double clock_tolerance = 0.05;  // of the old clock: within it a change in cycles alone is one
};

// Rows are matched by kernel, problem, device's name, and whether the operands rotated. In the
// newer rows' order, then what is gone.
std::vector<RowChange> compare(std::span<const Row> old_rows, std::span<const Row> new_rows,
                               const CompareOptions& options);

// One row against the other.
RowChange compare(const Row& old_row, const Row& new_row, const CompareOptions& options);

// "SLOWER 1, SAME 30": how often each occurs.
std::string summary(std::span<const RowChange> changes);
std::vector<std::string> table(std::span<const RowChange> changes);

// Whether a gate lets this pass: something was compared, nothing is slower, nothing failed.
bool passes(std::span<const RowChange> changes);

}  // namespace ladder
