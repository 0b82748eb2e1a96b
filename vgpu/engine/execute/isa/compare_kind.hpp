// SPDX-License-Identifier: Apache-2.0
// How the result of a comparison is combined with a predicate: Insn::sub of setp.
#pragma once
#include "engine/execute/ir.hpp"

namespace vgpu::execute {

enum Combination : u8 { kCombineNone, kCombineAnd, kCombineOr, kCombineXor };

}  // namespace vgpu::execute
