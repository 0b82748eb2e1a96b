// SPDX-License-Identifier: Apache-2.0
// Formats and throws a kernel's faults.
#pragma once
#include <string>
#include <string_view>

#include "machine/machine.hpp"

namespace vgpu::machine {

struct Lane {
  const Warp& warp;
  const Insn& insn;
  u32 lane;
};

// Throws the Fault: `what` is its first line, `details` further lines.
[[noreturn]] void fault(const Lane& at, FaultKind kind, const char* what);
[[noreturn]] void fault(const Lane& at, FaultKind kind, const std::string& what,
                        const std::string& details);

// Throws the Fault of a bad access of `bytes` bytes; derives the reason from the address.
[[noreturn]] void fault_access(const Lane& at, AddressSpace space, u64 address, u32 bytes);

// Throws the Fault of a load that is misaligned or outside a constant bank of `size` bytes.
[[noreturn]] void fault_constant(const Lane& at, u32 offset, u32 size);

// The instruction as reports show it: "st.shared.f32 [%r1], %f2" (PTX line 12; k.cu:34).
std::string place(const Program& program, u32 pc);

// The allocation that contains the address, live or freed, in device memory or on the heap of
// malloc in kernels; null if none.
const Allocation* allocation_at(const Launch& launch, u64 address);
// Memory::describe, extended to that heap.
std::string describe_global(const Launch& launch, u64 address);

// Checks accesses to device memory lane by lane, and faults at the first bad one. Otherwise stores
// in the instruction's memo the allocation that the first lane accessed.
void verify_global(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes);

// Faults at the first lane whose access to shared memory is bad.
void verify_shared(const Warp& warp, const Insn& insn, u32 mask, const u32* offsets, u32 bytes);

}  // namespace vgpu::machine
