// SPDX-License-Identifier: Apache-2.0
// The table of all metrics: Nsight Compute's names and units, the sum that defines each metric, and
// the conditions under which it equals the hardware's counter (exact), per engine. The counters
// file, printed tables and golden tests all use this table.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "count/instruction.hpp"

namespace vgpu::count {

enum class Section : std::uint8_t { kLaunch, kInstructions, kMemory, kShared, kOccupancy };

// A set of an enumeration's values; all of them by default.
template <class Enum>
struct SetOf {
  std::uint64_t bits = ~std::uint64_t{0};
  constexpr SetOf() = default;
  constexpr SetOf(std::initializer_list<Enum> set) : bits(0) {
    for (const Enum value : set) bits |= std::uint64_t{1} << static_cast<int>(value);
  }
  constexpr bool has(Enum value) const { return (bits >> static_cast<int>(value) & 1) != 0; }
};
using Operations = SetOf<Operation>;
using Spaces = SetOf<Space>;

// What one instruction adds to a metric.
using Share = std::uint64_t (*)(const Instruction& instruction);

struct Metric {
  std::string_view name, unit;
  Section section = Section::kInstructions;
  std::string_view title;  // in printed tables
  // Summed over the instructions of these operations and spaces. Null: a property of the launch.
  Share share = nullptr;
  Operations operations;
  Spaces spaces;
  Doubts unless_ptx = kAlways, unless_sass = kNever;  // exact without these doubts
  std::string_view method;  // how it is estimated, and why it is not exact
};

std::span<const Metric> metrics();
const Metric* find_metric(std::string_view name);  // null if there is none

}  // namespace vgpu::count
