// SPDX-License-Identifier: Apache-2.0
// Fuzzes machine code: every 16-byte instruction is decoded or refused. Refusals are slow, so their
// number per input is limited.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "sass/decode/decode.hpp"

static constexpr int kArchitectures[] = {90, 75, 80, 89, 100, 120};

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int refused = 0;
  for (std::size_t at = 0; refused < 4 && at + sizeof(vgpu::sass::Word) <= size;
       at += sizeof(vgpu::sass::Word)) {
    vgpu::sass::Word word;
    std::memcpy(&word, data + at, sizeof word);
    try {
      vgpu::sass::decode(word, static_cast<std::uint32_t>(at),
                         kArchitectures[at / sizeof word % std::size(kArchitectures)]);
    } catch (const vgpu::sass::UnknownInstruction&) {
      ++refused;
    }
  }
  return 0;
}
