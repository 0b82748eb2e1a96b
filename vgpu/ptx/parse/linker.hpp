// SPDX-License-Identifier: Apache-2.0
// Links PTX: makes one text of several, in which each refers to what others define.
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

// Names without linkage stay apart. Of weak definitions one is kept. Throws std::invalid_argument
// for text that is not PTX, and DefinedTwice.
std::string link_ptx(std::span<const PtxUnit> units);

}  // namespace vgpu::ptx
