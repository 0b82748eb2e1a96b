// SPDX-License-Identifier: Apache-2.0
#include "report/installation.hpp"

#include <system_error>

namespace ladder {

namespace fs = std::filesystem;

fs::path installation_prefix() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path().parent_path();
}

std::string source_folder() {
  const fs::path folder = installation_prefix() / "share" / "ladder";
  std::error_code error;
  const fs::path checkout = fs::canonical(folder, error);
  return error ? folder.string() : checkout.string();
}

}  // namespace ladder
