// SPDX-License-Identifier: Apache-2.0
#include "machine/fault.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "memory/heap.hpp"
#include "memory/touched_memory.hpp"

namespace vgpu::machine {
namespace {

const char* name_of(AddressSpace space) {
  switch (space) {
    case AddressSpace::kGlobal: return "global";
    case AddressSpace::kShared: return "shared";
    case AddressSpace::kLocal: return "local";
    case AddressSpace::kParam: return "parameter";
    case AddressSpace::kFunction: return "function";
    case AddressSpace::kCluster: return "shared";
  }
  return "";
}

bool is_write(const Insn& insn, AddressSpace space) {
  return (insn.flags & kFlagStore) != 0 ||
         ((insn.flags & kFlagCopy) != 0 && space == AddressSpace::kShared);
}

// As for global memory: where the access begins, or how far it ends behind the memory.
std::string past_end(u64 address, u32 bytes, u64 end, std::string_view of) {
  const bool begins_inside = address < end;
  return fmt::format("{}{} bytes past the end of {}", begins_inside ? "the access ends " : "",
                     begins_inside ? address + bytes - end : address - end, of);
}

std::string describe_shared(const Warp& warp, u64 address, u32 bytes) {
  if (address < warp.shared_begin) {
    return fmt::format(
        "shared address 0x{:x} lies in the first {} bytes, which belong to the system", address,
        warp.shared_begin);
  }
  if (address > 0xffffffff) return fmt::format("0x{:x} is no address of shared memory", address);
  const u64 size = warp.shared_end - warp.shared_begin;
  if (size == 0) {
    return fmt::format(
        "shared address 0x{:x}: the block has none; <<<grid, block, bytes>>> gives it some",
        address);
  }
  return fmt::format(
      "shared address 0x{:x}: {}", address,
      past_end(address, bytes, warp.shared_end, fmt::format("the block's {} bytes", size)));
}

std::string describe_local(const Warp& warp, u64 address, u32 bytes) {
  if (address >= kWindowBytes) return fmt::format("0x{:x} is no address of local memory", address);
  return fmt::format("local address 0x{:x}: {}", address,
                     past_end(address, bytes, warp.local_bytes,
                              fmt::format("the thread's {} bytes", warp.local_bytes)));
}

}  // namespace

void fault_constant(const Lane& at, u32 offset, u32 size) {
  constexpr u8 kTables = 2;
  const std::string details = fmt::format("offset 0x{:x} of {} bytes", offset, size);
  if (at.insn.sub == kTables) {
    fault(at, FaultKind::kTrap, "a call through a bad function pointer, or a jump beyond its table",
          details);
  }
  fault(at, FaultKind::kOutOfBounds, "read from a bank of constants", details);
}

void fault_access(const Lane& at, AddressSpace space, u64 address, u32 bytes) {
  const bool writes = is_write(at.insn, space);
  const std::string what = fmt::format("{} of {} bytes {} {} memory", writes ? "write" : "read",
                                       bytes, writes ? "to" : "from", name_of(space));
  FaultKind kind = FaultKind::kOutOfBounds;
  std::string details;
  if (address % bytes != 0) {
    kind = FaultKind::kMisaligned;
    details = fmt::format("address 0x{:x} is no multiple of {}", address, bytes);
  } else {
    switch (space) {
      case AddressSpace::kShared: details = describe_shared(at.warp, address, bytes); break;
      case AddressSpace::kLocal:
        // The stack of machine code grows down to 0.
        if (at.warp.machine_code && address > 0x80000000) kind = FaultKind::kStackOverflow;
        details = describe_local(at.warp, address, bytes);
        break;
      case AddressSpace::kParam:
        details = fmt::format("offset {} of {} bytes of parameters", address, at.warp.param_bytes);
        break;
      default: {
        const Allocation* allocation = allocation_at(at.warp.block->launch, address);
        if (allocation != nullptr && allocation->freed) kind = FaultKind::kUseAfterFree;
        details = fmt::format("address 0x{:x}: {}", address,
                              describe_global(at.warp.block->launch, address));
      }
    }
  }
  fault(at, kind, what, details);
}

namespace {

// Hardware accesses the word that contains the half; only the half itself must be allocated.
u32 needed(const Insn& insn, u32 bytes) {
  return (insn.flags & kFlagHalf) != 0 ? static_cast<u32>(sizeof(u16)) : bytes;
}

Trial::Use use_of(const Insn& insn) {
  if ((insn.flags & kFlagSum) != 0) return Trial::Use::kSum;
  return is_write(insn, AddressSpace::kGlobal) ? Trial::Use::kStore : Trial::Use::kLoad;
}

// The part of the allocation that further accesses of the instruction need not note.
AddressRange noted_at(const Launch& launch, const Insn& insn, const Allocation& allocation,
                      u64 address) {
  AddressRange range{allocation.begin, allocation.end};
  // The workspace is the launch's own.
  if (allocation.begin == launch.grid_workspace) return range;
  const Trial::Use use = use_of(insn);
  if (launch.trial != nullptr) range = launch.trial->use(allocation, address, use);
  TouchedMemory* const touched = launch.config.touched;
  if (touched == nullptr) return range;
  const AddressRange piece = launch.trial != nullptr && use == Trial::Use::kSum
                                 ? touched->add_to(allocation, address)
                                 : touched->touch(allocation, address);
  return {std::max(range.begin, piece.begin), std::min(range.end, piece.end)};
}

const Allocation* on_heap(const Launch& launch, u64 address) {
  return launch.config.heap == nullptr ? nullptr : launch.config.heap->find(address);
}

}  // namespace

const Allocation* allocation_at(const Launch& launch, u64 address) {
  const Allocation* allocation = launch.map->find(address);
  if (allocation == nullptr) allocation = on_heap(launch, address);
  if (allocation != nullptr && !allocation->freed) return allocation;
  const Allocation* const made_since = launch.map->find_since(address);
  return made_since != nullptr ? made_since : allocation;
}

std::string describe_global(const Launch& launch, u64 address) {
  if (launch.config.heap != nullptr && launch.map->find(address) == nullptr) {
    if (auto text = launch.config.heap->describe(address)) return *text;
  }
  return launch.memory.describe(address);
}

void note_touched(const Launch& launch, const Allocation& allocation, u64 address, u64 bytes,
                  bool writes) {
  if (launch.config.touched != nullptr) launch.config.touched->touch(allocation, address, bytes);
  if (launch.trial == nullptr) return;
  launch.trial->use(allocation, address, bytes, writes ? Trial::Use::kStore : Trial::Use::kLoad);
}

void verify_global(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes) {
  const Launch& launch = warp.block->launch;
  const Allocation* last = nullptr;
  AddressRange known{};
  bool may_be_freed = false;  // by free() in a running kernel
  for (const u32 lane : SetBits(mask)) {
    const u64 address = addresses[lane];
    if (address >= known.begin && address < known.end && address % bytes == 0 &&
        needed(insn, bytes) <= last->end - address)
      continue;
    const bool inside = last != nullptr && address >= last->begin && address < last->end;
    const Allocation* allocation = inside ? last : launch.map->find(address);
    if (!inside) may_be_freed = allocation == nullptr;
    if (allocation == nullptr || allocation->freed) allocation = allocation_at(launch, address);
    if (address % bytes != 0 || allocation == nullptr || allocation->freed ||
        needed(insn, bytes) > allocation->end - address) {
      fault_access({warp, insn, lane}, AddressSpace::kGlobal, address, bytes);
    }
    SiteMemo& memo = warp.memos[insn.site];
    known = noted_at(launch, insn, *allocation, address);
    if (last == nullptr && !may_be_freed) {
      memo.begin = known.begin;
      memo.end = known.end;
      memo.written = allocation->written;
    }
    memo.written &= allocation->written;
    last = allocation;
  }
}

void verify_shared(const Warp& warp, const Insn& insn, u32 mask, const u32* offsets, u32 bytes) {
  const bool joined = bytes >= sizeof(u32) && !is_write(insn, AddressSpace::kShared);
  const u32 end = joined ? warp.block->launch.shared_read_end : warp.shared_end;
  for (const u32 lane : SetBits(mask)) {
    const u64 address = offsets[lane];
    if (address % bytes != 0 || address < warp.shared_begin || address >= warp.shared_end ||
        address + needed(insn, bytes) > end) {
      fault_access({warp, insn, lane}, AddressSpace::kShared, address, bytes);
    }
  }
}

}  // namespace vgpu::machine
