// SPDX-License-Identifier: Apache-2.0
// Comparison of an older and a newer measurement of the same kernel and problem.
// docs/measurement.md states the rule.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/json.hpp"

namespace ladder {

enum class Change {
  kSame,    // the change is within the tolerance
  kFaster,  // the change exceeds it, and the intervals do not overlap
  kSlower,  // likewise
  kUnsure,  // the data are not conclusive; `reason` says why
  kNew,     // measured only in the newer rows
  kGone,    // measured only in the older rows
  kFailed   // has no time in the newer row, but one in the older row
};
const char* to_string(Change change);

// The time per launch with its spread, in cycles of the SM clock, or in milliseconds if no clock
// was measured.
struct Interval {
  double low = 0, middle = 0, high = 0;
  bool cycles = false;
};
// Returns the quartiles around the median; nullopt without a reliable time.
std::optional<Interval> interval_of(const Row& row);

struct RowChange {
  std::string kernel, shape;
  Change change = Change::kUnsure;
  std::string reason;             // where unsure or failed
  double old_ms = 0, new_ms = 0;  // medians; 0 if there is none
  double percent = 0;  // of the old time, in cycles if both have them; positive is slower
};

struct CompareOptions {
  double tolerance = 0.02;      // of the old median: smaller differences are no change
  std::size_t min_samples = 5;  // required of both rows; with fewer the result is kUnsure
  // of the old clock: if the clocks differ by more, a change in cycles alone is kUnsure
  double clock_tolerance = 0.05;
};

// Matches rows by kernel, problem, device name, and whether the operands rotated. The result has
// the order of the newer rows, followed by the rows that are gone.
std::vector<RowChange> compare(std::span<const Row> old_rows, std::span<const Row> new_rows,
                               const CompareOptions& options);

// Compares one pair of rows.
RowChange compare(const Row& old_row, const Row& new_row, const CompareOptions& options);

// "SLOWER 1, SAME 30": the number of each outcome.
std::string summary(std::span<const RowChange> changes);
std::vector<std::string> table(std::span<const RowChange> changes);

// True if at least one pair was compared, nothing is slower and nothing failed.
bool passes(std::span<const RowChange> changes);

}  // namespace ladder
