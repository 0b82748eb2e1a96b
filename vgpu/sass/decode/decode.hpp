// SPDX-License-Identifier: Apache-2.0
// Decodes machine code of sm_90. The decoder of an instruction must interpret every nonzero bit,
// except scheduling hints; otherwise decoding fails, because an unknown modifier could change the
// result. The encodings are undocumented; tests/vgpu/sass compares with NVIDIA's disassembler.
#pragma once
#include <stdexcept>
#include <string_view>
#include <vector>

#include "sass/decode/instruction.hpp"

namespace vgpu::sass {

// An unknown opcode or modifier. what() contains its address, the mnemonic if known, and the bits.
struct UnknownInstruction : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Instruction decode(Word word, std::uint32_t address);

struct Mnemonic {
  std::string_view text;
  Op op;
  bool uniform;
  std::vector<std::uint16_t> opcodes;  // bits 0 to 11, by form
};
std::vector<Mnemonic> mnemonics();  // of all known encodings

}  // namespace vgpu::sass
