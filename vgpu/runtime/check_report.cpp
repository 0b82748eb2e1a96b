// SPDX-License-Identifier: Apache-2.0
#include "runtime/check_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

namespace vgpu {
namespace {

constexpr std::string_view kCleared = "cleared";

std::string append(const std::string& path, const std::string& line) {
  if (path.empty()) return "";
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) return fmt::format("cannot write {}: {}", path, std::strerror(errno));
  const std::string text = fmt::format("{}\t{}\n", ::getpid(), line);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written) return "";
  const int error = errno;
  ::unlink(path.c_str());  // `vgpu` treats a missing report as a failed check
  return fmt::format("cannot write {}: {}", path, std::strerror(error));
}

}  // namespace

std::string report_fault(const std::string& file, std::string_view kind, std::string_view kernel) {
  return append(file, fmt::format("{}\t{}", kind, kernel));
}

std::string report_cleared(const std::string& file) { return append(file, std::string(kCleared)); }

bool check_fired(std::string_view report) {
  std::map<std::string_view, bool> faulty;  // by process id
  while (!report.empty()) {
    const auto end = std::min(report.find('\n'), report.size());
    const std::string_view line = report.substr(0, end);
    report.remove_prefix(std::min(end + 1, report.size()));
    const auto tab = line.find('\t');
    if (tab != line.npos) faulty[line.substr(0, tab)] = line.substr(tab + 1) != kCleared;
  }
  return std::any_of(faulty.begin(), faulty.end(),
                     [](const auto& process) { return process.second; });
}

}  // namespace vgpu
