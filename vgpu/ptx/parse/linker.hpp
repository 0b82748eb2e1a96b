// SPDX-License-Identifier: Apache-2.0
// Links PTX: joins several texts into one, in which references between them are resolved.
#pragma once
#include <span>
#include <stdexcept>
#include <string>

namespace vgpu::ptx {

struct PtxUnit {
  std::string name;  // for messages
  std::string text;
};

// A name that several units define.
struct DefinedTwice : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Equal names without linkage are kept distinct. One of several weak definitions is kept. Throws
// std::invalid_argument for text that is not PTX, and DefinedTwice.
std::string link_ptx(std::span<const PtxUnit> units);

}  // namespace vgpu::ptx
