// SPDX-License-Identifier: Apache-2.0
#include "report/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "problem/number.hpp"

namespace ladder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1}
                                   << 30;  // of a file that is read: more is no file of ours

Status failure(const std::string& path, const std::string& why) {
  return {Code::kIo, path + ": " + why};
}
Status system_failure(const std::string& path) { return failure(path, std::strerror(errno)); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { (void)close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Returns the target of a symbolic link, or the path itself, whether or not the target exists.
fs::path followed(fs::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int links = 0; links < kMostLinks; ++links) {
    // A link to a descriptor is not a path: its text may be "pipe:[1234]".
    if (fs::equivalent(folder_of(path), "/proc/self/fd", error)) break;
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = folder_of(path) / next;
  }
  return path;
}

// Returns the descriptor of this process that the path denotes ("/dev/stdout", "/dev/fd/63"), or
// -1.
int own_descriptor(const std::string& path) {
  const fs::path end = followed(path);
  std::error_code error;
  if (!fs::equivalent(folder_of(end), "/proc/self/fd", error)) return -1;
  return parse_number<int>(end.filename().string()).value_or(-1);
}

// Some file systems do not support fsync and return EINVAL.
bool synchronize(int fd) { return ::fsync(fd) == 0 || errno == EINVAL; }

Status write_stream(const std::string& path, int own, std::string_view text) {
  std::fflush(nullptr);  // keeps the order of earlier output
  if (own >= 0) return write_all(own, text) ? Status::ok() : system_failure(path);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), text) || !file.close()) return system_failure(path);
  return Status::ok();
}

// A temporary file beside the target. It replaces the target, or is removed by the destructor.
class Replacement {
 public:
  Replacement(const fs::path& target, const struct stat* before) : target_(target) {
    static std::atomic<unsigned> count{0};
    constexpr int kTries = 1000;  // names that killed processes may have left behind
    const mode_t mode = before == nullptr ? 0666 : before->st_mode & 0777U;
    int fd = -1;
    for (int i = 0; fd < 0 && (i == 0 || (errno == EEXIST && i < kTries)); ++i) {
      path_ = folder_of(target) /
              (".ladder-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".tmp");
      fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
    file_.emplace(fd);
    made_ = fd >= 0;
    if (!made_ || before == nullptr) return;
    // Only root may change the owner; other users may keep the group.
    if (::fchown(fd, before->st_uid, before->st_gid) != 0) (void)!::fchown(fd, -1, before->st_gid);
    ok_ = ::fchmod(fd, before->st_mode & 07777U) == 0;
  }
  ~Replacement() {
    if (made_) (void)::unlink(path_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  // On false, errno has the reason.
  bool write(std::string_view text) {
    if (!made_ || !ok_ || !write_all(file_->get(), text) || !synchronize(file_->get()) ||
        !file_->close())
      return false;
    if (::rename(path_.c_str(), target_.c_str()) != 0) return false;
    made_ = false;
    const Descriptor folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // the content is synchronised; the new name is too unless this fails
    if (folder.get() >= 0) (void)synchronize(folder.get());
    return true;
  }

 private:
  fs::path target_, path_;
  std::optional<Descriptor> file_;
  bool made_ = false, ok_ = true;
};

}  // namespace

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool is_replaced(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return own_descriptor(path) < 0 && (!fs::exists(status) || fs::is_regular_file(status));
}

Status check_writable(const std::string& path) {
  if (const int own = own_descriptor(path); own >= 0) {
    const int flags = ::fcntl(own, F_GETFL);
    if (flags < 0) return system_failure(path);
    return (flags & O_ACCMODE) == O_RDONLY ? failure(path, "is open for reading only")
                                           : Status::ok();
  }
  const fs::path target = followed(path);
  struct stat before {};
  const bool there = ::stat(target.c_str(), &before) == 0;
  if (!there && errno != ENOENT && errno != ENOTDIR) return system_failure(path);
  if (there && S_ISDIR(before.st_mode)) return failure(path, "is a folder");
  if (there && (S_ISBLK(before.st_mode) || S_ISSOCK(before.st_mode)))
    return failure(path, "is neither a regular file nor a pipe nor a character device");
  if (there && ::access(target.c_str(), W_OK) != 0) return system_failure(path);
  if (there && !S_ISREG(before.st_mode)) return Status::ok();
  const fs::path folder = folder_of(target);
  std::error_code error;
  if (!fs::is_directory(folder, error)) return failure(path, "no folder " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return failure(path, "in the folder " + folder.string() + ": " + std::strerror(errno));
  return Status::ok();
}

Status write_atomic(const std::string& path, std::string_view text) {
  if (Status status = check_writable(path); !status) return status;
  if (!is_replaced(path)) return write_stream(path, own_descriptor(path), text);
  const fs::path target = followed(path);
  struct stat before {};
  const bool there = ::stat(target.c_str(), &before) == 0;
  Replacement file(target, there ? &before : nullptr);
  return file.write(text) ? Status::ok() : system_failure(path);
}

Result<std::string> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) return system_failure(path);
  std::string text;
  std::array<char, 1 << 16> block{};
  while (true) {
    const ssize_t bytes = ::read(file.get(), block.data(), block.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return system_failure(path);
    if (bytes == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(bytes));
    if (text.size() > kMostBytes) return failure(path, "has more than 1 GiB");
  }
}

}  // namespace ladder
