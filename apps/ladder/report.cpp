// SPDX-License-Identifier: Apache-2.0
// ladder report: rows from files as a markdown table or a picture.
#include <fmt/format.h>

#include <memory>

#include "common.hpp"
#include "report/chart.hpp"
#include "report/table.hpp"

namespace ladder::app {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  bool markdown = false;
  std::string into, marker, svg, chart = "climb";
};

std::vector<Document> read_all(const std::vector<std::string>& files) {
  std::vector<Document> documents;
  for (const std::string& file : files) {
    auto document = read_document(file);
    if (!document) throw BadInput(document.status().message());
    documents.push_back(std::move(document).value());
  }
  return documents;
}

void write(const std::string& path, const std::string& text, const std::string& argument) {
  if (Status status = write_atomic(path, text); !status) throw BadInput(argument + ": " + status.message());
}

int run(const ReportOptions& options) {
  if (options.into.empty() != options.marker.empty()) throw BadInput("--into: goes together with --marker");
  if (options.chart != "climb" && options.chart != "sizes")
    throw BadInput(fmt::format("--chart: '{}' is neither climb nor sizes", options.chart));
  require_writable(options.into, "--into");
  require_writable(options.svg, "--svg");
  const std::vector<Document> documents = read_all(options.files);
  if (!options.svg.empty()) {
    const auto svg = options.chart == "climb" ? climb_chart(documents) : sizes_chart(documents);
    if (!svg) throw BadInput("--svg: " + svg.status().message());
    write(options.svg, svg.value(), "--svg");
  }
  if (!options.into.empty()) {
    const auto before = read_file(options.into);
    if (!before) throw BadInput("--into: " + before.status().message());
    const auto after = splice(before.value(), options.marker, markdown(documents));
    if (!after) throw BadInput(fmt::format("--marker: {}: {}", options.into, after.status().message()));
    if (after.value() != before.value()) write(options.into, after.value(), "--into");
  } else if (options.markdown || options.svg.empty()) {
    fmt::print("{}", markdown(documents));
  }
  return kOk;
}

}  // namespace

void add_report(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("report", "Rows from --json files as a markdown table or a picture");
  auto options = std::make_shared<ReportOptions>();
  verb->add_option("files", options->files, "files that --json wrote")->required();
  verb->add_flag("--markdown", options->markdown, "a table, on stdout unless --into (the default)");
  verb->add_option("--into", options->into, "replace the text between two markers of this file");
  verb->add_option("--marker", options->marker,
                   "NAME: between <!-- ladder:NAME --> and <!-- /ladder:NAME -->");
  verb->add_option("--svg", options->svg, "draw a picture here");
  verb->add_option("--chart", options->chart,
                   "what --svg draws: climb, a bar a rung (default), or sizes, rates over the side of cubes");
  verb->footer(
      "Examples:\n"
      "  ladder report rows.json\n"
      "  ladder report rows.json --markdown --into README.md --marker rungs --svg docs/climb.svg\n"
      "  ladder report sizes.json --chart sizes --svg sizes.svg");
  verb->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace ladder::app
