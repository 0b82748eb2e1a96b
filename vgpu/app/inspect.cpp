// SPDX-License-Identifier: Apache-2.0
#include "app/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace vgpu::app {
namespace {

Inspection fails(const std::string& why) {
  Inspection result;
  result.error = why;
  return result;
}

}  // namespace

std::vector<Library> parse_loader_list(const std::string& text) {
  std::vector<Library> libraries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // "\tlibcudart.so.13 => /usr/lib/libcudart.so.13 (0x00007f...)", or "... => not found". A
    // relative path is that of a relative RPATH.
    constexpr std::string_view kArrow = " => ";
    const auto arrow = line.find(kArrow);
    if (arrow == line.npos) continue;
    const auto begin = line.find_first_not_of(" \t");
    std::string path = line.substr(arrow + kArrow.size());
    path = path.ends_with(')') ? path.substr(0, path.rfind(" (")) : "";
    libraries.push_back({line.substr(begin, arrow - begin), path, {}});
  }
  return libraries;
}

Inspection judge(const std::string& program, const CudaFile& file,
                 const std::vector<Library>& libraries) {
  if (const std::string why = obstacle(file); !why.empty())
    return fails(fmt::format("{} {}", program, why));
  if (file.is_elf && file.interpreter.empty() && file.runtime != StaticRuntime::kNone) {
    return fails(fmt::format(
        "{} has the CUDA runtime linked in, but no dynamic loader: link it without -static",
        program));
  }
  const auto is_ours = [](const Library& library) {
    return std::ranges::find(kStandIns, library.name) != kStandIns.end() ||
           library.file.runtime == StaticRuntime::kCuda13 ||
           library.file.runtime == StaticRuntime::kCuda12;
  };
  if (file.runtime != StaticRuntime::kNone || std::ranges::any_of(libraries, is_ours)) return {};
  for (const Library& library : libraries) {
    if (library.name.starts_with("libcudart.so")) {
      return fails(
          fmt::format("{} is linked to {}; the virtual GPU stands in for those of CUDA 12 and 13: "
                      "rebuild it with one of them",
                      program, library.name));
    }
  }
  Inspection doubtful;
  doubtful.warning = fmt::format(
      "{} uses no CUDA library: only what it loads or starts can run on the virtual GPU", program);
  return doubtful;
}

Inspection inspect(const std::string& program, const Environment& environment) {
  const CudaFile file = read_cuda_file(program);
  std::vector<Library> libraries;
  if (!file.interpreter.empty()) {
    // The loader only lists the libraries; the program itself does not run.
    libraries = parse_loader_list(
        output_of(file.interpreter,
                  {file.interpreter, "--list", std::filesystem::absolute(program)}, environment));
  }
  std::uint64_t tls_bytes = 0;
  for (Library& library : libraries) {
    library.file = read_cuda_file(library.path);
    tls_bytes += library.file.tls_bytes;
  }
  Inspection result = judge(program, file, libraries);
  result.tls_bytes = tls_bytes;
  return result;
}

}  // namespace vgpu::app
