// SPDX-License-Identifier: Apache-2.0
// Classes of PTX instructions for the counters.
#pragma once
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {

using namespace ir;

Class class_of(const Opcode& opcode, const Insn& insn);
u16 traits_of(const Opcode& opcode);  // bits of ir::Trait

std::vector<std::string_view> instruction_names();  // all that are known, by their first parts

}  // namespace vgpu::ptx
