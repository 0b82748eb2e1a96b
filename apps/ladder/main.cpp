// SPDX-License-Identifier: Apache-2.0
// ladder: the workbench's command line. One file a verb; this one parses and turns errors into exit statuses.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "common.hpp"

namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int run(int argc, char** argv) {
  using namespace ladder::app;
  CLI::App app("Matrix multiplication kernels, rung by rung: verified, measured or counted, explained.",
               "ladder");
  app.set_version_flag("--version", "ladder " LADDER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Without a GPU everything runs on the virtual one. `ladder VERB --help` has examples.\n"
      "Exit status: 0 fine, 1 a kernel failed verification, 2 bad input, 130 interrupted.");
  Verb chosen;
  add_climb(app, chosen);
  add_verify(app, chosen);
  add_list(app, chosen);
  add_report(app, chosen);
  add_doctor(app, chosen);
  try {
    app.parse(argc, argv);
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
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(("ladder: " + one_line(error.what()) + "\n").c_str(), stderr);
    return ladder::app::kFailed;
  }
}
