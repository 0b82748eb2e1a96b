// SPDX-License-Identifier: Apache-2.0
#include "report/temporary.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ladder {

Result<Temporary> Temporary::make(const std::string& name, bool folder) {
  std::error_code error;
  const std::filesystem::path place = std::filesystem::temp_directory_path(error);
  std::string path = (place / ("ladder-" + name + "-XXXXXX")).string();
  bool made = false;
  if (folder) {
    made = ::mkdtemp(path.data()) != nullptr;
  } else if (const int file = ::mkstemp(path.data()); file >= 0) {
    (void)::close(file);
    made = true;
  }
  if (made) return Temporary(path);
  return Status(Code::kIo, "no temporary " + std::string(folder ? "folder" : "file") + " in " +
                               place.string() + ": " + (error ? error.message() : std::strerror(errno)));
}

Temporary::~Temporary() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ladder
