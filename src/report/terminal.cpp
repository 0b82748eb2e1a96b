// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "report/text.hpp"

namespace ladder {
namespace {

constexpr const char* kRed = "\033[31m";
constexpr const char* kGreen = "\033[32m";
constexpr const char* kPlain = "\033[0m";

std::string cell(const Column& column, const std::string& text) {
  return column.left ? fmt::format("{:<{}}", text, column.width)
                     : fmt::format("{:>{}}", text, column.width);
}

}  // namespace

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

TerminalStyle detect_style() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  TerminalStyle style;
  style.progress = ::isatty(STDERR_FILENO) == 1 && !dumb;
  style.color = ::isatty(STDOUT_FILENO) == 1 && !dumb && (no_color == nullptr || *no_color == '\0');
  return style;
}

TablePrinter::TablePrinter(std::FILE* table, std::FILE* progress, TerminalStyle style, bool detail)
    : table_(table), progress_(progress), style_(style), detail_(detail) {}

TablePrinter::~TablePrinter() { clear_progress(); }

void TablePrinter::clear_progress() {
  if (!shown_) return;
  fmt::print(progress_, "\r\033[K");
  std::fflush(progress_);
  shown_ = false;
}

void TablePrinter::progress(const std::string& text) {
  if (!style_.progress) return;
  fmt::print(progress_, "\r\033[K{}", printable(text).substr(0, terminal_width(progress_) - 1));
  std::fflush(progress_);
  shown_ = true;
}

void TablePrinter::milestone(const std::string& text) {
  if (style_.progress) return;
  fmt::print(progress_, "{}\n", text);
  std::fflush(progress_);
}

void TablePrinter::line(const std::string& text) {
  clear_progress();
  fmt::print(table_, "{}\n", printable(text));
  std::fflush(table_);
}

void TablePrinter::expect(const Row& row) {
  for (const auto& [title, text] :
       {std::pair{"kernel", row.kernel}, {"shape", to_string(row.problem)}}) {
    std::size_t& width = widths_[{row.place, title}];
    width = std::max(width, text.size());
  }
}

void TablePrinter::heading(const Row& row) {
  const std::pair kind{kind_of(row), row.place};
  if (open_ == kind) return;
  if (open_) fmt::print(table_, "\n");
  open_ = kind;
  columns_ = columns(kind.first, kind.second, detail_);
  for (Column& column : columns_)
    column.width = std::max(column.width, widths_[{row.place, column.title}]);
  fmt::print(table_, "{}{}\n", printable(row.device.name),
             kind.first == TableKind::kCounted ? ": counted, not timed" : "");
  std::string line;
  for (const Column& column : columns_)
    line += (line.empty() ? "" : "  ") + cell(column, column.title);
  fmt::print(table_, "{}\n", line);
}

void TablePrinter::row(const Row& row) {
  clear_progress();
  heading(row);
  const Derived derived = derive(row);
  const bool refused = row.verdict.outcome == Outcome::kRefused;
  const bool failed = !row.verdict.ok() && !refused;
  std::string line;
  for (const Column& column : columns_) {
    std::string text = cell(column, printable(column.text(row, derived)));
    const bool verdict = column.title == "verdict";
    if (style_.color && verdict && !refused)
      text = fmt::format("{}{}{}", failed ? kRed : kGreen, text, kPlain);
    line += (line.empty() ? "" : "  ") + text;
    if (refused && verdict) break;  // no figures: the note is printed instead
  }
  if (refused) line += "  " + printable(row.note);
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print(table_, "{}\n", line);
  if (failed) fmt::print(table_, "    {}\n", printable(row.verdict.reason));
  if (!refused && !row.note.empty()) fmt::print(table_, "    {}\n", printable(row.note));
  std::fflush(table_);
}

}  // namespace ladder
