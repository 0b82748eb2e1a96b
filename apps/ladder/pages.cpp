// SPDX-License-Identifier: Apache-2.0
// ladder completion, ladder manual: print the files that `make install` installs for shells and
// man.
#include "pages/pages.hpp"

#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "common.hpp"
#include "problem/suites.hpp"
#include "report/installation.hpp"

#ifdef LADDER_HAVE_ANALYSE
#include "learn/exercise.hpp"
#endif

#ifdef LADDER_HAVE_VGPU
#include "devices/devices.hpp"
#endif

namespace ladder::app {
namespace {

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const KernelInfo& kernel : kernels()) {
    const std::string rung(kernel.rung);
    const std::string number = rung.substr(0, rung.find('_'));
    for (const std::string& name : {number, rung, std::string(kernel.id)}) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names{"auto", "cpu", "cuda:0"};
#ifdef LADDER_HAVE_VGPU
  for (const vgpu::Device& device : vgpu::devices())
    names.push_back("virtual:" + std::string(device.id));
#endif
  return names;
}

pages::Program program(const CLI::App& app) {
  const std::vector<std::string> kernels = kernel_names(), devices = device_names();
  std::vector<std::string> suites;
  for (const Suite& suite : ladder::suites()) suites.emplace_back(suite.name);
  pages::Program program{app, "ladder", LADDER_VERSION, {}};
  for (const char* name : {"kernels", "--kernel", "RUNG", "A", "B", "--against", "--baseline"})
    program.values[name] = kernels;
  for (const char* name : {"--device", "--explain-on"}) program.values[name] = devices;
  program.values["--suite"] = suites;
  program.values["--battery"] = {"quick", "full"};
#ifdef LADDER_HAVE_ANALYSE
  if (const auto course = learn::read_course(std::filesystem::path(source_folder()) / "lessons")) {
    for (const learn::Exercise& exercise : course.value())
      program.values["EXERCISE"].push_back(exercise.number());
  }
#endif
  program.values["SHELL"] = {std::begin(pages::kShells), std::end(pages::kShells)};
  return program;
}

}  // namespace

void add_pages(CLI::App& app, Verb& chosen) {
  CLI::App* completion =
      app.add_subcommand("completion", "What a shell needs to complete ladder's command lines");
  auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  completion->footer(
      "Examples:\n  source <(ladder completion bash)\n  ladder completion fish | source");
  completion->callback([&app, &chosen, shell] {
    chosen = [&app, shell] {
      const std::string text = pages::completion(program(app), *shell);
      if (text.empty())
        throw BadInput(fmt::format("SHELL: '{}' is none of bash, zsh, fish", *shell));
      fmt::print("{}", text);
      return kOk;
    };
  });
  CLI::App* manual = app.add_subcommand("manual", "The manual page of ladder, as troff")->group("");
  manual->callback([&app, &chosen] {
    chosen = [&app] {
      fmt::print("{}", pages::manual(program(app)));
      return kOk;
    };
  });
}

}  // namespace ladder::app
