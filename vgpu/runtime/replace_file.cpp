// SPDX-License-Identifier: Apache-2.0
#include "runtime/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace vgpu {
namespace {

namespace fs = std::filesystem;

// Whether a write up to `end` would exceed the file size limit. Such a write would end the process
// by the signal SIGXFSZ.
bool is_too_large(off_t end) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(end) > limit.rlim_cur;
}

// Returns 0 or an error number.
int write_whole(int file, std::string_view text) {
  if (const int error = write_at(file, text, 0); error != 0) return error;
  return ::fsync(file) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace

std::string real_path(const std::string& name) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  fs::path path = name;
  for (int n = 0; n < kMostLinks && fs::is_symlink(path, error); ++n)
    path = path.parent_path() / fs::read_symlink(path, error);
  return path.string();
}

std::string check_writable(const std::string& name) {
  // By its name: what a link to a descriptor names may be no path, "pipe:[1234]".
  struct stat file {};
  if (::stat(name.c_str(), &file) == 0 && !S_ISREG(file.st_mode))
    return fmt::format("cannot write {}: not a regular file", name);
  fs::path folder = fs::path(real_path(name)).parent_path();
  if (folder.empty()) folder = ".";
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fmt::format("cannot write {}: {}", name, std::strerror(errno));
  return "";
}

int write_at(int file, std::string_view text, off_t at) {
  if (is_too_large(at + static_cast<off_t>(text.size()))) return EFBIG;
  while (!text.empty()) {
    const ssize_t written = ::pwrite(file, text.data(), text.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  return 0;
}

std::string replace_file(const std::string& name, std::string_view text) {
  const std::string path = real_path(name);
  const std::string part = fmt::format("{}.{}.part", path, ::getpid());
  ::unlink(part.c_str());  // left by a process that was killed
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : 0;
  if (file >= 0) {
    struct stat former {};
    if (::stat(path.c_str(), &former) == 0) (void)::fchmod(file, former.st_mode & 0777);
    error = write_whole(file, text);
    ::close(file);
    if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) ::unlink(part.c_str());
  }
  if (error == 0) return "";
  return fmt::format("cannot write {}: {}; it is as it was", name, std::strerror(error));
}

}  // namespace vgpu
