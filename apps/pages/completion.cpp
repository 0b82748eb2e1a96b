// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "pages/pages.hpp"

namespace ladder::pages {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

// "-o", "--output": as they are typed.
std::vector<std::string> typed_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : shown_options(app)) {
    for (std::string& name : typed_names(*option)) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : shown_verbs(app)) names.push_back(verb->get_name());
  return names;
}

// None: files.
const std::vector<std::string>* words_of(const Program& program, const CLI::Option& option) {
  std::vector<std::string> names = typed_names(option);
  if (option.get_positional()) names.push_back(option.get_name(true));
  for (const std::string& name : names) {
    if (const auto found = program.values.find(name); found != program.values.end())
      return &found->second;
  }
  return nullptr;
}

const CLI::Option* first_positional(const CLI::App& app) {
  const auto options = shown_options(app);
  const auto found = std::ranges::find_if(
      options, [](const CLI::Option* option) { return option->get_positional(); });
  return found == options.end() ? nullptr : *found;
}

// Within '...' of any shell; what `special` holds is escaped before.
std::string single_quoted(const std::string& text, const std::string& special = "") {
  std::string safe;
  for (const char ch : text) {
    if (ch == '\'') {
      safe += "'\\''";
    } else {
      safe += (special.find(ch) == std::string::npos ? "" : "\\") + std::string(1, ch);
    }
  }
  return safe;
}

// The part of a case statement that completes after the options and positionals of `app`.
std::string bash_level(const Program& program, const CLI::App& app) {
  std::string text = "      case \"$previous\" in\n";
  for (const CLI::Option* option : shown_options(app)) {
    if (is_flag(*option) || typed_names(*option).empty()) continue;
    const auto* words = words_of(program, *option);
    text += fmt::format("        {}) {} return ;;\n", joined(typed_names(*option), "|"),
                        words != nullptr
                            ? fmt::format("words='{}'; _{}_offer;", joined(*words), program.name)
                            : fmt::format("_{}_files;", program.name));
  }
  const CLI::Option* positional = first_positional(app);
  const auto* words = positional != nullptr ? words_of(program, *positional) : nullptr;
  std::vector<std::string> all = option_names(app);
  if (words != nullptr) all.insert(all.end(), words->begin(), words->end());
  for (std::string& verb : verb_names(app)) all.push_back(std::move(verb));
  text += fmt::format("      esac\n      words='{}'; _{}_offer\n", joined(all), program.name);
  if (positional != nullptr && words == nullptr)
    text += fmt::format("      [[ $current == -* ]] || _{}_files\n", program.name);
  return text;
}

