// SPDX-License-Identifier: Apache-2.0
// ladder: the workbench's command line. One file a verb; this one parses and turns errors into exit
// statuses.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "common.hpp"
#include "report/text.hpp"
#include "tune/process.hpp"

namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return ladder::printable(text);
}

// The verb that is named first, null where an option is. CLI11 would only say that a verb is
// missing, not that this one is none.
const CLI::App* known_verb(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "-" : arguments.front();
  if (first.starts_with("-")) return nullptr;
  std::string verbs;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_name() == first) return verb;
    if (verb->get_group().empty()) continue;
    verbs += (verbs.empty() ? "" : ", ") + verb->get_name();
  }
  throw ladder::app::BadInput(fmt::format("no verb '{}'; there are {}", first, verbs));
}

// "--seed -1" becomes "--seed=-1": CLI11 would take the value for an option, and miss one.
std::vector<std::string> with_negative_values(const CLI::App& verb,
                                              const std::vector<std::string>& arguments) {
  std::vector<std::string> joined;
  bool wants_value = false;
  for (const std::string& argument : arguments) {
    const bool negative = argument.size() > 1 && argument[0] == '-' &&
                          (argument[1] == '.' || (argument[1] >= '0' && argument[1] <= '9'));
    if (wants_value && negative) {
      joined.back() += (joined.back().starts_with("--") ? "=" : "") + argument;
    } else {
      joined.push_back(argument);
    }
    const CLI::Option* option =
        argument.starts_with('-') ? verb.get_option_no_throw(argument) : nullptr;
    wants_value = option != nullptr && option->get_items_expected_max() > 0;
  }
  return joined;
}

void require_values(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const auto& values = option->results();
    if (std::find(values.begin(), values.end(), "") != values.end())
      throw ladder::app::BadInput(option->get_name(false, true) + ": is empty; it needs a value");
  }
}

// Standard streams that are closed would be the next files that are opened, and be printed into.
// Opened the wrong way round, they fail as closed ones do.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0)
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Compilers and other programs start programs, too.
void take_absolute_path() {
#ifndef LADDER_ONLY_CLIMB  // which starts none
  const auto folders = ladder::tune::search_path();
  ::setenv("PATH", fmt::format("{}", fmt::join(folders, ":")).c_str(), 1);
#endif
}

// What could not be printed (a full disk, a closed stream) is no success.
int after_printing(int status) {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return status;
  // What a flush before this one lost has no number any more.
  fmt::print(stderr, "ladder: standard output: {}\n",
             flushed ? "not everything could be written" : std::strerror(errno));
  return status == ladder::app::kOk ? ladder::app::kFailed : status;
}

int run(std::vector<std::string> arguments) {
  using namespace ladder::app;
  CLI::App app(
      "Matrix multiplication kernels, rung by rung: verified, measured or counted, explained.",
      "ladder");
  app.set_version_flag("--version", "ladder " LADDER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Without a GPU everything runs on the virtual one. `ladder VERB --help` has examples.\n"
      "Exit status: 0 fine, 1 a kernel failed verification or became slower, 2 bad input, 130 "
      "interrupted.");
  Verb chosen;
  add_climb(app, chosen);
#ifndef LADDER_ONLY_CLIMB
  add_verify(app, chosen);
  add_bench(app, chosen);
  add_atlas(app, chosen);
  add_tune(app, chosen);
#ifdef LADDER_HAVE_ANALYSE
  add_explain(app, chosen);
  add_diff(app, chosen);
  add_show(app, chosen);
  add_profile(app, chosen);
  add_run(app, chosen);
#endif
  add_new(app, chosen);
  add_list(app, chosen);
  add_report(app, chosen);
  add_doctor(app, chosen);
  add_pages(app, chosen);
#endif
  try {
    const CLI::App* verb = known_verb(app, arguments);
    if (verb != nullptr) arguments = with_negative_values(*verb, arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(arguments);
    if (verb != nullptr) require_values(*verb);
    return chosen();
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "ladder: {} (ladder --help)\n", one_line(error.what()));
    return kBadInput;
  } catch (const BadInput& error) {
    fmt::print(stderr, "ladder: {}\n", one_line(error.what()));
    return kBadInput;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    occupy_closed_streams();
    take_absolute_path();
    ladder::app::take_cuda_of_machine();
    return after_printing(run({argv + std::min(argc, 1), argv + argc}));
  } catch (const std::system_error& error) {
    const char* what = std::ferror(stdout) != 0 ? "standard output: " : "";
    std::fputs(("ladder: " +
                (what + one_line(*what != '\0' ? error.code().message() : error.what())) + "\n")
                   .c_str(),
               stderr);
    return ladder::app::kFailed;
  } catch (const std::exception& error) {
    std::fputs(("ladder: " + one_line(error.what()) + "\n").c_str(), stderr);
    return ladder::app::kFailed;
  }
}
