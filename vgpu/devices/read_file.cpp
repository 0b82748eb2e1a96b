// SPDX-License-Identifier: Apache-2.0
#include "devices/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace vgpu {

int read_file(const std::string& path, std::string& text) {
  text.clear();
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  std::array<char, 1 << 16> block{};
  struct stat status {};
  int error = ::fstat(file, &status) != 0 ? errno : S_ISCHR(status.st_mode) ? ENOTSUP : 0;
  for (ssize_t bytes = 1; bytes != 0 && error == 0;) {
    bytes = ::read(file, block.data(), block.size());
    if (bytes > 0) text.append(block.data(), static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) error = errno;
  }
  ::close(file);
  return error;
}

std::string no_json(const std::string& what) {
  const auto end = what.find("] ");
  return "not JSON: " +
         (what.starts_with("[json.exception") && end != what.npos ? what.substr(end + 2) : what);
}

}  // namespace vgpu
