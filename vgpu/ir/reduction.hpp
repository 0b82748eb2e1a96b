// SPDX-License-Identifier: Apache-2.0
// What a reduction does with the element in memory and another one: bulk copies, red.async, sured.
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

enum class Reduction : u8 { kCopy, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };

}  // namespace vgpu::ir
