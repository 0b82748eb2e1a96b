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

}  // namespace vgpu::ir
