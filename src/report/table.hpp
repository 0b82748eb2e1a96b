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
  std::size_t width;  // on a terminal; texts that are longer push the rest
  bool left = false;
  std::function<std::string(const Row&, const Derived&)> text;
};
// `place` decides whose name stands over the column of the baseline. `detail`: also how it was
// measured.
std::vector<Column> columns(TableKind kind, Place place, bool detail = false);

// Three significant digits, never an exponent between 1e-4 and 1e7; "-" for what is absent.
std::string figure(std::optional<double> value);

// Markdown tables of all rows that were run, one for each kind and device that occurs, each with a
// line that says where and when.
struct Document;
std::string markdown(std::span<const Document> documents);

// `text` with what stands between "<!-- ladder:NAME -->" and "<!-- /ladder:NAME -->" replaced by
// `content`. Errors (kInvalidArgument): a marker is missing, or they are in the wrong order.
Result<std::string> splice(const std::string& text, const std::string& name,
                           const std::string& content);

}  // namespace ladder
