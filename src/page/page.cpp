// SPDX-License-Identifier: Apache-2.0
#include "page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "page/files.hpp"
#include "page/render.hpp"
#include "page/sections.hpp"
#include "report/json_text.hpp"
#include "report/table.hpp"

namespace ladder::page {
namespace {

// For a data: URL: escapes the characters that RFC 3986 does not allow there.
std::string percent_encoded(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,:[]{}/()";
  std::string encoded;
  for (const char ch : text) {
    if (kPlain.find(ch) != std::string_view::npos) {
      encoded += ch;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(ch));
    }
  }
  return encoded;
}

// Removes white space from JSON. A user's own specification may be invalid JSON.
std::string compact(const std::string& json) try {
  return json_text(parse_json<nlohmann::ordered_json>(json));
} catch (const std::exception&) {
  return json;
}

// Returns a picture with a text description and its specification for download.
std::string chart_figure(const Chart& chart, const std::string& svg) {
  const auto head = svg.find('>');
  std::string drawn = svg;
  if (head != std::string::npos)
    drawn = fmt::format("{} role=\"group\" aria-label=\"{}\"{}", svg.substr(0, head),
                        escape(chart.description), svg.substr(head));
  return fmt::format(
      "<figure class=\"chart\" id=\"chart-{0}\"><div "
      "class=\"scroll\">{1}</div><figcaption><details><summary>In "
      "words</summary><p>{2}</p></details> <a download=\"{0}.vl.json\" "
      "href=\"data:application/json,{3}\">Vega-Lite specification</a></figcaption></figure>\n",
      chart.name, drawn, escape(chart.description), percent_encoded(compact(chart.spec)));
}

struct Heading {
  const char *chart, *id, *title, *text;
};

// The sections of the charts in page order, by the first part of the chart's name.
constexpr Heading kHeadings[] = {
    {"climb", "climb", "The climb", "One bar per verified kernel."},
    {"sizes", "sizes", "Rate over size",
     "Dashed: libraries. Hollow: neighbours of a power of two."},
    {"time", "time", "Time over size",
     "Both axes are logarithmic. Beside each name: the power of N with which the time grows from "
     "half of its largest cube to that cube."},
    {"roofline", "roofline", "Roofline",
     "Each rung twice: by the bytes that it takes from L2 and by those that must come from device "
     "memory. Bytes are the model's. A rung on a roof is limited by it."},
    {"accuracy", "accuracy", "Accuracy beside speed",
     "Error: the Frobenius norm of C minus the FP64 result, over that of the result. Lower is more "
     "accurate, further right is faster."},
    {"occupancy", "occupancy", "Occupancy and its limits",
     "Blocks that fit on an SM by each resource; the smallest of a row limits."},
    {"samples", "samples", "Samples, clock and power",
     "One tick per sample (of many, a selection by rank with both extremes), and every reading of "
     "NVML during them."},
};

std::string chart_sections(const Contents& c, std::span<const std::string> pictures) {
  std::string html;
  for (const Heading& heading : kHeadings) {
    std::string figures;
    for (std::size_t i = 0; i < c.charts.size(); ++i) {
      const std::string& name = c.charts[i].name;
      if (name.substr(0, name.find('-')) == heading.chart)
        figures += chart_figure(c.charts[i], pictures[i]);
    }
    if (!figures.empty())
      html += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n{}</section>\n", heading.id,
                          heading.title, heading.text, figures);
  }
  return html;
}

std::string tables(const Contents& c) {
  std::string html =
      "<section id=\"rows\">\n<h2>All rows</h2>\n<p class=\"controls scripted\" hidden><label>show "
      "only rows with <input id=\"filter\" type=\"search\"></label> A click on a column's title "
      "sorts.</p>\n";
  std::map<std::pair<TableKind, Place>, std::string> bodies;
  for (const Document& document : c.documents) {
    for (const Row& row : document.rows) {
      const std::pair kind{kind_of(row), row.place};
      const Derived derived = derive(row);
      std::string& body = bodies[kind];
      body += fmt::format("<tr data-kernel=\"{}\">", escape(row.kernel));
      for (const Column& column : columns(kind.first, kind.second, true))
        body += fmt::format("<td{}>{}</td>", column.left ? " class=\"left\"" : "",
                            escape(column.text(row, derived)));
      std::string note =
          row.verdict.ok() || row.verdict.reason.empty() ? row.note : row.verdict.reason;
      if (row.timing) {
        for (const std::string& alarm : row.timing->alarms)
          note += (note.empty() ? "" : "; ") + alarm;
      }
      body += fmt::format("<td class=\"left\">{}</td></tr>\n", escape(note));
    }
  }
  for (const auto& [kind, body] : bodies) {
    html += fmt::format(
        "<div class=\"scroll\"><table class=\"sortable\"><caption>{}{}</caption><thead><tr>",
        kind.second == Place::kHost ? "On the host" : "CUDA",
        kind.first == TableKind::kCounted ? ", counted, not timed" : "");
    for (const Column& column : columns(kind.first, kind.second, true))
      html += fmt::format("<th scope=\"col\"{}>{}</th>", column.left ? " class=\"left\"" : "",
                          escape(column.title));
    html += "<th scope=\"col\" class=\"left\">note</th></tr></thead><tbody>\n" + body +
            "</tbody></table></div>\n";
  }
  return html + "</section>\n";
}

