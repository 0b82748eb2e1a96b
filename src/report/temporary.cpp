// SPDX-License-Identifier: Apache-2.0
#include "report/temporary.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace ladder {
namespace {

namespace fs = std::filesystem;
constexpr const char* kPrefix = "ladder-";
constexpr const char* kMark = ".ladder-temporary";

std::string pattern(const fs::path& place, const std::string& name) {
  return (place / (kPrefix + name + "-XXXXXX")).string();
}

Status failure(const char* what, const fs::path& place) {
  return {Code::kIo, std::string("no temporary ") + what + " in " + place.string() + ": " +
                         std::strerror(errno)};
}

Result<fs::path> system_folder() {
  std::error_code error;
  fs::path place = fs::temp_directory_path(error);
  if (!error) return place;
  const char* const chosen = std::getenv("TMPDIR");
  return Status(Code::kIo, std::string("TMPDIR: ") + (chosen == nullptr ? "/tmp" : chosen) + ": " +
                               error.message());
}

// Returns the descriptor of the locked marker file, or -1 if it does not exist or another process
// holds the lock.
int lock(const fs::path& mark, int flags) {
  const int file = ::open(mark.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  struct stat status {};
  const bool own = file >= 0 && ::fstat(file, &status) == 0 && status.st_uid == ::geteuid();
  if (own && ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (file >= 0) (void)::close(file);
  return -1;
}

// Removes only folders with a marker file. The marker gets its name after it is locked, so that no
// folder in use is removed.
void remove_leftovers(const fs::path& place) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(kPrefix)) found.push_back(at->path());
  }
  for (const fs::path& folder : found) {
    const int mark = lock(folder / kMark, 0);
    if (mark < 0) continue;
    fs::remove_all(folder, error);
    (void)::close(mark);
  }
}

}  // namespace

Result<Temporary> Temporary::file(const std::string& name) {
  const auto place = system_folder();
  if (!place) return place.status();
  std::string path = pattern(place.value(), name);
  const int file = ::mkstemp(path.data());
  if (file < 0) return failure("file", place.value());
  (void)::close(file);
  return Temporary(path);
}

Result<Temporary> Temporary::folder(const std::string& name) {
  const auto chosen = system_folder();
  if (!chosen) return chosen.status();
  const fs::path place = is_plain(chosen.value()) ? chosen.value() : "/tmp";
  remove_leftovers(place);
  std::string path = pattern(place, name);
  if (::mkdtemp(path.data()) == nullptr) return failure("folder", place);
  const fs::path fresh = fs::path(path) / "mark";
  Temporary folder(path, lock(fresh, O_CREAT | O_EXCL));
  // if files cannot be locked, the folder has no marker and is never removed as a leftover
  std::error_code unmarked;
  if (folder.lock_ >= 0) fs::rename(fresh, fs::path(path) / kMark, unmarked);
  return folder;
}

Temporary::~Temporary() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) (void)::close(lock_);
}

bool is_plain(const fs::path& path) {
  const std::string& text = path.native();
  return std::ranges::all_of(text, [](char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           std::string_view("_./+-").find(ch) != std::string_view::npos;
  });
}

Result<fs::path> plain_path(const fs::path& path, const fs::path& link) {
  if (is_plain(path)) return path;
  std::error_code error;
  fs::create_symlink(fs::absolute(path), link, error);
  if (error) return Status(Code::kIo, link.string() + ": " + error.message());
  return link;
}

}  // namespace ladder
