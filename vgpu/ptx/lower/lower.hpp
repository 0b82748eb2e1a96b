// SPDX-License-Identifier: Apache-2.0
// Lowers the syntax tree to a program.
#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/program.hpp"
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {

using namespace ir;

// Addresses of a module's variables in global and constant space, by index of
// ptx::Module::variables.
struct Placement {
  std::vector<u64> addresses;  // 0: none (declared only, or in another space)
};

// Layout of a kernel, computed before lowering: the functions that it can reach, and the addresses
// of their variables in shared and local memory.
struct Layout {
  struct Member {
    u32 function = kNone;        // index into ptx::Module::functions
    std::vector<u32> addresses;  // addresses of the body's shared and local variables
    // Local addresses of parameters whose address is taken; kNone for the others.
    std::vector<u32> param_copies;
    u32 local_bytes = 0;
  };
  std::vector<Member> members;          // [0] is the kernel
  std::vector<u32> member_of;           // by function of the module; kNone
  std::unordered_map<u32, u32> shared;  // module variable -> shared address
  u32 shared_begin = 0, shared_static = 0, dynamic_alignment = 1;
  u32 constant_bytes = 0;
};

// `kernel` is an index into module.functions.
Layout lay_out(const ptx::Module& module, u32 kernel);

// The function's definition, with aliases resolved.
u32 resolve_alias(const ptx::Module& module, u32 function);

KernelAttributes attributes_of(const ptx::Module& module, u32 kernel, const Layout& layout);

// Lowers all functions of `layout`. Names what the engine does not support in Program::unsupported.
Program lower(const ptx::Module& module, const Layout& layout, const Placement& placement,
              KernelAttributes attributes);

// Classes of PTX instructions for the counters.
Class class_of(const Opcode& opcode, const Insn& insn);
u32 traits_of(const Opcode& opcode);  // bits of ir::Trait

std::vector<std::string_view> instruction_names();  // all that are known, by their first parts

}  // namespace vgpu::ptx
