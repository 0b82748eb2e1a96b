// SPDX-License-Identifier: Apache-2.0
// The check of the metadata of a sparse A.
#pragma once
#include "ir/sparse.hpp"
#include "machine/machine.hpp"

namespace vgpu::machine {

// Faults if one of the threads whose metadata a product reads has a value that has no meaning.
// `words`: the metadata of the warp's threads.
void check_metadata(const Warp& warp, const Insn& insn, const u32* words,
                    const SparseLayout& layout, u32 selector, SparseRule rule);

}  // namespace vgpu::machine
