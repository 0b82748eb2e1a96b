// SPDX-License-Identifier: Apache-2.0
// Faults of accesses to memory.
#pragma once
#include <string>

#include "machine/machine.hpp"

namespace vgpu::machine {

using observer::fault;
using observer::place;

struct Lane {
  const Warp& warp;
  const Insn& insn;
  u32 lane;
  operator observer::Lane() const { return {warp, insn, lane}; }  // NOLINT: as a reference
};

[[noreturn]] inline void bad_operand(const Lane& lane, const std::string& what) {
  fault(lane, FaultKind::kBadOperand, what, "");
}
[[noreturn]] inline void illegal(const Lane& lane, const std::string& what) {
  fault(lane, FaultKind::kIllegal, what, "");
}

// Throws the Fault of a bad access of `bytes` bytes; derives the reason from the address.
[[noreturn]] void fault_access(const Lane& at, AddressSpace space, u64 address, u32 bytes);

// Throws the Fault of a load that is misaligned or outside a constant bank of `size` bytes.
[[noreturn]] void fault_constant(const Lane& at, u32 offset, u32 size);

// The allocation that contains the address, live or freed, in device memory or on the heap of
// malloc in kernels; null if none.
const Allocation* allocation_at(const Launch& launch, u64 address);
// Memory::describe, extended to that heap.
std::string describe_global(const Launch& launch, u64 address);

// Notes that the launch touches this part of a live allocation, where that is wanted.
void note_touched(const Launch& launch, const Allocation& allocation, u64 address, u64 bytes,
                  bool writes);

// Checks accesses to device memory lane by lane, and faults at the first bad one. Otherwise stores
// in the instruction's memo the allocation that the first lane accessed, or the part of it that was
// noted (TouchedMemory, Trial).
void verify_global(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes);

// Faults at the first lane whose access to shared memory is bad.
void verify_shared(const Warp& warp, const Insn& insn, u32 mask, const u32* offsets, u32 bytes);

}  // namespace vgpu::machine
