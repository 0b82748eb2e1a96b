// SPDX-License-Identifier: Apache-2.0
#include "host/limits.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace ladder::host {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kKib = 1024;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || (end != text.data() + text.size() && *end != ' '))
    return std::nullopt;
  return value;
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The text after "KEY: " in a file of such lines.
std::optional<std::string> field(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_last_not_of(" \t", colon - 1) + 1 != key.size()) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos)
      return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> kib_field(const fs::path& path, std::string_view key) {
  const auto text = field(path, key);
  const auto kib = text ? number(*text) : std::nullopt;
  return kib ? std::optional(*kib * kKib) : std::nullopt;
}

// The control groups of `controller` that contain this process, innermost first, for cgroup
// versions 2 and 1.
std::vector<fs::path> groups(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  const fs::path mounted = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string of = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = of == ",,";
    if (!unified && of.find("," + controller + ",") == std::string::npos) continue;
    const fs::path base = unified ? mounted : mounted / controller;
    for (fs::path path = fs::path(line.substr(second + 1)).relative_path(); !path.empty();
         path = path.parent_path())
      folders.push_back(base / path);
    folders.push_back(base);
  }
  folders.insert(folders.end(),
                 // fallback for containers that see only their own group
                 {mounted, mounted / controller});
  return folders;
}

std::optional<double> quota_of(const fs::path& group) {
  std::istringstream max(first_line(group / "cpu.max"));
  std::string quota, period;
  if (!(max >> quota >> period)) {
    quota = first_line(group / "cpu.cfs_quota_us");
    period = first_line(group / "cpu.cfs_period_us");
  }
  const auto time = number(quota), of = number(period);
  if (!time || !of || *time == 0 || *of == 0) return std::nullopt;
  return static_cast<double>(*time) / static_cast<double>(*of);
}

std::optional<std::uint64_t> memory_left(const fs::path& group) {
  const auto left = [&](const char* limit, const char* usage) -> std::optional<std::uint64_t> {
    const auto most = number(first_line(group / limit)), used = number(first_line(group / usage));
    if (!most || !used) return std::nullopt;
    return *most - std::min(*most, *used);
  };
  const auto unified = left("memory.max", "memory.current");
  return unified ? unified : left("memory.limit_in_bytes", "memory.usage_in_bytes");
}

// The `ulimit -v` limit minus the mapped memory.
std::optional<std::uint64_t> address_space_left(const fs::path& root) {
  constexpr std::string_view kLimit = "Max address space";
  std::ifstream limits(root / "proc/self/limits");
  for (std::string line; std::getline(limits, line);) {
    if (!line.starts_with(kLimit)) continue;
    const std::size_t begin = line.find_first_not_of(' ', kLimit.size());
    const auto most =
        begin == std::string::npos ? std::nullopt : number(std::string_view(line).substr(begin));
    const auto mapped = kib_field(root / "proc/self/status", "VmSize");
    if (most && mapped) return *most - std::min(*most, *mapped);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> count_of_list(const std::string& list) {
  constexpr std::uint64_t kMost = 1 << 20;
  std::uint64_t count = 0;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kMost) return std::nullopt;
    count += *last - *first + 1;
  }
  return count > 0 && count <= kMost ? std::optional(static_cast<int>(count)) : std::nullopt;
}

Processors processors(const fs::path& root) {
  Processors out;
  out.online = count_of_list(first_line(root / "sys/devices/system/cpu/online"));
  if (const auto list = field(root / "proc/self/status", "Cpus_allowed_list"))
    out.allowed = count_of_list(*list);
  if (out.online && out.allowed) out.allowed = std::min(*out.online, *out.allowed);
  for (const fs::path& group : groups(root, "cpu")) {
    const auto quota = quota_of(group);
    if (quota && (!out.quota || *quota < *out.quota)) out.quota = quota;
  }
  return out;
}

std::optional<std::string> processor_name(const fs::path& root) {
  for (const char* key : {"model name", "cpu model", "Processor", "cpu"}) {
    if (auto name = field(root / "proc/cpuinfo", key)) return name;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> available_memory(const fs::path& root) {
  std::optional<std::uint64_t> least = kib_field(root / "proc/meminfo", "MemAvailable");
  if (!least)
    // Kernels before 3.14, and some containers, have no MemAvailable.
    least = kib_field(root / "proc/meminfo", "MemFree");
  const auto limit = [&](std::optional<std::uint64_t> bytes) {
    if (bytes && (!least || *bytes < *least)) least = bytes;
  };
  for (const fs::path& group : groups(root, "memory")) limit(memory_left(group));
  limit(address_space_left(root));
  return least;
}

}  // namespace ladder::host
