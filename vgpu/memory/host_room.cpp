// SPDX-License-Identifier: Apache-2.0
#include "memory/host_room.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace vgpu {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

// The single number in a file; `otherwise` if there is none ("max").
std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
  std::ifstream in(path);
  std::uint64_t number = 0;
  return in >> number ? number : otherwise;
}

// "name: 12 kB" or "name 12", line by line.
std::map<std::string, std::uint64_t> table_in(const std::string& path) {
  std::map<std::string, std::uint64_t> table;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name, unit;
    std::uint64_t number = 0;
    if (!(words >> name >> number)) continue;
    if (name.back() == ':') name.pop_back();
    table[name] = words >> unit ? number << 10 : number;
  }
  return table;
}

// A control group's limit applies to its children too.
void apply_groups(const std::string& mount, std::string path, bool is_v1, Bound& bound) {
  const std::string limit = is_v1 ? "memory.limit_in_bytes" : "memory.max";
  const std::string usage = is_v1 ? "memory.usage_in_bytes" : "memory.current";
  while (true) {
    const std::string folder = mount + (path == "/" ? "" : path) + "/";
    if (const std::uint64_t most = number_in(folder + limit, kUnlimited); most != kUnlimited) {
      // The kernel can reclaim pages of files.
      const auto statistics = table_in(folder + "memory.stat");
      const auto files = statistics.find(is_v1 ? "total_inactive_file" : "inactive_file");
      const std::uint64_t used =
          less(number_in(folder + usage, 0), files == statistics.end() ? 0 : files->second);
      bound.lower(less(most, used), "the control group's memory limit (" + folder + limit + ")");
    }
    const auto slash = path.rfind('/');
    if (path.size() <= 1 || slash == path.npos) return;
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
}

void apply_groups(const std::string& root, Bound& bound) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line;
       std::getline(groups, line);) {  // "4:memory:/a/b" of version 1, "0::/a/b" of version 2
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") apply_groups(root + "/sys/fs/cgroup", path, false, bound);
    if (controllers.find(",memory,") != controllers.npos)
      apply_groups(root + "/sys/fs/cgroup/memory", path, true, bound);
  }
}

std::uint64_t soft_limit(int resource) {
  rlimit limit{};
  return getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 ||
                 limit.rlim_cur == RLIM_INFINITY
             ? kUnlimited
             : limit.rlim_cur;
}

}  // namespace

HostRoom host_room(const std::string& root) {
  HostRoom room;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;  // pages
  std::ifstream(root + "/proc/self/statm") >> size >> resident >> shared >> text >> library >> data;
  room.resident = resident * page;
  if (const std::uint64_t most = soft_limit(RLIMIT_AS); most != kUnlimited)
    room.addresses.lower(less(most, size * page), "the limit of the address space (ulimit -v)");
  if (const std::uint64_t most = soft_limit(RLIMIT_DATA); most != kUnlimited)
    room.mappable.lower(less(most, data * page), "the limit of the data segment (ulimit -d)");

  const auto host = table_in(root + "/proc/meminfo");
  const auto entry = [&](const char* name) {
    const auto found = host.find(name);
    return found == host.end() ? 0 : found->second;
  };
  if (host.contains("MemAvailable"))
    room.memory.lower(entry("MemAvailable") + entry("SwapFree"), "the host's free memory");
  if (number_in(root + "/proc/sys/vm/overcommit_memory", 0) == 2)
    room.mappable.lower(less(entry("CommitLimit"), entry("Committed_AS")),
                        "the host's commit limit (vm.overcommit_memory is 2)");
  apply_groups(root, room.memory);
  return room;
}

}  // namespace vgpu
