// SPDX-License-Identifier: Apache-2.0
// The control code of an instruction: bits 105 to 125, the same from sm_75 on. Bit 109, a hint to
// issue from another warp next, is ignored. nvdisasm does not print these bits.
#pragma once
#include "ir/schedule.hpp"
#include "sass/decode/instruction.hpp"

namespace vgpu::sass {

inline ir::ControlCode control_code(Word word) {
  const auto bits = [&](unsigned at, unsigned count) {
    return static_cast<std::uint8_t>(word.high >> (at - 64) & ((1U << count) - 1));
  };
  return {bits(105, 4), bits(110, 3), bits(113, 3), bits(116, 6), bits(122, 4)};
}

}  // namespace vgpu::sass
