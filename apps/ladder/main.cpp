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

// CLI11 would only say that a verb is missing, not that this one is none.
void require_known_verb(const CLI::App& app, int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "-";
  if (first.starts_with("-")) return;
  std::string verbs;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_name() == first) return;
    if (verb->get_group().empty()) continue;
    verbs += (verbs.empty() ? "" : ", ") + verb->get_name();
  }
  throw ladder::app::BadInput(fmt::format("no verb '{}'; there are {}", first, verbs));
}

int run(int argc, char** argv) {
  using namespace ladder::app;
  CLI::App app("Matrix multiplication kernels, rung by rung: verified, measured or counted, explained.",
               "ladder");
  app.set_version_flag("--version", "ladder " LADDER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Without a GPU everything runs on the virtual one. `ladder VERB --help` has examples.\n"
      "Exit status: 0 fine, 1 a kernel failed verification or became slower, 2 bad input, 130 interrupted.");
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
    require_known_verb(app, argc, argv);
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
    ladder::app::take_cuda_of_machine();
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(("ladder: " + one_line(error.what()) + "\n").c_str(), stderr);
    return ladder::app::kFailed;
  }
}
