// SPDX-License-Identifier: Apache-2.0
#include "page/render.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "page/files.hpp"
#include "report/chart.hpp"
#include "report/installation.hpp"
#include "report/temporary.hpp"
#include "report/text.hpp"
#include "tune/process.hpp"

namespace ladder::page {
namespace {

constexpr int kNotInstalled = 3;  // render_charts.py's exit status
constexpr std::chrono::seconds kLimit{120};

// LADDER_PYTHON if set, else the one that scripts/setup installed beside the sources, else python3
// from PATH.
std::string python() {
  const char* chosen = std::getenv("LADDER_PYTHON");
  const std::string own = source_folder() + "/.toolchain/charts/bin/python";
  std::error_code error;
  if ((chosen == nullptr || *chosen == '\0') && std::filesystem::exists(own, error)) return own;
  return tune::find_tool("LADDER_PYTHON", "python3");
}

Status run_python(const std::vector<std::string>& arguments) {
  const std::string program = python();
  const std::string how =
      "scripts/setup installs it, or: pip install vl-convert-python in a virtual environment whose "
      "Python LADDER_PYTHON names";
  if (program.empty())
    return {Code::kIo,
            "charts are drawn by vl-convert, and there is no Python (LADDER_PYTHON, PATH); " + how};
  // -I: modules are loaded only from that Python, never from the current folder or PYTHONPATH.
  std::vector<std::string> command{program, "-I", "-c", std::string(file("render_charts.py"))};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto done = tune::run(command, tune::Clock::now() + kLimit, {});
  if (!done)
    return {Code::kIo,
            fmt::format("charts are drawn by vl-convert, and {} does not start; {}", program, how)};
  const tune::Finished& f = done.value();
  if (!f.ended)
    return {Code::kIo, fmt::format("{}: drawing took over {} s", program, kLimit.count())};
  if (f.end.status == 0) return Status::ok();
  if (f.end.status == kNotInstalled)
    return {Code::kIo, fmt::format("charts are drawn by vl-convert, which {} does not have; {}",
                                   program, how)};
  return {Code::kIo,
          fmt::format("vl-convert: {}",
                      f.output.empty() ? f.end.text : f.output.substr(0, f.output.find('\n')))};
}

}  // namespace

Status can_render() { return run_python({}); }

Result<std::vector<std::string>> render(std::span<const std::string> specs) {
  if (specs.empty()) return std::vector<std::string>();
  const auto folder = Temporary::folder("charts");
  if (!folder) return folder.status();
  const std::string in = (folder.value().path() / "specs.json").string();
  const std::string out = (folder.value().path() / "pictures.json").string();
  std::string all = "[";
  for (const std::string& spec : specs) all += (all.size() > 1 ? ",\n" : "") + spec;
  if (Status status = write_atomic(in, all + "]"); !status) return status;
  if (Status status = run_python({in, out}); !status) return status;
  const auto text = read_file(out);
  if (!text) return text.status();
  const auto pictures = nlohmann::json::parse(text.value(), nullptr, false);
  if (!pictures.is_array() || pictures.size() != specs.size())
    return Status(Code::kIo, "vl-convert drew something else than was asked");
  return pictures.get<std::vector<std::string>>();
}

std::string dark_rules(const std::string& selector) {
  std::string rules;
  for (const auto& [light, dark] : dark_colors()) {
    for (const char* what : {"fill", "stroke"})
      rules += fmt::format("{0}[{1}=\"{2}\"]{{{1}:{3}}}", selector, what, light, dark);
  }
  return rules;
}

std::string stand_alone(const std::string& svg, const std::string& title) {
  const auto head = svg.find('>');
  if (head == std::string::npos) return svg;
  return svg.substr(0, head) + fmt::format(" role=\"img\" aria-label=\"{}\"", escape(title)) +
         "><style>@media(prefers-color-scheme:dark){" + dark_rules("") + "}</style>" +
         svg.substr(head + 1) + "\n";
}

std::string escape(std::string_view text) {
  std::string safe;
  for (const char ch : printable(text, "\n\t")) {
    switch (ch) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += ch;
    }
  }
  return safe;
}

}  // namespace ladder::page
