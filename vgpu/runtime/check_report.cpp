// SPDX-License-Identifier: Apache-2.0
#include "runtime/check_report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace vgpu {
namespace {

using Json = nlohmann::json;

constexpr const char *kProcessKey = "process", *kRule = "rule", *kKernel = "kernel",
                     *kMessage = "message", *kFile = "file", *kLine = "line";

// One write, so that the lines of several processes do not mix.
std::string append(const std::string& path, Json line) {
  if (path.empty()) return "";
  line[kProcessKey] = ::getpid();
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return fmt::format("cannot write {}: {}", path, std::strerror(errno));
  const ssize_t written = ::write(file, text.data(), text.size());
  const int error = written < 0 ? errno : written == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
  ::close(file);
  if (error == 0) return "";
  ::unlink(path.c_str());  // `vgpu` treats a missing report as a failed check
  return fmt::format("cannot write {}: {}", path, std::strerror(error));
}

}  // namespace

std::string report_finding(const std::string& file, const Finding& finding) {
  return append(file, {{kRule, finding.rule},
                       {kKernel, finding.kernel},
                       {kMessage, finding.message},
                       {kFile, finding.file},
                       {kLine, finding.line}});
}

std::string report_cleared(const std::string& file) { return append(file, Json::object()); }

std::vector<Finding> findings_in(std::string_view report) {
  std::vector<std::pair<int, Finding>> found;  // with the process
  while (!report.empty()) {
    const auto end = std::min(report.find('\n'), report.size());
    const Json line = Json::parse(report.substr(0, end), nullptr, false);
    report.remove_prefix(std::min(end + 1, report.size()));
    if (!line.is_object()) continue;
    const int process = line.at(kProcessKey).get<int>();
    if (line.contains(kRule)) {
      found.push_back({process,
                       {line.at(kRule).get<std::string>(), line.at(kKernel).get<std::string>(),
                        line.at(kMessage).get<std::string>(), line.at(kFile).get<std::string>(),
                        line.at(kLine).get<int>()}});
    } else {
      std::erase_if(found, [&](const auto& other) { return other.first == process; });
    }
  }
  std::vector<Finding> findings;
  for (auto& [process, finding] : found) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace vgpu
