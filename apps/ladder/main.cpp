// SPDX-License-Identifier: Apache-2.0
// The command line of ladder. Each verb has its own file; this one parses arguments and converts
// errors into exit statuses.
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
#include "pages/pages.hpp"
#include "report/text.hpp"
#include "tune/process.hpp"

namespace {

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return ladder::printable(text);
}

// Returns the verb that the first argument names; null if the first argument is an option. CLI11
// would report only that a verb is missing, not that this one does not exist.
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

// "--seed -1" becomes "--seed=-1". CLI11 would parse the value as an option.
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
    if (std::ranges::find(values, "") != values.end())
      throw ladder::app::BadInput(option->get_name(false, true) + ": is empty; it needs a value");
  }
}

// If a standard stream is closed, the next opened file gets its descriptor and output is printed
// into that file. This opens the descriptors in the wrong direction, so that access fails as for
// closed streams.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0)
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Removes relative folders from PATH, since compilers and other tools also start programs by name.
void take_absolute_path() {
#ifndef LADDER_ONLY_CLIMB  // a program with climb alone starts no other programs
  const auto folders = ladder::tune::search_path();
  ::setenv("PATH", fmt::format("{}", fmt::join(folders, ":")).c_str(), 1);
#endif
}

// Output that could not be printed (a full disk, a closed stream) is an error.
int after_printing(int status) {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return status;
  // If an earlier flush failed, errno is no longer known.
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
  add_learn(app, chosen);
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
    std::ranges::reverse(arguments);  // as CLI11 takes them
    app.parse(arguments);
    if (verb != nullptr) require_values(*verb);
    return chosen();
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "ladder: {} (ladder --help)\n", one_line(ladder::pages::message_of(error)));
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
