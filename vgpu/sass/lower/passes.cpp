// SPDX-License-Identifier: Apache-2.0
// Marks in decoded code: loads of compare-and-swap loops, and loaded words that nothing reads.
#include <algorithm>
#include <bitset>
#include <utility>
#include <vector>

#include "sass/lower/lower.hpp"
#include "sass/lower/operands.hpp"

namespace vgpu::sass {
namespace {

constexpr std::uint8_t kCompareAndSwap = 9, kCompareAndTest = 10;  // Instruction::mode: .CAS, .CAST

bool is_exchange(const Instruction& i) {
  const bool atomic = i.op == Op::kAtoms || i.op == Op::kAtom || i.op == Op::kAtomGeneric;
  return atomic && (i.mode == kCompareAndSwap || i.mode == kCompareAndTest);
}

bool is_load(const Instruction& i) {
  return i.op == Op::kLds || i.op == Op::kLd || i.op == Op::kLdg;
}

const Operand* address_of(const Instruction& i) {
  const auto* const end = i.operands.begin() + i.count;
  const auto* const found = std::find_if(i.operands.begin(), end,
                                         [](const Operand& o) { return o.kind == Kind::kAddress; });
  return found == end ? nullptr : found;
}

constexpr std::size_t kBeforeAll = ~std::size_t{0};

// Identifies a register's value by the instruction that computed it; copies are traced back to
// their source.
struct Value {
  Kind kind = Kind::kRegister;
  std::uint8_t index = kZeroRegister;
  std::size_t made_at = kBeforeAll;
  bool operator==(const Value&) const = default;
};

// The register that an instruction copies, or null.
const Operand* copied(const Instruction& i) {
  const auto is_zero = [](const Operand& o) {
    return o.kind == Kind::kRegister && o.index == kZeroRegister;
  };
  const Operand* from = nullptr;
  if (i.op == Op::kMov) from = &i[1];
  if (i.op == Op::kImad && is_zero(i[1]) && is_zero(i[2])) from = &i[3];
  const bool plain = from != nullptr && !from->negated &&
                     (from->kind == Kind::kRegister || from->kind == Kind::kUniform);
  return plain ? from : nullptr;
}

Value value_of(const std::vector<Instruction>& code, std::size_t before, Kind kind,
               std::uint8_t index) {
  Value value{kind, index, kBeforeAll};
  if (index == (kind == Kind::kUniform ? kZeroUniform : kZeroRegister)) return {};
  for (std::size_t n = before; n-- > 0;) {
    if (!writes(code[n], value.kind, value.index)) continue;
    const Operand* const from = copied(code[n]);
    if (from == nullptr) {
      value.made_at = n;
      return value;
    }
    value.kind = from->kind;
    value.index = from->index;
  }
  return value;
}

// The address of an access: base register + uniform register + offset.
struct Place {
  Value base, uniform;
  std::uint32_t offset = 0;
  bool operator==(const Place&) const = default;
};
Place place_of(const std::vector<Instruction>& code, std::size_t n, const Operand& address) {
  Place place{value_of(code, n, Kind::kRegister, address.index),
              value_of(code, n, Kind::kUniform, address.uniform), address.value};
  if (place.base == Value{}) std::swap(place.base, place.uniform);
  return place;
}

// Whether the compare-and-swap loop cannot begin before this instruction.
bool parts(const Instruction& i) {
  const bool always = i.guard.index == kTrue && !i.guard.negated;
  switch (i.op) {
    case Op::kBar:
    case Op::kCall:
    case Op::kCallAbsolute: return true;
    case Op::kBra:
    case Op::kBrx:
    case Op::kRet:
    case Op::kExit: return always;
    default: return false;
  }
}

// Whether the exchange stores a word in which PRMT has replaced one half.
bool stores_half(const std::vector<Instruction>& code, std::size_t exchange,
                 const Operand& stored) {
  if (code[exchange].bytes != sizeof(std::uint32_t) || stored.index == kZeroRegister) return false;
  for (std::size_t n = exchange; n-- > 0 && !parts(code[n]);) {
    if (writes(code[n], Kind::kRegister, stored.index)) return code[n].op == Op::kPrmt;
  }
  return false;
}

// Whether an access of 16 bits at `half` is within the word at `word`: the address of the word is
// that of the half without bit 1.
bool is_half_of(const std::vector<Instruction>& code, const Place& half, const Place& word) {
  constexpr std::uint32_t kWithoutBit1 = ~std::uint32_t{2};
  constexpr std::uint8_t kAnd = 0xc0;
  if (word.base.made_at == kBeforeAll || half.offset != 0 || word.offset != 0) return false;
  const Instruction& mask = code[word.base.made_at];
  return mask.op == Op::kLop3 && mask.mode == 0 && mask.table == kAnd &&
         mask[1].kind == Kind::kRegister && mask[2].kind == Kind::kImmediate &&
         mask[2].value == kWithoutBit1 && half.uniform == word.uniform &&
         value_of(code, word.base.made_at, Kind::kRegister, mask[1].index) == half.base;
}

void mark_load_of(std::vector<Instruction>& code, std::size_t exchange) {
  const Operand* const where = address_of(code[exchange]);
  if (where == nullptr) return;
  const bool half = stores_half(code, exchange, where[2]);
  const Place place = place_of(code, exchange, *where);
  std::bitset<256> compared;  // registers from which the compared value is computed
  compared.set(where[1].index);
  for (std::size_t n = exchange; n-- > 0 && !parts(code[n]);) {
    Instruction& i = code[n];
    const Results results = results_of(i);
    if (!results.has_register() || !compared[i[results.predicates].index]) continue;
    const Operand* const from = address_of(i);
    if (is_load(i) && i.bytes == code[exchange].bytes && from != nullptr &&
        place_of(code, n, *from) == place) {
      i.compared = code[exchange].compared = true;
      i.half = code[exchange].half = half;
      if (!half) return;
    }
    // A loop on 16 bits may load the value that it compares first before it begins.
    if (half && is_load(i) && i.bytes == 2 && from != nullptr &&
        is_half_of(code, place_of(code, n, *from), place)) {
      i.compared = true;
      return;
    }
    if (from != nullptr) continue;
    for (std::size_t k = results.end; k < i.count; ++k) {
      if (i[k].kind == Kind::kRegister && i[k].index != kZeroRegister) compared.set(i[k].index);
    }
  }
}

constexpr std::size_t kMostSteps = 1024;  // per word

bool is_within(std::uint8_t first, unsigned count, unsigned reg) {
  return first != kZeroRegister && first <= reg && reg < first + count;
}

bool reads(const Instruction& i, unsigned reg) {
  for (std::size_t k = results_of(i).end; k < i.count; ++k) {
    const Operand& o = i[k];
    const bool general =
        o.kind == Kind::kRegister || o.kind == Kind::kAddress || o.kind == Kind::kConstant;
    if (general && is_within(o.index, source_registers(i, k), reg)) return true;
  }
  return false;
}

bool overwrites(const Instruction& i, unsigned reg) {
  const Results results = results_of(i);
  const unsigned least = result_registers(i).least;
  return is_true(i.guard) && std::any_of(i.operands.begin() + results.predicates,
                                         i.operands.begin() + results.end, [&](const Operand& o) {
                                           return o.kind == Kind::kRegister &&
                                                  is_within(o.index, least, reg);
                                         });
}

// Whether execution may continue elsewhere than ways_of() says.
bool leads_elsewhere(Op op) {
  return op == Op::kBrx || op == Op::kCall || op == Op::kCallAbsolute || op == Op::kRet;
}

class Readers {
 public:
  explicit Readers(const std::vector<Instruction>& code) : code_(code), visited_(code.size()) {}

