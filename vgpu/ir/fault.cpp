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

}  // namespace vgpu
