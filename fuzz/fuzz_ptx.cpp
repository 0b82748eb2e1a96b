// SPDX-License-Identifier: Apache-2.0
// Fuzzes PTX text: it is parsed, or refused with a line number.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ptx/parse/ast.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    vgpu::ptx::parse(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const std::invalid_argument& error) {
    if (!std::string_view(error.what()).starts_with("PTX line ")) std::abort();
  }
  return 0;
}
