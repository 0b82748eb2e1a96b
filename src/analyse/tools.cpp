// SPDX-License-Identifier: Apache-2.0
#include "analyse/tools.hpp"

#include <unistd.h>
#include <cstdlib>
#include <sstream>

namespace ladder::analyse {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string find_tool(const char* variable, const std::string& name) {
  if (std::string chosen = environment(variable); !chosen.empty()) return chosen;
  std::string folders = environment("PATH");
  if (const std::string home = environment("CUDA_HOME"); !home.empty()) {
    folders.append(":").append(home).append("/bin");
  }
  std::istringstream all(folders + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(all, folder, ':');) {
    std::string program = folder;
    program.append("/").append(name);
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

}  // namespace ladder::analyse