std::string environment_table(const Document& document, const std::string& file) {
  const Environment& e = document.environment;
  std::string html =
      fmt::format("<table class=\"facts\"><caption>{}</caption><tbody>\n", escape(file));
  const auto fact = [&](const char* name, const std::string& text) {
    if (!text.empty())
      html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", name, escape(text));
  };
  fact("date", e.date);
  fact("ladder", e.version + ", commit " + e.commit);
  fact("device", e.device.name);
  if (e.power_limit_w) fact("power limit", fmt::format("{:.0f} W", *e.power_limit_w));
  if (e.max_sm_clock_mhz) fact("highest SM clock", fmt::format("{:.0f} MHz", *e.max_sm_clock_mhz));
  fact("driver", e.driver);
  fact("CUDA toolkit", e.toolkit);
  fact("CUDA runtime", e.runtime);
  fact("cuBLAS", e.cublas);
  fact("OpenBLAS", e.openblas);
  fact("processor", fmt::format("{}, {} threads", e.cpu, e.cpu_threads));
  return html + "</tbody></table>\n";
}

// Returns the commands that produce such a file: the same kernels on the same shapes.
std::string commands_of(const Document& document, const std::string& file) {
  std::vector<std::string> kernels, shapes;
  bool cold = false, cuda = false, timed = false;
  const auto note = [](std::vector<std::string>& list, const std::string& text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  };
  for (const Row& row : document.rows) {
    note(kernels, row.kernel);
    note(shapes, fmt::format("{}x{}x{}", row.problem.m, row.problem.n, row.problem.k));
    cold = cold || (row.timing && row.timing->copies > 1);
    cuda = cuda || row.place == Place::kCuda;
    timed = timed || row.timing;
  }
  std::string text =
      fmt::format("git checkout {} && make\n", shell_word(document.environment.commit));
  text += fmt::format("build/bin/ladder {}", timed ? "bench" : "climb");
  for (const std::string& kernel : kernels) text += " " + shell_word(kernel);
  for (const std::string& shape : shapes) text += " --shape " + shape;
  if (timed && cuda) text += cold ? " --l2 cold" : " --l2 warm";
  return text + (timed ? " --save " : " --json ") + shell_word(file) + "\n";
}

std::string reproduce(const Contents& c) {
  std::string html =
      "<section id=\"environment\">\n<h2>Environment, and how to repeat it</h2>\n<div "
      "class=\"side\">\n";
  std::string commands, files;
  for (std::size_t i = 0; i < c.documents.size(); ++i) {
    const std::string file = i < c.files.size() ? c.files[i] : fmt::format("rows{}.json", i);
    html += environment_table(c.documents[i], file);
    commands += commands_of(c.documents[i], file);
    files += " " + shell_word(file);
  }
  commands += "build/bin/ladder report" + files + " --html report.html\n";
  return html + fmt::format("</div>\n<pre>{}</pre>\n", escape(commands)) +
         "<p>How it was measured: docs/measurement.md. How it is analysed: docs/analysis.md.</p>\n"
         "</section>\n";
}

// True if the kernel's error is known and no larger than that of any library in FP32. Without such
// a library, true for rungs in FP32.
bool accurate(const Pick& pick, double least_error) {
  if (pick.row->precision == Precision::kIeee) return true;
  return pick.row->errors.known && pick.row->errors.normwise <= least_error;
}

