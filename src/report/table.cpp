// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/json.hpp"
#include "report/text.hpp"

namespace ladder {
namespace {

std::string error_figure(const Errors& errors, double Errors::*field) {
  return errors.known ? fmt::format("{:.1e}", errors.*field) : "-";
}

std::string percent(std::optional<double> value) {
  return value ? fmt::format("{:.1f}", *value) : "-";
}

Column plain(std::string title, std::size_t width, std::optional<double> Derived::*field) {
  return {std::move(title), width, false,
          [field](const Row&, const Derived& d) { return figure(d.*field); }};
}

// As plain(), with ~ before values that are based on an estimate.
Column counted(std::string title, std::size_t width, std::optional<double> Derived::*field) {
  return {std::move(title), width, false, [field](const Row&, const Derived& d) {
            return (d.counts_estimated && d.*field ? "~" : "") + figure(d.*field);
          }};
}

std::string shape_of(const Row& row) { return to_string(row.problem); }

std::string spread(const Row& row) {
  return row.timing ? fmt::format("{:.1f}", 100 * row.timing->ms.noise()) : "-";
}

std::string median_ms(const Row& row) {
  return figure(row.timing ? std::optional(row.timing->ms.median) : std::nullopt);
}

std::string where_and_when(const Row& row, const Environment& e, TableKind kind) {
  std::string text =
      kind == TableKind::kTimed && row.place == Place::kHost ? e.cpu : row.device.name;
  if (kind == TableKind::kCounted) text += ", counted, not timed";
  if (kind == TableKind::kTimed && row.place == Place::kCuda && !e.driver.empty())
    text += ", driver " + e.driver;
  if (row.place == Place::kCuda) text += ", CUDA " + e.toolkit;
  if (row.place == Place::kCuda && !e.cublas.empty() && kind == TableKind::kTimed)
    text += ", cuBLAS " + e.cublas;
  return text + fmt::format("; {}, ladder {} ({})", e.date.substr(0, 10), e.version, e.commit);
}

}  // namespace

TableKind kind_of(const Row& row) {
  return row.place == Place::kCuda && row.device.is_virtual ? TableKind::kCounted
                                                            : TableKind::kTimed;
}

std::string figure(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return "-";
  const double magnitude = std::abs(*value);
  if (magnitude == 0) return "0";
  if (magnitude < 1e-4 || magnitude >= 1e7) return fmt::format("{:.2e}", *value);
  const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(magnitude))));
  return fmt::format("{:.{}f}", *value, decimals);
}

std::vector<Column> columns(TableKind kind, Place place, bool detail) {
  std::vector<Column> all{
      {"kernel", 18, true, [](const Row& r, const Derived&) { return r.kernel; }},
      {"shape", 14, true, [](const Row& r, const Derived&) { return shape_of(r); }},
      {"verdict", 7, true,
       [](const Row& r, const Derived&) { return std::string(to_string(r.verdict.outcome)); }},
      {"norm err", 8, false,
       [](const Row& r, const Derived&) { return error_figure(r.errors, &Errors::normwise); }},
      {"elem err", 8, false, [](const Row& r, const Derived&) {
         return error_figure(r.errors, &Errors::componentwise);
       }}};
  if (kind == TableKind::kTimed) {
    const char* baseline = place == Place::kCuda ? "% cuBLAS" : "% OpenBLAS";
    all.push_back({"ms", 8, false, [](const Row& r, const Derived&) { return median_ms(r); }});
    all.push_back({"+-%", 5, false, [](const Row& r, const Derived&) { return spread(r); }});
    all.push_back(plain("TFLOP/s", 8, &Derived::tflops));
    all.push_back({baseline, place == Place::kCuda ? 8U : 10U, false,
                   [](const Row&, const Derived& d) { return percent(d.percent_of_baseline); }});
    all.push_back({"% peak", 6, false,
                   [](const Row&, const Derived& d) { return percent(d.percent_of_peak); }});
    if (detail || place == Place::kHost) {
      all.push_back({"% @clock", 8, false, [](const Row&, const Derived& d) {
                       return percent(d.percent_of_peak_at_clock);
                     }});
    }
    all.push_back(plain(place == Place::kCuda ? "SM MHz" : "MHz", 6, &Derived::sm_clock_mhz));
    if (detail && place == Place::kCuda) all.push_back(plain("W", 4, &Derived::power_w));
    if (detail) {
      all.push_back({"n", 4, false, [](const Row& r, const Derived&) {
                       return r.timing ? fmt::format("{}", r.timing->ms.n) : std::string("-");
                     }});
    }
    return all;
  }
  all.push_back(counted("sect/ld", 7, &Derived::sectors_per_load));
  all.push_back(counted("sect/st", 7, &Derived::sectors_per_store));
  all.push_back(counted("x least", 7, &Derived::requested_over_least));
  all.push_back(counted("FLOP/B", 7, &Derived::flop_per_byte));
  all.push_back(counted("roofline", 8, &Derived::roofline_tflops));
  return all;
}

std::string markdown(std::span<const Document> documents) {
  struct Table {
    std::string caption;
    std::vector<Column> columns;
    std::string lines;
  };
  std::vector<Table> tables;  // in order of appearance
  for (const Document& document : documents) {
    for (const Row& row : document.rows) {
      if (row.verdict.outcome == Outcome::kRefused) continue;  // not run: no figures
      const TableKind kind = kind_of(row);
      const std::string caption = where_and_when(row, document.environment, kind);
      auto found = std::ranges::find(tables, caption, &Table::caption);
      if (found == tables.end()) {
        std::vector<Column> all = columns(kind, row.place);
        all.insert(all.begin() + 1,
                   {"idea", 0, true, [](const Row& r, const Derived&) { return r.idea; }});
        tables.push_back({caption, std::move(all), ""});
        found = tables.end() - 1;
      }
      const Derived derived = derive(row);
      found->lines += "|";
      for (const Column& column : found->columns) {
        found->lines += fmt::format(" {} |", markdown_text(column.text(row, derived)));
      }
      found->lines += "\n";
    }
  }
  std::string text;
  for (const Table& table : tables) {
    std::string head = "|";
    std::string rule = "|";
    for (const Column& column : table.columns) {
      head += fmt::format(" {} |", column.title);
      rule += column.left ? " :-- |" : " --: |";
    }
    text += fmt::format("{}{}\n{}\n{}\n{}.\n", text.empty() ? "" : "\n", head, rule, table.lines,
                        markdown_text(table.caption));
  }
  return text;
}

Result<std::string> splice(const std::string& text, const std::string& name,
                           const std::string& content) {
  const std::string open = "<!-- ladder:" + name + " -->";
  const std::string close = "<!-- /ladder:" + name + " -->";
  const std::size_t begin = text.find(open);
  if (begin == std::string::npos) return Status(Code::kInvalidArgument, "no marker " + open);
  const std::size_t end = text.find(close, begin + open.size());
  if (end == std::string::npos)
    return Status(Code::kInvalidArgument, "no marker " + close + " after " + open);
  return text.substr(0, begin + open.size()) + "\n" + content + text.substr(end);
}

}  // namespace ladder
