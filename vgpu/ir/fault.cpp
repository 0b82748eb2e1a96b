// SPDX-License-Identifier: Apache-2.0
#include "ir/fault.hpp"

#include <iterator>

namespace vgpu {

const char* to_string(FaultKind kind) {
  static constexpr const char* kNames[] = {
#define FAULT(kind, name) name,
#include "ir/fault.def"
  };
  const auto at = static_cast<std::size_t>(kind);
  return at < std::size(kNames) ? kNames[at] : "fault";
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      line.push_back(c);
    else if (!line.empty() && line.back() != ' ')
      line.push_back(' ');
  }
  return line;
}

}  // namespace vgpu
