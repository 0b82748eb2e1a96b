// SPDX-License-Identifier: Apache-2.0
// Machine code of sm_90 to instructions. Every bit of an instruction but its scheduling hints must
// be one that its entry in the table of opcodes knows; anything else is refused, because a modifier
// that is not understood would change the result. The encodings are not documented; tests/vgpu/sass
// holds what NVIDIA's disassembler says of them.
#pragma once
#include <stdexcept>

#include "engine/sass/instruction.hpp"

namespace vgpu::sass {

// An opcode or a modifier that is not known. what() has its address, the mnemonic where known, and
// the bits.
struct UnknownInstruction : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Instruction decode(Word word, std::uint32_t address);

}  // namespace vgpu::sass
