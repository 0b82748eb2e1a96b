// SPDX-License-Identifier: Apache-2.0
#include "runtime/printable.hpp"

#include <fmt/format.h>

namespace vgpu {

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  unsigned char before = 0;
  for (const char ch : text) {
    const auto byte = static_cast<unsigned char>(ch);
    const bool second = before == 0xC2 && byte >= 0x80 && byte < 0xA0;  // U+0080 to U+009F
    if ((byte < 0x20 && ch != '\n' && ch != '\t') || byte == 0x7F || second) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += ch;
    }
    before = byte;
  }
  return safe;
}

}  // namespace vgpu
