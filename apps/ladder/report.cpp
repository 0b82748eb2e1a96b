// SPDX-License-Identifier: Apache-2.0
// ladder report: formats rows from files as a Markdown table, a chart, or an HTML page.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>

#include <ladder/registry.hpp>

#include "common.hpp"
#include "page/render.hpp"
#include "problem/suites.hpp"
#include "report/chart.hpp"
#include "report/table.hpp"
#include "report/terminal.hpp"
#include "report/text_chart.hpp"
#include "target.hpp"
#ifdef LADDER_HAVE_ANALYSE
#include "page/page.hpp"
#endif

namespace ladder::app {
namespace {

struct ReportOptions {
  std::vector<std::string> files, kernels, shapes;
  bool markdown = false, text = false;
  std::string into, marker, svg, chart = "climb", html, specs, with, save;
  bool draws() const { return !svg.empty() || !html.empty() || !specs.empty() || text; }
};

std::vector<Document> read_all(const std::vector<std::string>& files) {
  std::vector<Document> documents;
  for (const std::string& file : files) {
    documents.push_back(required(read_document(file)));
  }
  return documents;
}

// Keeps only the named kernels. A name is an id or the start of one (r14: all kernels of that
// rung).
void keep(std::vector<Document>& documents, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto named = [&](const Row& row) { return row.kernel.starts_with(name); };
    if (std::ranges::none_of(documents,
                             [&](const Document& d) { return std::ranges::any_of(d.rows, named); }))
      throw BadInput(fmt::format("--kernel: no row's kernel begins with '{}'", name));
  }
  for (Document& document : documents) {
    std::erase_if(document.rows, [&](const Row& row) {
      return std::ranges::none_of(
          names, [&](const std::string& name) { return row.kernel.starts_with(name); });
    });
  }
}

// Keeps only the named shapes.
void keep_shapes(std::vector<Document>& documents, const std::vector<std::string>& names) {
  std::vector<Problem> shapes;
  for (const std::string& name : names) {
    std::ranges::copy(required(parse_shapes(name), "--shape"), std::back_inserter(shapes));
  }
  for (Document& document : documents) {
    std::erase_if(document.rows, [&](const Row& row) {
      return std::ranges::none_of(shapes, [&](const Problem& p) {
        return p.m == row.problem.m && p.n == row.problem.n && p.k == row.problem.k;
      });
    });
  }
  if (std::ranges::all_of(documents, [](const Document& d) { return d.rows.empty(); }))
    throw BadInput("--shape: no row has one of these shapes");
}

#ifdef LADDER_HAVE_ANALYSE
std::string spec_file(const std::string& folder, const Chart& chart) {
  return (std::filesystem::path(folder) / (chart.name + ".vl.json")).string();
}

// Replaces Ladder's chart specifications by those that the user has changed.
void take_specs(std::vector<Chart>& charts, const std::string& folder) {
  if (folder.empty()) return;
  std::size_t taken = 0;
  for (Chart& chart : charts) {
    std::error_code error;
    const std::string file = spec_file(folder, chart);
    if (!std::filesystem::exists(file, error)) continue;
    chart.spec = required(read_file(file), "--with");
    ++taken;
  }
  if (taken == 0)
    throw BadInput(
        fmt::format("--with: no specification of {} charts is in {}", charts.size(), folder));
}

std::vector<std::string> rendered(const std::vector<Chart>& charts, const char* argument) {
  std::vector<std::string> specs;
  specs.reserve(charts.size());
  for (const Chart& chart : charts) specs.push_back(chart.spec);
  return required(page::render(specs), argument);
}

const Chart& chosen_chart(const std::vector<Chart>& charts, const std::string& name) {
  std::string there;
  for (const Chart& chart : charts) {
    if (chart.name == name) return chart;
    there += (there.empty() ? "" : ", ") + chart.name;
  }
  throw BadInput(fmt::format("--chart: no data for '{}'; there are: {}", name, there));
}

void print_text(const page::Contents& contents) {
  const std::size_t width = terminal_width(stdout);
  fmt::print("TFLOP/s at {}, {}\n", to_string(contents.problem),
             contents.rows.front().row->device.name);
  for (const auto& bars : contents.climbs)
    fmt::print("{}\n", fmt::join(climb_text(bars, width), "\n"));
  if (!contents.points.empty())
    fmt::print("\n{}\n", fmt::join(roofline_text(contents.roofs, contents.points, width), "\n"));
}

page::Contents gathered(const ReportOptions& o, const std::vector<Document>& documents,
                        bool analysed) {
  std::vector<std::string> names;
  for (const std::string& file : o.files)
    names.push_back(std::filesystem::path(file).filename().string());
  const Target target = analysed ? select_target("virtual:h200") : Target{};
  return required(page::gather(documents, names, target.cuda ? &*target.cuda : nullptr));
}

// Analysing every kernel takes seconds, so it is skipped for output that needs only rows.
page::Contents needed(const ReportOptions& o, const std::vector<Document>& documents) {
  if (!o.html.empty() || !o.svg.empty())
    required(page::can_render(), o.html.empty() ? "--svg" : "--html");
  if (o.html.empty() && o.specs.empty() && !o.text) {
    page::Contents contents = gathered(o, documents, false);
    const bool there = std::ranges::any_of(
        contents.charts, [&](const Chart& chart) { return chart.name == o.chart; });
    const std::string kind = o.chart.substr(0, o.chart.find('-'));
    if (there || (kind != "climb" && kind != "roofline" && kind != "occupancy")) return contents;
  }
  return gathered(o, documents, true);
}

void draw(const ReportOptions& o, const std::vector<Document>& documents) {
  page::Contents contents = needed(o, documents);
  if (o.text) print_text(contents);
  take_specs(contents.charts, o.with);
  if (!o.specs.empty()) {
    std::error_code error;
    std::filesystem::create_directory(o.specs, error);
    if (error) throw BadInput(fmt::format("--specs: {}: {}", o.specs, error.message()));
    for (const Chart& chart : contents.charts)
      write_file(spec_file(o.specs, chart), chart.spec + "\n", "--specs");
  }
  if (!o.svg.empty()) {
    const Chart& chart = chosen_chart(contents.charts, o.chart);
    write_file(o.svg, page::stand_alone(rendered({chart}, "--svg").front(), chart.description),
               "--svg");
  }
  if (!o.html.empty())
    write_file(o.html, page::html(contents, rendered(contents.charts, "--html")), "--html");
}
#else
void draw(const ReportOptions&, const std::vector<Document>&) {
  throw BadInput(
      "--html, --svg, --specs: this ladder was built without the virtual GPU, which analyses what "
      "is drawn");
}
#endif

int run(const ReportOptions& options) {
  if (options.into.empty() != options.marker.empty())
    throw BadInput("--into: goes together with --marker");
  if (!options.with.empty() && !options.draws())
    throw BadInput("--with: goes together with --html or --svg");
  require_writable(options.into, "--into");
  require_writable(options.save, "--save");
  require_writable(options.svg, "--svg");
  require_writable(options.html, "--html");
  std::error_code error;
  for (const auto& [argument, path] : {std::pair{"--html", options.html}, {"--svg", options.svg}}) {
    for (const std::string& file : options.files) {
      if (std::filesystem::equivalent(path, file, error))
        throw BadInput(fmt::format("{}: {} is one of the files to read", argument, path));
    }
  }
  if (!options.with.empty() && !std::filesystem::is_directory(options.with, error))
    throw BadInput(fmt::format("--with: {} is not a folder", options.with));
  std::vector<Document> documents = read_all(options.files);
  for (Document& document : documents) {
    for (Row& row : document.rows) {  // rows may be older than the description's present words
      if (const auto found = find_kernels(row.kernel); found && found.value().size() == 1)
        row.idea = found.value().front()->idea;
    }
  }
  if (!options.kernels.empty()) keep(documents, options.kernels);
  if (!options.shapes.empty()) keep_shapes(documents, options.shapes);
  if (!options.save.empty()) {
    if (documents.size() != 1) throw BadInput("--save: rows of one file go into one");
    write_file(options.save, to_json(documents.front()), "--save");
    return kOk;
  }
  if (options.draws()) draw(options, documents);
  if (!options.into.empty()) {
    write_between(options.into, options.marker, markdown(documents));
  } else if (options.markdown || !options.draws()) {
    fmt::print("{}", markdown(documents));
  }
  return kOk;
}

}  // namespace

