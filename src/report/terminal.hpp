// SPDX-License-Identifier: Apache-2.0
// Prints rows as they come: an aligned table, and on a terminal a line of progress that is
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

// Columns of the terminal behind `stream`; 80 where it is none.
std::size_t terminal_width(std::FILE* stream);

struct TerminalStyle {
  bool progress = false;  // the stream of progress is a terminal
  bool color = false;     // the table's stream is one, NO_COLOR is not set and TERM is not "dumb"
};
// For a table on stdout and progress on stderr.
TerminalStyle detect_style();

class TablePrinter {
 public:
  TablePrinter(std::FILE* table, std::FILE* progress, TerminalStyle style, bool detail = false);
  ~TablePrinter();
  TablePrinter(const TablePrinter&) = delete;
  TablePrinter& operator=(const TablePrinter&) = delete;

  void progress(const std::string& text);   // on a terminal: shown until the next call of anything
  void milestone(const std::string& text);  // elsewhere: a line on the stream of progress
  void line(const std::string& text);
  void expect(
      const Row&
          row);  // one that is to come: columns of text become as wide as its kernel and shape
  void row(const Row& row);  // starts a new table with its heading where place or kind change

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
      widths_;  // of columns by title, where expect() widened them
};

}  // namespace ladder
