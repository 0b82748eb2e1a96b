// SPDX-License-Identifier: Apache-2.0
// What a kernel consists of, found before anything is lowered: the functions it can reach, and
// where the variables they use lie in shared and local memory.
#pragma once
#include <unordered_map>
#include <vector>

#include "engine/execute/ir.hpp"

namespace vgpu::execute {

// Where a module's variables of the global and constant spaces lie, by index of
// ptx::Module::variables.
struct Placement {
  std::vector<u64> addresses;  // 0: not there (declared only, or another space)
};

struct Layout {
  struct Member {
    u32 function = kNone;        // index into ptx::Module::functions
    std::vector<u32> addresses;  // of its body's variables in their spaces, shared and local
    std::vector<u32>
        param_copies;  // of parameters whose address is taken: in local memory; else kNone
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

// The definition behind a function's index: through aliases.
u32 resolve_alias(const ptx::Module& module, u32 function);

KernelAttributes attributes_of(const ptx::Module& module, u32 kernel, const Layout& layout);

}  // namespace vgpu::execute
