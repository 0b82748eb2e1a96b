// SPDX-License-Identifier: Apache-2.0
// Files and folders in the system's folder for temporary ones (TMPDIR), which go with the object
// that made them; folders of processes that were killed go when the next one is made.
#pragma once
#include <ladder/status.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace ladder {

class Temporary {
 public:
  // "ladder-NAME-" and six random characters; a file is empty. A folder lies in /tmp where TMPDIR
  // is no plain path. Errors (kIo): it cannot be made, with the folder.
  static Result<Temporary> file(const std::string& name);
  static Result<Temporary> folder(const std::string& name);

  Temporary(Temporary&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  Temporary& operator=(Temporary&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary();  // removes it, with what is in it

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path keep() { return std::exchange(path_, {}); }  // from here on it stays

 private:
  explicit Temporary(std::filesystem::path path, int lock = -1)
      : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_;  // descriptor of the folder's mark, locked as long as its process lives
};

// Whether a path holds only letters, digits and _ . / + -. Others mean something to compilers and
// shells: nvcc passes its arguments through a shell within double quotes, and divides them at
// commas.
bool is_plain(const std::filesystem::path& path);
// `path` where it is plain, else `link`, a symbolic link that is made to it. Errors (kIo): it
// cannot be made.
Result<std::filesystem::path> plain_path(const std::filesystem::path& path,
                                         const std::filesystem::path& link);

}  // namespace ladder
