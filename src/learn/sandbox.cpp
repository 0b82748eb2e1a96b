// SPDX-License-Identifier: Apache-2.0
#include "learn/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#if defined(__has_include) && __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#define LADDER_HAVE_LANDLOCK
#endif

namespace ladder::learn {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

Status failed(const std::string& what) {
  return {Code::kIo, fmt::format("{}: {}", what, std::strerror(errno))};
}

Status limit(int resource, std::uint64_t most, const char* name) {
  rlimit before{};
  if (::getrlimit(resource, &before) != 0) return failed(name);
  const rlimit after{std::min<rlim_t>(most, before.rlim_max),
                     std::min<rlim_t>(most, before.rlim_max)};
  return ::setrlimit(resource, &after) == 0 ? Status::ok() : failed(name);
}

#if defined(LADDER_HAVE_LANDLOCK) && defined(SYS_landlock_create_ruleset)

// Rights and fields that older kernel headers lack.
constexpr std::uint64_t kWriteFile = 1U << 1, kRemoveFolder = 1U << 4, kRemoveFile = 1U << 5,
                        kMakeAny = 0x7fU << 6, kRefer = 1U << 13, kTruncate = 1U << 14;
constexpr std::uint64_t kTcp = 3;    // bind and connect
constexpr std::uint64_t kScope = 3;  // abstract sockets and signals of other processes
struct Ruleset {
  std::uint64_t files = 0, network = 0, scope = 0;
};
constexpr int kWithRefer = 2, kWithTruncate = 3, kWithNetwork = 4, kWithScope = 6;

int version() {
  return static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

std::uint64_t writes(int abi) {
  std::uint64_t all = kWriteFile | kRemoveFolder | kRemoveFile | kMakeAny;
  if (abi >= kWithRefer) all |= kRefer;
  if (abi >= kWithTruncate) all |= kTruncate;
  return all;
}

Status allow(int ruleset, const std::filesystem::path& folder, std::uint64_t rights) {
  const int descriptor = ::open(folder.c_str(), O_PATH | O_CLOEXEC);
  if (descriptor < 0) return failed(folder.string());
  const landlock_path_beneath_attr rule{rights, descriptor};
  const auto added =
      ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  (void)::close(descriptor);
  return added == 0 ? Status::ok() : failed(folder.string());
}

Status confine_writes(const std::vector<std::filesystem::path>& writable,
                      const std::string& devices) {
  const int abi = version();
  const Ruleset attributes{writes(abi), abi >= kWithNetwork ? kTcp : 0,
                           abi >= kWithScope ? kScope : 0};
  // Older kernels know only the first fields.
  const std::size_t fields = abi >= kWithScope ? 3 : abi >= kWithNetwork ? 2 : 1;
  const std::size_t size = fields * sizeof attributes.files;
  const int ruleset =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0) return failed("landlock");
  Status status;
  for (const auto& folder : writable) {
    if (status) status = allow(ruleset, folder, writes(abi));
  }
  if (status) status = allow(ruleset, devices, kWriteFile);
  if (status && (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                 ::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0))
    status = failed("landlock");
  (void)::close(ruleset);
  return status;
}

#else

int version() { return -1; }
Status confine_writes(const std::vector<std::filesystem::path>&, const std::string&) {
  return Status::ok();
}

#endif

}  // namespace

std::string why_not_confined() {
  constexpr int kWhole = 3;  // Linux 6.2
  if (version() >= kWhole) return "";
  return version() > 0 ? "Landlock is older than Linux 6.2: a program could truncate files"
                       : "this system has no Landlock: a program could write outside its folder";
}

Status confine(const std::vector<std::filesystem::path>& writable, const Limits& limits) {
  // Several threads of the virtual GPU count together.
  const auto processors = static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const auto seconds = static_cast<std::uint64_t>(std::ceil(limits.seconds * processors)) + 1;
  const struct {
    int resource;
    std::uint64_t most;
    const char* name;
  } all[] = {{RLIMIT_AS, limits.memory_bytes, "limit of memory"},
             {RLIMIT_CPU, seconds, "limit of processor time"},
             {RLIMIT_FSIZE, kLargestFile, "limit of files"},
             {RLIMIT_CORE, 0, "limit of core files"}};
  for (const auto& one : all) {
    if (Status status = limit(one.resource, one.most, one.name); !status) return status;
  }
  return version() > 0 ? confine_writes(writable, limits.devices) : Status::ok();
}

}  // namespace ladder::learn
