// SPDX-License-Identifier: Apache-2.0
#include "tune/cache.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace ladder::tune {
namespace {

namespace fs = std::filesystem;

Status refused(const fs::path& folder, const std::string& why) {
  return {Code::kIo, fmt::format("the cache of candidates, {}: {} (XDG_CACHE_HOME chooses another)",
                                 folder.string(), why)};
}

// Whether no user other than the owner and root can rename entries of this ancestor of the cache.
bool is_safe_ancestor(const fs::path& folder, uid_t owner_of_root) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return false;
  const bool owned = info.st_uid == ::geteuid() || info.st_uid == 0 || info.st_uid == owner_of_root;
  return owned && ((info.st_mode & S_IWOTH) == 0 || (info.st_mode & S_ISVTX) != 0);
}

Result<fs::path> made(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) return refused(folder, error.message());
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return refused(folder, std::strerror(errno));
  struct stat info {};
  const fs::path real = fs::canonical(folder, error);
  if (error || ::stat(real.c_str(), &info) != 0) return refused(folder, std::strerror(errno));
  if (!S_ISDIR(info.st_mode)) return refused(folder, "is no folder");
  if (info.st_uid != ::geteuid()) return refused(folder, "belongs to another user");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refused(folder, "other users can write it; chmod go-w, if what is in it is yours");
  if (::access(real.c_str(), W_OK | X_OK) != 0) return refused(folder, std::strerror(errno));
  struct stat root {};
  (void)::stat("/", &root);
  for (fs::path at = real.parent_path();; at = at.parent_path()) {
    if (!is_safe_ancestor(at, root.st_uid))
      return refused(folder, "another user can replace " + at.string());
    if (at == at.root_path()) return real;
  }
}

fs::path absolute_path(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
}

}  // namespace

Result<fs::path> open_cache(const fs::path& chosen) {
  if (!chosen.empty()) return made(chosen);
  if (const fs::path xdg = absolute_path("XDG_CACHE_HOME"); !xdg.empty())
    return made(xdg / "ladder" / "tune");
  std::vector<fs::path> homes{absolute_path("HOME")};
  if (const passwd* user = ::getpwuid(::geteuid()); user != nullptr && user->pw_dir != nullptr)
    homes.emplace_back(user->pw_dir);
  for (const fs::path& home : homes) {
    std::error_code error;
    if (!home.is_absolute() || !fs::is_directory(home, error)) continue;
    if (auto cache = made(home / ".cache" / "ladder" / "tune")) return cache;
  }
  // Another user may have created it first, as a link to elsewhere.
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error) / fmt::format("ladder-{}", ::geteuid());
  struct stat info {};
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && ::lstat(folder.c_str(), &info) == 0 &&
      (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()))
    return refused(folder, "belongs to another user");
  return made(folder);
}

bool is_private(const fs::path& file) {
  struct stat info {};
  return ::lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace ladder::tune
