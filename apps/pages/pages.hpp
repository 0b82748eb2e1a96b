// SPDX-License-Identifier: Apache-2.0
// What a shell and man show of a program, made from its command line as CLI11 knows it.
#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace ladder::pages {

// The words that an option or positional takes, by its name ("--device", "kernels"). Others take
// files.
using Values = std::map<std::string, std::vector<std::string>>;

struct Program {
  const CLI::App& app;
  std::string name, version;
  Values values;
  bool runs_program = false;  // what follows the options is a program and its arguments
};

// A page of section 1, as troff.
std::string manual(const Program& program);

constexpr const char* kShells[] = {"bash", "zsh", "fish"};
// "": no such shell.
std::string completion(const Program& program, const std::string& shell);

// What is shown of `app`: neither hidden options nor hidden verbs.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);
std::vector<const CLI::App*> shown_verbs(const CLI::App& app);
bool is_flag(const CLI::Option& option);

}  // namespace ladder::pages
