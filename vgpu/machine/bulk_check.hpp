// SPDX-License-Identifier: Apache-2.0
// Memory checks for bulk copies. These access byte ranges, unlike other instructions, which access
// words per lane.
#pragma once
#include "machine/cluster.hpp"

namespace vgpu::machine {

// Faults unless one live allocation contains all bytes.
void check_bulk_global(const Lane& lane, u64 address, u64 bytes, bool writes);
// kUpdate: a reduction, which is atomic and does not conflict with other blocks' accesses.
enum class BulkAccess { kRead, kWrite, kUpdate };
// Applies the checks `init` and `race` (between blocks) to these bytes, if enabled.
void watch_bulk_global(Warp& warp, const Lane& lane, u64 address, u32 bytes, BulkAccess access);
void watch_bulk_shared(const Lane& lane, const SharedPlace& place, u32 bytes, bool writes);

}  // namespace vgpu::machine
