// SPDX-License-Identifier: Apache-2.0
// Classes of machine-code instructions for the counters.
#pragma once
#include "ir/program.hpp"
#include "sass/decode/instruction.hpp"

namespace vgpu::sass {

ir::Class class_of(Op op, bool uniform);  // without the bytes
ir::Class class_of(const Instruction& instruction);
ir::u16 traits_of(const Instruction& instruction);  // bits of ir::Trait

}  // namespace vgpu::sass
