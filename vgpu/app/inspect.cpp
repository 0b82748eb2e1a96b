// SPDX-License-Identifier: Apache-2.0
#include "app/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "app/elf.hpp"

namespace vgpu::app {
namespace {

constexpr std::string_view kRuntime = "libcudart.so.13";
constexpr std::array<std::string_view, 2> kStandIns = {kRuntime, "libcublas.so.13"};

bool same_folder(const std::string& file, const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::equivalent(std::filesystem::path(file).parent_path(), folder, ignored);
}

}  // namespace

std::vector<Library> parse_loader_list(const std::string& text) {
  std::vector<Library> libraries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // "\tlibcudart.so.13 => /usr/lib/libcudart.so.13 (0x00007f...)", or "... => not found"
    constexpr std::string_view kArrow = " => ";
    const auto arrow = line.find(kArrow);
    if (arrow == line.npos) continue;
    const auto begin = line.find_first_not_of(" \t");
    std::string path = line.substr(arrow + kArrow.size());
    path = path.starts_with('/') ? path.substr(0, path.rfind(" (")) : "";
    libraries.push_back({line.substr(begin, arrow - begin), path});
  }
  return libraries;
}

Inspection judge(const std::string& program, bool has_device_code,
                 const std::vector<Library>& libraries, const std::string& library_folder) {
  Inspection result;
  const auto is_runtime = [](const Library& library) { return library.name == kRuntime; };
  if (std::none_of(libraries.begin(), libraries.end(), is_runtime)) {
    for (const Library& library : libraries) {
      if (!library.name.starts_with("libcudart.so")) continue;
      result.error =
          fmt::format("{} is linked to {}; the virtual GPU stands in for {}: rebuild with CUDA 13",
                      program, library.name, kRuntime);
      return result;
    }
    if (has_device_code) {
      result.error = fmt::format(
          "{} has the CUDA runtime linked in; rebuild it with `nvcc -cudart shared`", program);
    } else {
      result.warning = fmt::format(
          "{} does not link {}: only what it loads or starts can run on the virtual GPU", program,
          kRuntime);
    }
    return result;
  }
  for (const Library& library : libraries) {
    const bool ours =
        std::find(kStandIns.begin(), kStandIns.end(), library.name) != kStandIns.end();
    if (ours && !library.path.empty() && !same_folder(library.path, library_folder)) {
      result.preload.push_back((std::filesystem::path(library_folder) / library.name).string());
    }
  }
  return result;
}

Inspection inspect(const std::string& program, const std::string& library_folder,
                   const Environment& environment) {
  const ElfFacts facts = read_elf(program);
  std::vector<Library> libraries;
  if (!facts.interpreter.empty()) {
    // The loader only lists the libraries; the program itself does not run.
    libraries = parse_loader_list(
        output_of(facts.interpreter,
                  {facts.interpreter, "--list", std::filesystem::absolute(program)}, environment));
  }
  return judge(program, facts.has_device_code, libraries, library_folder);
}

}  // namespace vgpu::app
