// SPDX-License-Identifier: Apache-2.0
#include "sass/lower/operands.hpp"

#include <algorithm>

namespace vgpu::sass {
namespace {

constexpr std::uint8_t k64Bits = 3;  // types of conversions: kF64, and integers of that size

Extent extent(Registers registers, const Instruction& i, std::uint8_t type) {
  switch (registers) {
    case Registers::kNone:
    case Registers::kPredicates: return {0, 0};
    case Registers::kOne: return {1, 1};
    case Registers::kTwo: return {2, 2};
    case Registers::kOneOrTwo:
    case Registers::kTexels: return {1, 2};
    case Registers::kToFour: return {1, 4};
    case Registers::kToEight: return {1, 8};
    case Registers::kToSixteen: return {1, 16};
    case Registers::kMany: return {1, 256};
    case Registers::kTyped: return type == k64Bits ? Extent{2, 2} : Extent{1, 1};
    case Registers::kData: break;
  }
  const unsigned elements = i.floating ? i.shift : 1;  // of vector atomics
  const unsigned words = std::max(i.bytes * elements / 4u, 1u);
  return {words, words};
}

}  // namespace

Results results_of(const Instruction& i) {
  const Registers result = columns_of(i.op).result;
  if (result == Registers::kNone) return {};
  const std::size_t most = result == Registers::kPredicates ? 2 : 1;
  Results results;
  while (results.predicates < std::min<std::size_t>(i.count, most) &&
         is_predicate(i[results.predicates]))
    ++results.predicates;
  results.end = results.predicates;
  if (result == Registers::kPredicates) return results;
  const std::size_t last = results.end + (result == Registers::kTexels ? 2 : 1);
  while (results.end < std::min<std::size_t>(i.count, last) && is_register(i[results.end]))
    ++results.end;
  return results;
}

Extent result_registers(const Instruction& i) { return extent(columns_of(i.op).result, i, i.type); }

unsigned source_registers(const Instruction& i, std::size_t k) {
  constexpr unsigned kPair = 2;
  const Registers sources = columns_of(i.op).sources;
  const bool is_place = i[k].kind == Kind::kAddress || i[k].kind == Kind::kConstant;
  if (is_place && sources == Registers::kData) return kPair;
  const unsigned most = extent(sources, i, i.source_type).most;
  return is_place || i[k].pair ? std::max(most, kPair) : most;
}

bool writes(const Instruction& i, Kind kind, unsigned index) {
  const Results results = results_of(i);
  const unsigned most = result_registers(i).most;
  return std::any_of(i.operands.begin() + results.predicates, i.operands.begin() + results.end,
                     [&](const Operand& o) {
                       return o.kind == kind && o.index <= index && index < o.index + most;
                     });
}

ir::Ways ways_of(const Instruction& i) {
  const bool branches = i.op == Op::kBra, exits = i.op == Op::kExit;
  const bool leaves = branches || exits || i.op == Op::kBrx || i.op == Op::kRet;
  // BRA and EXIT may have a condition beside the guard; of BRA.DIV and .CONV it is a set of lanes.
  const bool conditional = (branches || exits) && i.count != 0;
  const bool always = is_true(i.guard) && (!conditional || (is_predicate(i[0]) && is_true(i[0])));
  return {branches ? static_cast<std::ptrdiff_t>(i.target / kInstructionBytes) : -1,
          !leaves || !always};
}

}  // namespace vgpu::sass
