// SPDX-License-Identifier: Apache-2.0
// Which layout the elements of a wmma fragment have (machine/fragments.hpp).
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

enum class WmmaFragment : u8 {  // Insn::sub of wmma.address
  kOwn,
  kA,  // mma's
  kB,
  kC,
};

}  // namespace vgpu::ir
