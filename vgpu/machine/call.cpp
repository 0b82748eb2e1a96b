// SPDX-License-Identifier: Apache-2.0
// Calls of device functions: frames, parameters, results, and the functions that the engine
// provides.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "machine/device_runtime.hpp"
#include "machine/fault.hpp"
#include "machine/print.hpp"

namespace vgpu::machine {
namespace {

constexpr u32 kMaxDepth = 1024;

Frame* new_frame(Warp& warp, const FunctionCode& function) {
  Frame* frame;
  if (warp.free_frames.empty()) {
    frame = warp.frames.emplace_back(std::make_unique<Frame>()).get();
  } else {
    frame = warp.free_frames.back();
    warp.free_frames.pop_back();
  }
  if (frame->storage.size() < function.window_bytes + 64)
    frame->storage.resize(function.window_bytes + 64);
  const u64 start = reinterpret_cast<u64>(frame->storage.data());
  frame->window = frame->storage.data() + ((start + 63) / 64 * 64 - start);
  std::copy(function.constants.begin(), function.constants.end(), frame->window);
  for (const auto& [offset, bytes] : function.undefined)
    std::memset(frame->window + offset, 0, bytes);
  return frame;
}

void copy_lanes(std::byte* to_window, const ParamPlace& to, const std::byte* from_window,
                const ParamPlace& from, u32 mask) {
  const u32 bytes = std::min(to.bytes, from.bytes);
  for (const u32 i : SetBits(mask)) {
    std::memcpy(to_window + to.slot + u64{i} * to.bytes,
                from_window + from.slot + u64{i} * from.bytes, bytes);
  }
}

void enter(Warp& warp, const Insn& insn, const Call& what, u32 callee) {
  const Program& program = warp.block->launch.program;
  const FunctionCode& function = program.functions[callee];
  const FunctionCode& caller = program.functions[warp.frame->function];
  const Lane at{warp, insn, static_cast<u32>(__builtin_ctz(warp.mask))};
  if (what.args.size() != function.params.size() || what.returns.size() > function.returns.size()) {
    fault(at, FaultKind::kTrap,
          "a call through a function pointer to a function with other parameters",
          fmt::format("it is {}", function.name));
  }
  if (warp.frame->depth + 1 > kMaxDepth) {
    fault(at, FaultKind::kStackOverflow, fmt::format("calls nested deeper than {}", kMaxDepth), "");
  }
  const u32 local_base = warp.frame->local_base + (caller.local_bytes + 15) / 16 * 16;
  ensure_local(warp, insn, u64{local_base} + function.local_bytes);
  Frame* const frame = new_frame(warp, function);
  frame->parent = warp.frame;
  frame->function = callee;
  frame->depth = warp.frame->depth + 1;
  frame->return_pc = warp.pc;
  frame->lanes = warp.mask;
  frame->local_base = local_base;
  for (std::size_t i = 0; i < what.args.size(); ++i) {
    copy_lanes(frame->window, function.params[i], warp.window, what.args[i], warp.mask);
  }
  warp.frame = frame;
  warp.window = frame->window;
  warp.pc = function.entry;
  warp.limit = kNone;
}

void call_indirect(Warp& warp, const Insn& insn, const Call& what) {
  const Program& program = warp.block->launch.program;
  const u64* const target = reinterpret_cast<const u64*>(warp.window + insn.s[0]);
  const u32 first = static_cast<u32>(__builtin_ctz(warp.mask));
  u32 same = 0;
  for (const u32 i : SetBits(warp.mask)) same |= static_cast<u32>(target[i] == target[first]) << i;
  const u64 distance = target[first] - windows().function;
  const u64 index = distance / 16 - 1;
  if (distance % 16 != 0 || index >= program.address_to_function.size() ||
      program.address_to_function[index] == kNone) {
    fault({warp, insn, first}, FaultKind::kTrap, "a call through a bad function pointer",
          fmt::format("its value is 0x{:x}", target[first]));
  }
  if (same != warp.mask) split(warp, warp.mask & ~same, warp.pc);  // the other lanes call later
  enter(warp, insn, what, program.address_to_function[index]);
}

}  // namespace

void ensure_local(Warp& warp, const Insn& insn, u64 bytes) {
  if (bytes <= warp.local_bytes) return;
  if (bytes > kMostLocalBytes) {
    fault({warp, insn, static_cast<u32>(__builtin_ctz(warp.mask))}, FaultKind::kStackOverflow,
          fmt::format("the calls' local memory exceeds the {} bytes that a thread has",
                      kMostLocalBytes),
          "");
  }
  const u64 grown = std::min(kMostLocalBytes, std::max(bytes, u64{warp.local_bytes} * 2));
  warp.local_storage.resize((grown + 3) / 4 * 4 * kLanes, warp.block->launch.fill.local());
  warp.local = warp.local_storage.data();
  warp.local_bytes = static_cast<u32>(grown);
  if (warp.local_written != nullptr) {
    warp.local_marks.resize((grown + 3) / 4 * kLanes);
    warp.local_written = warp.local_marks.data();
  }
}

void call(Warp& warp, const Insn& insn) {
  const Call& what = warp.block->launch.program.calls[insn.target];
  switch (what.kind) {
    case Call::Kind::kFunction: enter(warp, insn, what, what.callee); return;
    case Call::Kind::kIndirect: call_indirect(warp, insn, what); return;
    case Call::Kind::kPrint:
      print(warp, insn, what);
      ++warp.pc;
      return;
    case Call::Kind::kAllocate:
      allocate(warp, what);
      ++warp.pc;
      return;
    case Call::Kind::kFree:
      free(warp, insn, what);
      ++warp.pc;
      return;
    case Call::Kind::kDevice:
      warp.block->launch.device_runtime->call(warp, insn, what,
                                              static_cast<DeviceFunction>(what.callee));
      ++warp.pc;
      return;
    case Call::Kind::kAssert: report_assertion(warp, insn, what);
  }
}

void return_lanes(Warp& warp) {
  Frame* const frame = warp.frame;
  if (frame->parent == nullptr) {
    exit_lanes(warp);
    return;
  }
  const Program& program = warp.block->launch.program;
  const Call& what = program.calls[program.code[frame->return_pc].target];
  const FunctionCode& function = program.functions[frame->function];
  for (std::size_t i = 0; i < what.returns.size(); ++i) {
    copy_lanes(frame->parent->window, what.returns[i], frame->window, function.returns[i],
               warp.mask);
  }
  frame->lanes &= ~warp.mask;
  warp.frame = frame->parent;
  warp.window = warp.frame->window;
  warp.pc = frame->return_pc + 1;
  if (frame->lanes == 0) free_frame(warp, frame);
  select_group(warp);
}

void free_frame(Warp& warp, Frame* frame) { warp.free_frames.push_back(frame); }

}  // namespace vgpu::machine
