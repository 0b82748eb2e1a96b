// SPDX-License-Identifier: Apache-2.0
// Links PTX: makes one text of several, in which each refers to what others define.
#pragma once
#include <span>
#include <string>

namespace vgpu::driver {

struct PtxUnit {
  std::string name;  // for messages
  std::string text;
};

// Names without linkage stay apart. Of weak definitions one is kept. Throws std::invalid_argument
// for text that is not PTX, and for a name that several units define.
std::string link_ptx(std::span<const PtxUnit> units);

}  // namespace vgpu::driver
