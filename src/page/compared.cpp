// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "analyse/difference.hpp"
#include "page/render.hpp"
#include "page/sections.hpp"
#include "report/json_text.hpp"
#include "report/table.hpp"

namespace ladder::page {
namespace {

using Json = nlohmann::ordered_json;

struct Number {
  std::string name, text;
};

void add(std::vector<Number>& numbers, const std::string& name, std::optional<double> value) {
  if (!value) return;
  const bool whole = *value == std::floor(*value) && std::abs(*value) < 1e9;
  numbers.push_back({name, whole ? fmt::format("{:.0f}", *value) : figure(value)});
}

const analyse::Explanation* explanation_of(const Contents& c, const std::string& kernel) {
  const auto found = std::ranges::find_if(
      c.explained, [&](const analyse::Explanation& e) { return e.id == kernel; });
  return found == c.explained.end() ? nullptr : &*found;
}

void add_model(std::vector<Number>& numbers, const analyse::Explanation& e) {
  const analyse::Observation& seen = e.subject.seen;
  add(numbers, "threads per block", seen.threads);
  if (seen.registers > 0) add(numbers, "registers per thread", seen.registers);
  add(numbers, "shared memory per block, B", seen.shared_bytes);
  if (e.subject.tile) {
    const analyse::Loads loads = analyse::loads_per_result(*e.subject.tile, e.problem.k);
    add(numbers, "global loads per result", loads.global_loads);
    add(numbers, "shared loads per result", loads.shared_loads);
  }
  if (!e.prediction) return;
  add(numbers, "resident warps per SM", e.prediction->occupancy.warps);
  for (const analyse::Pipe& pipe : e.prediction->pipes)
    add(numbers, pipe.name + " busy, ms", pipe.ms);
  add(numbers, "predicted TFLOP/s", e.prediction->tflops);
  numbers.push_back({"limited by", e.prediction->limiter});
}

std::vector<Number> numbers_of(const Contents& c, const Pick& pick) {
  const Row& row = *pick.row;
  std::vector<Number> numbers;
  numbers.push_back({"idea", row.idea});
  numbers.push_back({"verdict", to_string(row.verdict.outcome)});
  add(numbers, "TFLOP/s", pick.derived.tflops);
  if (row.timing) {
    add(numbers, "median, ms", row.timing->ms.median);
    add(numbers, "lower quartile, ms", row.timing->ms.p25);
    add(numbers, "upper quartile, ms", row.timing->ms.p75);
    add(numbers, "samples", static_cast<double>(row.timing->ms.n));
  }
  add(numbers, "% of the library", pick.derived.percent_of_baseline);
  add(numbers, "% of peak at the measured clock", pick.derived.percent_of_peak_at_clock);
  add(numbers, "SM clock, MHz", pick.derived.sm_clock_mhz);
  add(numbers, "power, W", pick.derived.power_w);
  if (row.errors.known) add(numbers, "error, normwise", row.errors.normwise);
  add(numbers, "sectors per load request", pick.derived.sectors_per_load);
  add(numbers, "sectors per store request", pick.derived.sectors_per_store);
  if (const analyse::Explanation* e = explanation_of(c, row.kernel)) add_model(numbers, *e);
  return numbers;
}

std::vector<std::string> sentences(const Contents& c, const std::string& a, const std::string& b) {
  const analyse::Explanation* first = explanation_of(c, a);
  const analyse::Explanation* second = explanation_of(c, b);
  if (first == nullptr || second == nullptr || first == second) return {};
  return analyse::why(*first, *second);
}

// The best rung and the one before it, or the best library.
std::optional<std::pair<std::size_t, std::size_t>> first_pair(const Contents& c) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < c.rows.size(); ++i) {
    if (c.rows[i].row->role == Role::kBaseline) continue;
    const double rate = c.rows[i].derived.tflops.value_or(0);
    if (!best || rate >= c.rows[*best].derived.tflops.value_or(0)) best = i;
  }
  if (!best || c.rows.size() < 2) return std::nullopt;
  return std::pair(*best > 0 ? *best - 1 : *best + 1, *best);
}

std::string options(const Contents& c, std::size_t chosen) {
  std::string html;
  for (std::size_t i = 0; i < c.rows.size(); ++i)
    html += fmt::format("<option{}>{}</option>", i == chosen ? " selected" : "",
                        escape(c.rows[i].row->kernel));
  return html;
}

}  // namespace

std::string compare_section(const Contents& c) {
  const auto pair = first_pair(c);
  if (!pair) return "";
  const auto& [a, b] = *pair;
  const std::string& name_a = c.rows[a].row->kernel;
  const std::string& name_b = c.rows[b].row->kernel;
  std::string html =
      "<section id=\"compare\">\n<h2>Two kernels side by side</h2>\n<div class=\"controls "
      "scripted\" hidden>\n";
  html += fmt::format("<label>first <select id=\"first\">{}</select></label>\n", options(c, a));
  html += fmt::format("<label>second <select id=\"second\">{}</select></label>\n</div>\n",
                      options(c, b));
  html += "<p id=\"why\">";
  for (const std::string& sentence : sentences(c, name_a, name_b)) html += escape(sentence) + " ";
  html += fmt::format(
      "</p>\n<div class=\"scroll\"><table id=\"pair\"><thead><tr><th scope=\"col\"></th><th "
      "scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead><tbody>\n",
      escape(name_a), escape(name_b));
  const std::vector<Number> left = numbers_of(c, c.rows[a]), right = numbers_of(c, c.rows[b]);
  const auto text = [](const std::vector<Number>& numbers, const std::string& name) {
    for (const Number& number : numbers) {
      if (number.name == name) return number.text;
    }
    return std::string("-");
  };
  std::vector<std::string> names;
  for (const auto* numbers : {&left, &right}) {
    for (const Number& number : *numbers) {
      if (std::ranges::find(names, number.name) == names.end()) names.push_back(number.name);
    }
  }
  for (const std::string& name : names)
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n", escape(name),
                        escape(text(left, name)), escape(text(right, name)));
  return html + "</tbody></table></div>\n</section>\n";
}

std::string compare_data(const Contents& c) {
  Json kernels = Json::object(),
       why = Json::object();  // each sentence of a pair once, in the order of the rows
  for (std::size_t i = 0; i < c.rows.size(); ++i) {
    const Pick& pick = c.rows[i];
    Json numbers = Json::array();
    for (const Number& number : numbers_of(c, pick)) numbers.push_back({number.name, number.text});
    kernels[pick.row->kernel] = std::move(numbers);
    for (const Pick& other : std::span(c.rows).subspan(i + 1)) {
      const auto said = sentences(c, pick.row->kernel, other.row->kernel);
      if (!said.empty()) why[pick.row->kernel][other.row->kernel] = said;
    }
  }
  std::string text = json_text(Json{{"kernels", kernels}, {"why", why}});
  // "</script>" and "<!--<script>" must not occur in the script element that holds this.
  constexpr std::string_view kEscaped = "\\u003c";
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, kEscaped);
  return text;
}

}  // namespace ladder::page
