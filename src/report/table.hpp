// SPDX-License-Identifier: Apache-2.0
// Rows as tables, one set of columns for the terminal and for markdown.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "report/row.hpp"

namespace ladder {

enum class TableKind : unsigned char { kTimed, kCounted };
TableKind kind_of(const Row& row);  // counted for CUDA kernels on the virtual GPU, else timed

struct Column {
  std::string title;
  std::size_t width;  // on a terminal; longer texts shift the following columns
  bool left = false;
  std::function<std::string(const Row&, const Derived&)> text;
};
// `place` selects the name in the heading of the baseline column. `detail` adds how the row was
// measured.
std::vector<Column> columns(TableKind kind, Place place, bool detail = false);

// Three significant digits, without an exponent between 1e-4 and 1e7; "-" for an absent value.
std::string figure(std::optional<double> value);

// Returns Markdown tables of all rows that were run, one per kind and device, each with a line that
// states machine and date.
struct Document;
std::string markdown(std::span<const Document> documents);

// Returns `text` with the part between "<!-- ladder:NAME -->" and "<!-- /ladder:NAME -->" replaced
// by `content`. Errors (kInvalidArgument): a marker is missing, or the markers are in the wrong
// order.
Result<std::string> splice(const std::string& text, const std::string& name,
                           const std::string& content);

}  // namespace ladder