  // Whether anything may read the register after instruction `from`.
  bool is_read(std::size_t from, unsigned reg) {
    ++walk_;
    std::size_t steps = 0;
    std::vector<std::size_t> open{from + 1};
    while (!open.empty()) {
      std::size_t n = open.back();
      open.pop_back();
      for (;; ++n) {
        if (n >= code_.size() || steps++ == kMostSteps) return true;
        if (visited_[n] == walk_) break;
        visited_[n] = walk_;
        const Instruction& i = code_[n];
        if (leads_elsewhere(i.op) || reads(i, reg)) return true;
        if (overwrites(i, reg)) break;
        const ir::Ways ways = ways_of(i);
        if (ways.jump >= 0) open.push_back(static_cast<std::size_t>(ways.jump));
        if (!ways.next) break;
      }
    }
    return false;
  }

 private:
  const std::vector<Instruction>& code_;
  std::vector<std::uint32_t> visited_;  // by instruction: the last walk that visited it
  std::uint32_t walk_ = 0;
};

}  // namespace

void mark_compared_loads(std::vector<Instruction>& code) {
  for (std::size_t n = 0; n < code.size(); ++n) {
    if (is_exchange(code[n])) mark_load_of(code, n);
  }
}

void mark_dead_words(std::vector<Instruction>& code) {
  Readers readers(code);
  for (std::size_t n = 0; n < code.size(); ++n) {
    Instruction& i = code[n];
    const unsigned words = i.bytes / 4u;
    if (i.op != Op::kLds || words < 2 || i.strong || i.compared || i[0].index == kZeroRegister)
      continue;
    for (unsigned w = 0; w < words; ++w) {
      if (!readers.is_read(n, i[0].index + w)) i.dead |= static_cast<std::uint8_t>(1u << w);
    }
  }
}

}  // namespace vgpu::sass
