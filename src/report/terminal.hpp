// SPDX-License-Identifier: Apache-2.0
// Prints rows as they are produced: an aligned table and, on a terminal, a progress line that is
// overwritten.
#pragma once
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/table.hpp"

namespace ladder {

// Width in columns of the terminal behind `stream`; 80 if it is not a terminal.
std::size_t terminal_width(std::FILE* stream);

struct TerminalStyle {
  bool progress = false;  // the progress stream is a terminal
  bool color = false;  // the table's stream is a terminal, NO_COLOR is unset and TERM is not "dumb"
};
// For a table on stdout and progress on stderr.
TerminalStyle detect_style();

class TablePrinter {
 public:
  TablePrinter(std::FILE* table, std::FILE* progress, TerminalStyle style, bool detail = false);
  ~TablePrinter();
  TablePrinter(const TablePrinter&) = delete;
  TablePrinter& operator=(const TablePrinter&) = delete;

  void progress(const std::string& text);  // on a terminal: shown until the next call of any member
  // not on a terminal: prints a line on the progress stream
  void milestone(const std::string& text);
  void line(const std::string& text);
  void expect(
      const Row& row);       // a future row: text columns are widened to fit its kernel and shape
  void row(const Row& row);  // starts a new table with a heading if the place or kind changes

 private:
  void clear_progress();
  void heading(const Row& row);

  std::FILE* table_;
  std::FILE* progress_;
  TerminalStyle style_;
  bool detail_;
  bool shown_ = false;
  std::optional<std::pair<TableKind, Place>> open_;
  std::vector<Column> columns_;
  std::map<std::pair<Place, std::string>, std::size_t>
      widths_;  // widths of columns by title, where expect() widened them
};

}  // namespace ladder
