// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "pages/pages.hpp"

namespace ladder::pages {
namespace {

std::string troff(const std::string& text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (ch == '.' || ch == '\'')) safe += "\\&";
    if (ch == '\\') {
      safe += "\\e";
    } else if (ch == '-') {
      safe += "\\-";
    } else {
      safe += ch;
    }
  }
  return safe;
}

std::string verbatim(const std::string& text) {
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", troff(text));
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char ch) { return std::toupper(ch); });
  return text;
}

std::string value_of(const CLI::Option& option) {
  return is_flag(option) ? "" : fmt::format(" {}", option.get_type_name());
}

std::string options_of(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : shown_options(app)) {
    std::string names = option->get_name(false, true);
    if (option->get_positional() && option->get_lnames().empty() && option->get_snames().empty())
      names = option->get_name(true);
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", troff(names), troff(value_of(*option)),
                        troff(option->get_description()));
  }
  return text;
}

std::string positionals_of(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : shown_options(app)) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true);
    text += option->get_required() ? " " + name : fmt::format(" [{}]", name);
  }
  return text;
}

}  // namespace

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options();
  std::erase_if(options, [](const CLI::Option* option) { return option->get_group().empty(); });
  return options;
}

std::vector<const CLI::App*> shown_verbs(const CLI::App& app) {
  std::vector<const CLI::App*> verbs = app.get_subcommands([](const CLI::App*) { return true; });
  std::erase_if(verbs, [](const CLI::App* verb) { return verb->get_group().empty(); });
  return verbs;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::string manual(const Program& program) {
  const CLI::App& app = program.app;
  const auto verbs = shown_verbs(app);
  std::string text = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                                 upper(program.name), program.name, program.version, program.name,
                                 troff(app.get_description()));
  text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR {}\n", program.name,
                      program.runs_program ? "[OPTIONS] [\\-\\-] PROGRAM ARGUMENTS..."
                      : verbs.empty()      ? "[OPTIONS]" + troff(positionals_of(app))
                                           : "VERB [OPTIONS]");
  text += ".SH OPTIONS\n" + options_of(app);
  if (!verbs.empty()) text += ".SH VERBS\n";
  for (const CLI::App* verb : verbs) {
    text += fmt::format(".SS \"{} {}{} [OPTIONS]\"\n{}\n", program.name, verb->get_name(),
                        troff(positionals_of(*verb)), troff(verb->get_description()));
    text += options_of(*verb) + verbatim(verb->get_footer());
  }
  if (!app.get_footer().empty()) text += ".SH NOTES\n" + verbatim(app.get_footer());
  return text;
}

}  // namespace ladder::pages
