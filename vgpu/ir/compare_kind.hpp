// SPDX-License-Identifier: Apache-2.0
// How the result of a comparison is combined with a predicate: Insn::sub of setp.
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

enum Combination : u8 { kCombineNone, kCombineAnd, kCombineOr, kCombineXor };

}  // namespace vgpu::ir