std::string bash(const Program& program) {
  std::string cases;
  for (const CLI::App* verb : shown_verbs(program.app))
    cases += fmt::format("    {})\n{}      ;;\n", verb->get_name(), bash_level(program, *verb));
  const std::vector<std::string> verbs = verb_names(program.app);
  // The words are split at '=' and ':' by bash; they are put together again here.
  return fmt::format(
      R"(# bash completion of {0}
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb= words= i start
  local line=${{COMP_LINE:0:COMP_POINT}}
  [[ $line =~ [[:space:]]([^[:space:]]*)$ ]] && current=${{BASH_REMATCH[1]}}
  start=${{line%"$current"}}; start=${{start%"${{start##*[![:space:]]}}"}}; previous=${{start##*[[:space:]]}}
  if [[ $current == --*=* ]]; then previous=${{current%%=*}}; current=${{current#*=}}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{COMP_WORDS[i]}}" in {1}) verb=${{COMP_WORDS[i]}}; break ;; esac
  done
  _{0}_offer() {{
    local cut=; [[ $current == *:* ]] && cut=${{current%:*}}:
    COMPREPLY=($(compgen -W "$words" -- "$current")); COMPREPLY=("${{COMPREPLY[@]#"$cut"}}")
  }}
  _{0}_files() {{ compopt -o filenames 2>/dev/null; mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current"); }}
  case "$verb" in
    '')
{2}{3}      ;;
{4}  esac
}}
complete -F _{0} {0}
)",
      program.name, verbs.empty() ? "'--'" : joined(verbs, "|"), bash_level(program, program.app),
      program.runs_program ? "      [[ $current == -* ]] || mapfile -t COMPREPLY < <(compgen -c -- "
                             "\"$current\"; compgen -f -- \"$current\")\n"
                           : "",
      cases);
}

std::string zsh_action(const Program& program, const CLI::Option& option) {
  const auto* words = words_of(program, option);
  if (words == nullptr) return "_files";
  return fmt::format("({})", single_quoted(joined(*words), ":"));
}

std::string zsh_specs(const Program& program, const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : shown_options(app)) {
    const std::string about = single_quoted(option->get_description(), "[]:\\");
    for (const std::string& name : typed_names(*option)) {
      text += fmt::format(" \\\n        '*{}[{}]", name, about);
      if (!is_flag(*option)) text += fmt::format(":value:{}", zsh_action(program, *option));
      text += "'";
    }
  }
  if (const CLI::Option* positional = first_positional(app))
    text += fmt::format(" \\\n        '*:{}:{}'", single_quoted(positional->get_name(true), ":"),
                        zsh_action(program, *positional));
  return text;
}

std::string zsh(const Program& program) {
  std::string verbs, cases;
  for (const CLI::App* verb : shown_verbs(program.app)) {
    verbs += fmt::format("    '{}:{}'\n", verb->get_name(),
                         single_quoted(verb->get_description(), ":\\"));
    cases += fmt::format("      {})\n        _arguments{}\n        ;;\n", verb->get_name(),
                         zsh_specs(program, *verb));
  }
  // Found by compinit it is called; sourced it says what it completes.
  const std::string start =
      fmt::format("if [[ $funcstack[1] == _{0} ]]; then _{0} \"$@\"; else compdef _{0} {0}; fi\n",
                  program.name);
  std::string rest;
  if (program.runs_program) rest = " \\\n        '*::program:_normal'";
  if (verbs.empty())
    return fmt::format("#compdef {0}\n_{0}() {{\n  _arguments{1}{2}\n}}\n{3}", program.name,
                       zsh_specs(program, program.app), rest, start);
  return fmt::format(R"(#compdef {0}
_{0}() {{
  local context state line
  local -a verbs=(
{1}  )
  _arguments -C{2} \
        '1:verb:->verb' '*::argument:->argument'
  case $state in
    verb) _describe verb verbs ;;
    argument)
      case $line[1] in
{3}      esac
      ;;
  esac
}}
{4})",
                     program.name, verbs, zsh_specs(program, program.app), cases, start);
}

std::string fish_options(const Program& program, const CLI::App& app,
                         const std::string& condition) {
  std::string text;
  for (const CLI::Option* option : shown_options(app)) {
    const auto* words = words_of(program, *option);
    const std::string values = words == nullptr ? "" : fmt::format(" -a '{}'", joined(*words));
    const std::string about =
        fmt::format(" -d '{}'", single_quoted(option->get_description(), "\\"));
    if (!typed_names(*option).empty()) {
      text += fmt::format("complete -c {}{}", program.name, condition);
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      if (!is_flag(*option)) text += words == nullptr ? " -r -F" : " -x" + values;
      text += about + "\n";
    }
    if (option->get_positional())
      text += fmt::format("complete -c {}{} {}\n", program.name, condition,
                          words == nullptr ? "-F" : values);
  }
  return text;
}

std::string fish(const Program& program) {
  const auto verbs = shown_verbs(program.app);
  std::string text = fmt::format("# fish completion of {}\n", program.name);
  if (program.runs_program)
    text += fmt::format("complete -c {} -x -a '(__fish_complete_subcommand)'\n", program.name);
  if (!verbs.empty()) text += fmt::format("complete -c {} -f\n", program.name);
  text += fish_options(program, program.app, verbs.empty() ? "" : " -n __fish_use_subcommand");
  for (const CLI::App* verb : verbs) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d '{}'\n", program.name,
                        verb->get_name(), single_quoted(verb->get_description(), "\\"));
    text += fish_options(program, *verb,
                         fmt::format(" -n '__fish_seen_subcommand_from {}'", verb->get_name()));
  }
  return text;
}

}  // namespace

std::string completion(const Program& program, const std::string& shell) {
  if (shell == "bash") return bash(program);
  if (shell == "zsh") return zsh(program);
  return shell == "fish" ? fish(program) : "";
}

}  // namespace ladder::pages
