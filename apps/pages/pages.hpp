// SPDX-License-Identifier: Apache-2.0
// Man page, shell completion and error messages of a program, from its CLI11 command line.
#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ladder::pages {

// The possible values of an option or positional, by its name ("--device", "kernels"). Options
// without an entry take file names.
using Values = std::map<std::string, std::vector<std::string>>;

struct Program {
  const CLI::App& app;
  std::string name, version;
  Values values;
  bool runs_program = false;  // the options are followed by a program and its arguments
};

// Returns a man page of section 1 in troff.
std::string manual(const Program& program);

constexpr const char* kShells[] = {"bash", "zsh", "fish"};
// Returns "" for an unknown shell.
std::string completion(const Program& program, const std::string& shell);

// Returns the visible options of `app`, without hidden ones.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);
std::vector<const CLI::App*> shown_verbs(const CLI::App& app);
bool is_flag(const CLI::Option& option);

// CLI11's message, in plain words where an option is given several times.
inline std::string message_of(const CLI::ParseError& error) {
  constexpr std::string_view kSeveral = ": At Most 1 required but received ";
  std::string text = error.what();
  if (const auto at = text.find(kSeveral); at != text.npos)
    text = text.replace(at, kSeveral.size(), ": is given ") + " times";
  return text;
}

}  // namespace ladder::pages
