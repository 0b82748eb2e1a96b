// SPDX-License-Identifier: Apache-2.0
// Files for reports: read whole, replaced in one step.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/json.hpp"

namespace ladder {
namespace {

namespace fs = std::filesystem;

Status failure(const std::string& path, const std::string& why) { return {Code::kIo, path + ": " + why}; }

// Where the text really goes: through symbolic links, so that they survive.
fs::path target_of(const std::string& path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : resolved;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) (void)::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0 || errno == EINVAL;
}

}  // namespace

Status check_writable(const std::string& path) {
  const fs::path target = target_of(path);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) return failure(path, "is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return failure(path, "is not a regular file");
  if (fs::exists(status) && ::access(target.c_str(), W_OK) != 0) return failure(path, std::strerror(errno));
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) return failure(path, "no folder " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return failure(path, std::strerror(errno));
  return Status::ok();
}

Status write_atomic(const std::string& path, std::string_view text) {
  if (Status status = check_writable(path); !status) return status;
  const fs::path target = target_of(path);
  std::string temporary = target.string() + ".XXXXXX";
  {
    const Descriptor file(::mkstemp(temporary.data()));
    if (file.get() < 0) return failure(path, std::strerror(errno));
    struct stat before {};
    const mode_t mode = ::stat(target.c_str(), &before) == 0 ? before.st_mode & 0777U : 0644U;
    if (!write_all(file.get(), text) || ::fchmod(file.get(), mode) != 0) {
      const std::string why = std::strerror(errno);
      (void)::unlink(temporary.c_str());
      return failure(path, why);
    }
  }
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    (void)::unlink(temporary.c_str());
    return failure(path, why);
  }
  return Status::ok();
}

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return failure(path, "is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) return failure(path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return failure(path, "could not be read");
  return std::move(text).str();
}

}  // namespace ladder
