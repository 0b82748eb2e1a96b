// SPDX-License-Identifier: Apache-2.0
// Files and folders in the system's folder for temporary ones (TMPDIR), which go with the object that made them.
#pragma once
#include <ladder/status.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace ladder {

class Temporary {
 public:
  // "ladder-NAME-" and six random characters; a file is empty. Errors (kIo): it cannot be made, with the folder.
  static Result<Temporary> file(const std::string& name) { return make(name, false); }
  static Result<Temporary> folder(const std::string& name) { return make(name, true); }

  Temporary(Temporary&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Temporary& operator=(Temporary&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary();  // removes it, with what is in it

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path keep() { return std::exchange(path_, {}); }  // from here on it stays

 private:
  explicit Temporary(std::filesystem::path path) : path_(std::move(path)) {}
  static Result<Temporary> make(const std::string& name, bool folder);
  std::filesystem::path path_;
};

}  // namespace ladder
