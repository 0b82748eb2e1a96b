// SPDX-License-Identifier: Apache-2.0
#include "machine/device_runtime.hpp"

#include <cstring>

#include <fmt/format.h>

#include "machine/fault.hpp"
#include "memory/heap.hpp"

namespace vgpu::machine {
namespace {

// Values of cudaError_t and of the streams that stand for kinds of launches.
constexpr u32 kSuccess = 0, kInvalidValue = 1, kMemoryAllocation = 2, kInvalidConfiguration = 9,
              kMaxDepthExceeded = 65, kInvalidDeviceFunction = 98;
constexpr u64 kTailStream = 3;
constexpr u64 kMostThreads = 1024;

// Writes to generic memory as one lane addresses it.
void write_generic(Warp& warp, const Lane& at, u64 address, const void* from, u32 bytes) {
  const AddressSpace space = space_of(address, warp.shared_window);
  const u64 offset = (address - warp.shared_window) % kWindowBytes;
  if (space == AddressSpace::kGlobal) {
    const Launch& launch = warp.block->launch;
    const Allocation* const allocation = allocation_at(launch, address);
    if (allocation == nullptr || allocation->freed || bytes > allocation->end - address)
      fault_access(at, space, address, bytes);
    std::memcpy(reinterpret_cast<void*>(address), from, bytes);
    launch.memory.mark_written(reinterpret_cast<void*>(address), bytes);
    return;
  }
  if (space != AddressSpace::kLocal || offset % 4 != 0 || offset > warp.local_bytes ||
      bytes > warp.local_bytes - offset)
    fault_access(at, space, offset, bytes);
  for (u32 word = 0; word < bytes / 4; ++word) {
    const u64 index = (offset / 4 + word) * kLanes + at.lane;
    std::memcpy(warp.local + index * 4, static_cast<const std::byte*>(from) + word * 4, 4);
    if (warp.local_written != nullptr) warp.local_written[index] = 15;
  }
}

}  // namespace

struct DeviceRuntime::Arguments {
  const Lane at;
  const Call& call;
  // Word i of the arguments, which are in registers in machine code, and in parameters in PTX.
  // Those of 8 bytes begin at an even word. 0 beyond the last.
  u32 word(std::size_t i) const {
    u32 value = 0;
    std::size_t first = 0;
    for (const ParamPlace& place : call.args) {
      if (place.bytes == 8) first += first % 2;
      const std::size_t end = first + (place.bytes + 3) / 4;
      if (i < end) {
        std::memcpy(&value,
                    at.warp.window + place.slot + u64{at.lane} * place.bytes + (i - first) * 4, 4);
        break;
      }
      first = end;
    }
    return value;
  }
  u64 wide(std::size_t i) const { return word(i) | u64{word(i + 1)} << 32; }
  Dim3 extent(std::size_t i) const { return {word(i), word(i + 1), word(i + 2)}; }
};

u32& DeviceRuntime::last_error(const Warp& warp, u32 lane) {
  return errors_[{warp.block->linear, warp.id * kLanes + lane}];
}

// (function, grid, block, bytes of shared memory)
u64 DeviceRuntime::parameter_buffer(Warp& warp, const Arguments& arguments) {
  const Launch& launch = warp.block->launch;
  const auto found = launch.program.launchable.find(arguments.wide(0));
  const Dim3 grid = arguments.extent(2), block = arguments.extent(5);
  u32& error = last_error(warp, arguments.at.lane);
  if (found == launch.program.launchable.end()) {
    error = kInvalidDeviceFunction;
    return 0;
  }
  if (grid.count() == 0 || block.count() == 0 || block.count() > kMostThreads) {
    error = kInvalidConfiguration;
    return 0;
  }
  if (launch.config.depth >= kMostLaunchDepth) {
    error = kMaxDepthExceeded;
    return 0;
  }
  const Launchable& kernel = found->second;
  const u64 bytes = kernel.param_bytes == 0 ? 8 : kernel.param_bytes;
  const u64 buffer = launch.config.heap == nullptr ? 0 : launch.config.heap->allocate(bytes);
  if (buffer == 0) {
    error = kMemoryAllocation;
    return 0;
  }
  DeviceLaunch& made = buffers_[buffer];
  made = {kernel.name, grid, block, arguments.word(8), {}};
  made.params.resize(kernel.param_bytes);
  return buffer;
}

// (buffer, stream)
u32 DeviceRuntime::launch(Warp& warp, const Arguments& arguments) {
  const u64 buffer = arguments.wide(0);
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return kInvalidValue;
  DeviceLaunch made = std::move(found->second);
  buffers_.erase(found);
  std::memcpy(made.params.data(), reinterpret_cast<const void*>(buffer), made.params.size());
  made.tail = arguments.wide(2) == kTailStream;
  launches_.push_back(std::move(made));
  warp.block->launch.config.heap->free(buffer);
  return kSuccess;
}

// (to, from, bytes, kind, stream) or (to, value, bytes, stream)
u32 DeviceRuntime::copy(const Warp& warp, const Arguments& arguments, bool fills) {
  DeviceLaunch made;
  made.copy = {arguments.wide(0), arguments.wide(2), arguments.wide(4), std::nullopt};
  if (fills) made.copy->value = static_cast<int>(arguments.word(2));
  made.tail = arguments.word(fills ? 6 : 8) == kTailStream;
  for (const u64 address : {made.copy->to, fills ? made.copy->to : made.copy->from}) {
    if (space_of(address, warp.shared_window) != AddressSpace::kGlobal) return kInvalidValue;
  }
  launches_.push_back(std::move(made));
  return kSuccess;
}

// (handle, value)
void DeviceRuntime::set_conditional(Warp& warp, const Arguments& arguments) {
  const u64 handle = arguments.wide(0);
  const u32 value = arguments.word(2);
  const Allocation* const condition = allocation_at(warp.block->launch, handle);
  if (condition == nullptr || condition->freed || condition->begin != handle ||
      condition->name != kConditionName)
    bad_operand(arguments.at, fmt::format("0x{:x} is no handle of a graph's condition", handle));
  std::memcpy(reinterpret_cast<void*>(handle), &value, sizeof value);
}

u64 DeviceRuntime::run(Warp& warp, const Arguments& arguments, DeviceFunction function) {
  const LaunchConfig& config = warp.block->launch.config;
  const auto give = [&](const auto& value) {
    write_generic(warp, arguments.at, arguments.wide(0), &value, sizeof value);
    return kSuccess;
  };
  switch (function) {
    case DeviceFunction::kGetParameterBuffer: return parameter_buffer(warp, arguments);
    case DeviceFunction::kLaunch: {
      const u32 error = launch(warp, arguments);
      if (error != kSuccess) last_error(warp, arguments.at.lane) = error;
      return error;
    }
    case DeviceFunction::kCopy:
    case DeviceFunction::kFill: {
      const u32 error = copy(warp, arguments, function == DeviceFunction::kFill);
      if (error != kSuccess) last_error(warp, arguments.at.lane) = error;
      return error;
    }
    case DeviceFunction::kStreamCreate:
    case DeviceFunction::kEventCreate: return give(++handles_);
    case DeviceFunction::kSetConditional: set_conditional(warp, arguments); return kSuccess;
    case DeviceFunction::kGetLastError:
      return std::exchange(last_error(warp, arguments.at.lane), kSuccess);
    case DeviceFunction::kPeekAtLastError: return last_error(warp, arguments.at.lane);
    case DeviceFunction::kGetDevice: return give(config.device);
    case DeviceFunction::kGetDeviceCount: return give(config.devices);
    default:  // launches run one after another, in order, so that there is nothing to wait for
      return kSuccess;
  }
}

std::vector<DeviceLaunch> DeviceRuntime::finish(DeviceHeap* heap) {
  for (const auto& [buffer, launch] : buffers_) heap->free(buffer);
  buffers_.clear();
  return std::move(launches_);
}

void DeviceRuntime::call(Warp& warp, const Insn& insn, const Call& what, DeviceFunction function) {
  warp.block->counters.called_driver = true;
  ++warp.progress;
  for (const u32 lane : SetBits(warp.mask)) {
    u64 result = run(warp, {{warp, insn, lane}, what}, function);
    for (const ParamPlace& place : what.returns) {
      if (&place != what.returns.data() && function != DeviceFunction::kGetParameterBuffer) break;
      const u32 bytes = place.bytes < sizeof result ? place.bytes : sizeof result;
      std::memcpy(warp.window + place.slot + u64{lane} * place.bytes, &result, bytes);
      result >>= 32;
    }
  }
}

}  // namespace vgpu::machine
