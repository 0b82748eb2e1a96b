// SPDX-License-Identifier: Apache-2.0
// The checks of memory that bulk copies touch: ranges of bytes, where other accesses are words of
// lanes.
#pragma once
#include "engine/execute/cluster.hpp"

namespace vgpu::execute {

// Faults unless one live allocation holds all of the bytes.
void check_bulk_global(const Lane& lane, u64 address, u64 bytes, bool writes);
// What the checks `init` and `race` (between blocks) say of them, where they are on.
void watch_bulk_global(Warp& warp, const Lane& lane, u64 address, u32 bytes, bool writes);
void watch_bulk_shared(const Lane& lane, const SharedPlace& place, u32 bytes, bool writes);

}  // namespace vgpu::execute
