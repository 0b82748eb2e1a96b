// SPDX-License-Identifier: Apache-2.0
// Temporary files and folders in the system's folder (TMPDIR). The object that creates one removes
// it. Folders that killed processes left behind are removed when the next folder is created.
#pragma once
#include <ladder/status.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace ladder {

class Temporary {
 public:
  // The name is "ladder-NAME-" and six random characters; a file is created empty. If TMPDIR is not
  // a plain path, a folder is created in /tmp. Errors (kIo): creation fails; the message names the
  // folder.
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
  ~Temporary();  // removes the file, or the folder with its contents

  const std::filesystem::path& path() const { return path_; }
  // the destructor no longer removes it
  std::filesystem::path keep() { return std::exchange(path_, {}); }

 private:
  explicit Temporary(std::filesystem::path path, int lock = -1)
      : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_;  // descriptor of the folder's marker file, locked while its process is alive
};

// True if a path has only letters, digits and _ . / + -. Compilers and shells interpret other
// characters: nvcc passes its arguments through a shell within double quotes and splits them at
// commas.
bool is_plain(const std::filesystem::path& path);
// Returns `path` if it is plain, else `link`, which becomes a symbolic link to it. Errors (kIo):
// the link cannot be created.
Result<std::filesystem::path> plain_path(const std::filesystem::path& path,
                                         const std::filesystem::path& link);

}  // namespace ladder
