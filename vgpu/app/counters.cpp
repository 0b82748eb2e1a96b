// SPDX-License-Identifier: Apache-2.0
#include "app/app.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace vgpu::app {
namespace {

namespace fs = std::filesystem;

// Returns "" or an error message.
std::string put_in_place(const std::string& path) {
  const std::string part = path + ".part";
  const int file = ::open(part.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return errno == ENOENT ? "" : fmt::format("cannot read {}: {}", part, std::strerror(errno));
  std::ifstream in(part);
  if (!nlohmann::json::accept(in)) {
    ::close(file);
    return fmt::format("{} is incomplete: its process was killed while it wrote; {} is as it was",
                       part, path);
  }
  const bool synced = ::fsync(file) == 0 || errno == EINVAL;
  ::close(file);
  if (!synced || std::rename(part.c_str(), path.c_str()) != 0)
    return fmt::format("cannot write {}: {}", path, std::strerror(errno));
  return "";
}

}  // namespace

CountersFiles finish_counters(const std::string& claims) {
  std::vector<fs::path> names;
  for (const auto& entry : fs::directory_iterator(claims)) names.push_back(entry.path());
  std::ranges::sort(names, [](const fs::path& a, const fs::path& b) {
    const bool first_a = a.filename() == "first", first_b = b.filename() == "first";
    return first_a != first_b ? first_a : a < b;
  });
  CountersFiles files;
  for (const fs::path& name : names) {
    if (name.extension() == ".failed") {
      files.failed = true;
      continue;
    }
    const std::string path = fs::read_symlink(name).string();
    if (std::string error = put_in_place(path); error.empty())
      files.paths.push_back(path);
    else
      files.errors.push_back(std::move(error));
  }
  files.failed |= !files.errors.empty();
  return files;
}

}  // namespace vgpu::app