void add_report(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand(
      "report", "Rows from --json or --save files as a page, a chart or a table");
  auto options = std::make_shared<ReportOptions>();
  verb->add_option("files", options->files, "files that --json or --save wrote")->required();
  verb->add_option("--kernel", options->kernels,
                   "only rows of these: a name or the start of one; repeatable")
      ->allow_extra_args(false);
  verb->add_option("--shape", options->shapes,
                   "only rows of these shapes: MxNxK or N, lists and ranges as for `ladder bench`; "
                   "repeatable")
      ->allow_extra_args(false);
  verb->add_option("--save", options->save,
                   "only rewrite the rows of one file in the current format");
  verb->add_option("--html", options->html,
                   "write a page with charts, pictures of accesses and tables to this file");
  verb->add_flag("--text", options->text, "the climb and the roofline as characters, on stdout");
  verb->add_flag("--markdown", options->markdown, "a table, on stdout unless --into (the default)");
  verb->add_option("--into", options->into, "replace the text between two markers of this file");
  verb->add_option("--marker", options->marker,
                   "NAME: between <!-- ladder:NAME --> and <!-- /ladder:NAME -->");
  CLI::Option* svg = verb->add_option("--svg", options->svg, "draw one chart here");
  verb->add_option(
          "--chart", options->chart,
          "which one: climb (default), sizes, time, roofline, accuracy, occupancy, samples; "
          "climb-tf32 and the like for other precisions")
      ->needs(svg);
  verb->add_option("--specs", options->specs,
                   "write all charts as Vega-Lite specifications into this folder");
  verb->add_option("--with", options->with,
                   "take the specifications in this folder instead of Ladder's own");
  verb->footer(
      "Charts are drawn by vl-convert (a Python package; scripts/setup installs it).\n"
      "Examples:\n"
      "  ladder report rows.json --html report.html\n"
      "  ladder report rows.json --text\n"
      "  ladder report rows.json --markdown --into README.md --marker rungs --svg docs/climb.svg\n"
      "  ladder report rows.json --kernel r13 --kernel r14 --kernel cublas_bf16\n"
      "  ladder report baselines.json python.json --shape 4096\n"
      "  ladder report old.json --save new.json\n"
      "  ladder report rows.json --specs charts    (change charts/climb.vl.json, then)\n"
      "  ladder report rows.json --with charts --html report.html");
  verb->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace ladder::app