std::string summary(const Contents& c) {
  double least_error = std::numeric_limits<double>::infinity();
  bool compared = false;
  for (const Pick& pick : c.rows) {
    if (pick.row->role != Role::kBaseline || pick.row->precision != Precision::kIeee ||
        !pick.row->errors.known)
      continue;
    least_error = std::min(least_error, pick.row->errors.normwise);
    compared = true;
  }
  if (!compared) least_error = -1;
  const Pick* best = nullptr;
  std::size_t failed = 0;
  for (const Pick& pick : c.rows) {
    if (!pick.row->verdict.ok() && pick.row->verdict.outcome != Outcome::kRefused) ++failed;
    if (!pick.derived.tflops || stands_for(pick.row->precision) != Precision::kIeee) continue;
    if (pick.row->role == Role::kBaseline || !accurate(pick, least_error)) continue;
    if (best == nullptr || *pick.derived.tflops > *best->derived.tflops) best = &pick;
  }
  const Row& first = *c.rows.front().row;
  std::string text = fmt::format("{} kernels at {} on {}. ", c.rows.size(), to_string(c.problem),
                                 first.device.name);
  if (best != nullptr) {
    text += fmt::format("Fastest rung with no larger error than FP32's: {}, {} TFLOP/s",
                        best->row->kernel, figure(best->derived.tflops));
    // The tables' ratio: rates of different rounds may be at different clocks.
    if (best->derived.percent_of_baseline)
      text += fmt::format(", {:.1f}% of {} in the same rounds", *best->derived.percent_of_baseline,
                          best->row->baseline->kernel);
    text += ". ";
  } else {
    text += "Nothing was timed: rates are the model's. ";
  }
  text += failed == 0 ? "All were verified."
                      : fmt::format("{} failed verification and have no rate.", failed);
  return text;
}

std::string style() {
  std::string css(file("page.css"));
  const std::string on_dark =
      "--ground:#0d1117;--raised:#161b22;--ink:#e6edf3;--quiet:#aab3bd;--line:#30363d;"
      "--accent:#56b4e9;--waste:#30363d;--warn:#ff8f3e";
  // The rules' selectors are listed without commas, so that each can be prefixed with another
  // selector.
  const auto below = [&](const std::string& root) {
    return root + "{" + on_dark + ";color-scheme:dark}" + dark_rules(root + " svg ");
  };
  return css + "\n@media screen and (prefers-color-scheme:dark){" +
         below(":root:not([data-theme=light])") + "}\n@media screen{" +
         below(":root[data-theme=dark]") + "}\n";
}

// A number that nothing in the page's rows can have known.
std::string fresh_nonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string navigation(const std::string& body) {
  std::string html = "<nav aria-label=\"Sections\"><ul>";
  for (std::size_t at = body.find("<section id=\""); at != std::string::npos;
       at = body.find("<section id=\"", at + 1)) {
    const auto id = at + 13, id_end = body.find('"', id);
    const auto title = body.find("<h2>", at) + 4, title_end = body.find("</h2>", title);
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>", body.substr(id, id_end - id),
                        body.substr(title, title_end - title));
  }
  return html + "</ul></nav>\n";
}

}  // namespace

std::string html(const Contents& c, std::span<const std::string> pictures) {
  const Row& first = *c.rows.front().row;
  const std::string title = fmt::format("Ladder: {}, {}", first.device.name,
                                        c.rows.front().document->environment.date.substr(0, 10));
  const std::string body = chart_sections(c, pictures) + rungs_section(c) + compare_section(c) +
                           tables(c) + reproduce(c);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n";
  // The only script is the page's own, and nothing is fetched. Style attributes only set the
  // lengths of bars.
  const std::string nonce = fresh_nonce();
  page += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'nonce-{0}'; style-src-elem 'nonce-{0}'; style-src-attr 'unsafe-inline'; img-src data:; "
      "base-uri 'none'; form-action 'none'\">\n",
      nonce);
  page += fmt::format(
      "<meta name=\"generator\" content=\"ladder "
      "{}\">\n<title>{}</title>\n<style nonce=\"{}\">\n{}</style>\n</head>\n<body>\n",
      escape(c.rows.front().document->environment.version), escape(title), nonce, style());
  page += fmt::format(
      "<header><h1>{}</h1>\n<p>{}</p>\n<button id=\"theme\" class=\"scripted\" type=\"button\" "
      "hidden>light or dark</button></header>\n",
      escape(title), escape(summary(c)));
  page += navigation(body) + "<main>\n" + body +
          "</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n";
  page += fmt::format(
      "<script type=\"application/json\" "
      "id=\"data\">{}</script>\n<script nonce=\"{}\">\n{}</script>\n</body>\n</html>\n",
      compare_data(c), nonce, file("page.js"));
  return page;
}

}  // namespace ladder::page
