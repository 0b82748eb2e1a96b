// SPDX-License-Identifier: Apache-2.0
#include "machine/call_absolute.hpp"

#include <fmt/format.h>

#include "ir/provided.hpp"
#include "machine/converge.hpp"
#include "machine/device_runtime.hpp"
#include "machine/fault.hpp"
#include "machine/print.hpp"

namespace vgpu::machine {

void call_absolute(Warp& warp, const Insn& insn) {
  const Program& program = warp.block->launch.program;
  u32 address = static_cast<u32>(insn.imm);
  if (insn.s[0] != kNone) {
    const u32* const low = reinterpret_cast<const u32*>(warp.window + insn.s[0]);
    const u32* const high = low + kLanes;
    const u32 first = static_cast<u32>(__builtin_ctz(warp.mask));
    u32 others = 0;
    for (u32 i = 0; i < kLanes; ++i) {
      others |= static_cast<u32>(low[i] != low[first] || high[i] != high[first]) << i;
    }
    const auto pointed_to =
        program.function_pointers.find(low[first] | static_cast<u64>(high[first]) << 32);
    const bool is_pointer = pointed_to != program.function_pointers.end();
    if (high[first] != 0 && !is_pointer) {
      fault({warp, insn, first}, FaultKind::kTrap, "a call through a bad function pointer",
            fmt::format("its value is 0x{:08x}{:08x}", high[first], low[first]));
    }
    if ((others & warp.mask) != 0) {
      ++warp.block->counters.divergent[static_cast<u32>(&insn - warp.code)];
      part(warp, others & warp.mask, warp.pc);  // they execute the call afterwards
    }
    address = is_pointer ? pointed_to->second : low[first];
  }
  switch (address) {
    case kPrintAddress:
      print(warp, insn, program.calls[insn.target]);
      ++warp.pc;
      return;
    case kMallocAddress:
      allocate(warp, program.calls[insn.target + 2]);
      ++warp.pc;
      return;
    case kFreeAddress:
      free(warp, insn, program.calls[insn.target + 3]);
      ++warp.pc;
      return;
    case kAssertAddress: report_assertion(warp, insn, program.calls[insn.target + 1]);
    default:
      if (address >= kDeviceRuntimeAddress && warp.block->launch.device_runtime != nullptr) {
        const auto function = static_cast<DeviceFunction>((address - kDeviceRuntimeAddress) / 16);
        warp.block->launch.device_runtime->call(warp, insn, program.calls[insn.target + 4],
                                                function);
        ++warp.pc;
        return;
      }
      warp.pc = place_of_address(warp, insn, address);
  }
}

}  // namespace vgpu::machine
