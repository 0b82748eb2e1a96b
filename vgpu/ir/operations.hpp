// SPDX-License-Identifier: Apache-2.0
// The table of operations (operations.def). An operation has a name as PTX spells it ("mad.lo.s32")
// and a shape (its operand types).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"

namespace vgpu::ir {

enum class Arg : u8 { kAbsent, kPred, kInt16, kInt32, kInt64, kFloat32, kFloat64 };

struct Shape {
  Arg dest = Arg::kAbsent;
  Arg sources[4] = {};
  bool operator==(const Shape&) const = default;
};

struct Operation {
  std::string name;
  Shape shape;
  bool control = false;  // sets the warp's program counter, so it ends a run
};

const std::vector<Operation>& operations();
std::optional<u16> find_operation(std::string_view name);

// The special registers.
enum class Special : u8 {
#define REGISTER(special, name) special,
#define WIDE(special, name) special,
#define UNNAMED(special) special,
#include "ir/special.def"
};

struct SpecialRegister {
  Special special;
  bool wide;  // 64 bits (a 32-bit read takes the low half)
};

// Looks up a name such as "%tid.x"; none if there is no such register or it is unsupported.
std::optional<SpecialRegister> find_special(std::string_view name);

// Value of %nsmid, an H100's or H200's number of SMs; blocks are assigned to SMs round-robin.
inline constexpr u32 kMultiprocessors = 132;
// Value of %nwarpid: warps that a multiprocessor can have.
inline constexpr u32 kMostWarps = 64;

}  // namespace vgpu::ir
