// SPDX-License-Identifier: Apache-2.0
#include "sass/decode/decode.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sass/decode/control_code.hpp"
#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

struct Architectures {
  int first = 90, last = 90;
  bool has(int architecture) const { return first <= architecture && architecture <= last; }
};

struct Entry {
  std::uint16_t opcode;  // without the bits of the form
  std::uint8_t forms;    // bit n: form n
  const char* mnemonic;
  Op op;
  void (*decode)(Reader&);
  bool uniform_guard, uniform;
  Architectures architectures;
};

constexpr std::uint8_t kOnly = 0;  // the opcode has the bits of its only form
constexpr std::uint8_t kTwo = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6;
constexpr std::uint8_t kTwoAsThird = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 7;
constexpr std::uint8_t kThree = kTwo | kTwoAsThird;
constexpr std::uint8_t kFour = 1 << 4;

constexpr Entry kEntries[] = {
#define ENCODING(opcode, forms, mnemonic, operation, decoder, ...) \
  {opcode, forms, mnemonic, Op::operation, decode_##decoder, false, false, {__VA_ARGS__}},
#define UNIFORM(opcode, forms, mnemonic, operation, decoder, ...) \
  {opcode, forms, mnemonic, Op::operation, decode_##decoder, true, true, {__VA_ARGS__}},
#define UNIFORM_GUARD(opcode, forms, mnemonic, operation, decoder, ...) \
  {opcode, forms, mnemonic, Op::operation, decode_##decoder, true, false, {__VA_ARGS__}},
#include "sass/opcodes.def"
};

// By bits 0 to 11: those of each architecture, one after the other.
using Index = std::array<std::vector<const Entry*>, 1 << 12>;

std::vector<std::uint16_t> opcodes_of(const Entry& entry) {
  if (entry.forms == kOnly) return {entry.opcode};
  std::vector<std::uint16_t> opcodes;
  for (unsigned form = 0; form < 8; ++form) {
    if ((entry.forms >> form & 1) != 0)
      opcodes.push_back(static_cast<std::uint16_t>(entry.opcode | form << 9));
  }
  return opcodes;
}

Index make_index() {
  Index index;
  for (const Entry& entry : kEntries) {
    for (const std::uint16_t opcode : opcodes_of(entry)) index[opcode].push_back(&entry);
  }
  return index;
}

}  // namespace

Instruction decode(Word word, std::uint32_t address, int architecture) {
  static const Index& kIndex = *new Index(make_index());
  const auto& rows = kIndex[word.low & 0xfff];
  const auto found = std::ranges::find_if(
      rows, [&](const Entry* row) { return row->architectures.has(architecture); });
  if (found == rows.end()) {
    Reader(word, address, architecture, "an instruction")
        .refuse(fmt::format("it is not implemented for sm_{}", architecture));
  }
  const Entry* const entry = *found;
  Reader reader(word, address, architecture, entry->mnemonic);
  reader.insn.op = entry->op;
  reader.insn.control = control_code(word);
  reader.insn.uniform = entry->uniform_guard;
  reader.insn.guard = reader.predicate_at(12, 15);
  reader.insn.uniform = entry->uniform;
  entry->decode(reader);
  return reader.finish();
}

bool is_known_architecture(int architecture) {
  return std::ranges::find(kArchitectures, architecture) != std::end(kArchitectures);
}

std::vector<Mnemonic> mnemonics() {
  std::vector<Mnemonic> list;
  for (const Entry& entry : kEntries)
    list.push_back({entry.mnemonic, entry.op, entry.uniform, opcodes_of(entry),
                    entry.architectures.first, entry.architectures.last});
  return list;
}

}  // namespace vgpu::sass
