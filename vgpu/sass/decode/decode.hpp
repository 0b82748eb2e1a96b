// SPDX-License-Identifier: Apache-2.0
// Decodes machine code. The decoder of an instruction must interpret every nonzero bit,
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

// Architectures whose instructions the disassembler's corpora prove: 90 for sm_90.
inline constexpr int kArchitectures[] = {75, 80, 86, 89, 90, 100, 120};
bool is_known_architecture(int architecture);

// Throws UnknownInstruction, also for an instruction that the architecture is not known to have.
Instruction decode(Word word, std::uint32_t address, int architecture);

struct Mnemonic {
  std::string_view text;
  Op op;
  bool uniform;
  std::vector<std::uint16_t> opcodes;  // bits 0 to 11, by form
  int first, last;                     // architectures that have the encoding
};
std::vector<Mnemonic> mnemonics();  // of all known encodings

}  // namespace vgpu::sass
