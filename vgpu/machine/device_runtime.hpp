// SPDX-License-Identifier: Apache-2.0
// The device runtime: what kernels that launch kernels call. A launch is only noted; it is executed
// when the launching grid has ended, which CUDA permits: neither waits for the other.
#pragma once
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/device_launch.hpp"
#include "ir/provided.hpp"
#include "machine/machine.hpp"

namespace vgpu::machine {

// The name of the allocation of a condition, which cudaGraphSetConditional sets.
inline constexpr std::string_view kConditionName = "a graph's condition";

// The launches of one grid. Its blocks run in order, on one thread.
class DeviceRuntime {
 public:
  // For all lanes of the running group.
  void call(Warp& warp, const Insn& insn, const Call& what, DeviceFunction function);
  // When the grid has ended. Frees the buffers of launches that never came.
  std::vector<DeviceLaunch> finish(DeviceHeap* heap);

 private:
  struct Arguments;
  u64 run(Warp& warp, const Arguments& arguments, DeviceFunction function);
  u64 parameter_buffer(Warp& warp, const Arguments& arguments);
  u32 launch(Warp& warp, const Arguments& arguments);
  u32 copy(const Warp& warp, const Arguments& arguments, bool fills);
  static void set_conditional(Warp& warp, const Arguments& arguments);
  u32& last_error(const Warp& warp, u32 lane);

  std::map<u64, DeviceLaunch> buffers_;  // by address: those that are not launched yet
  std::vector<DeviceLaunch> launches_;
  std::map<std::pair<u64, u32>, u32> errors_;  // by block and thread
  u64 handles_ = 0x100;                        // of streams and events
};

}  // namespace vgpu::machine
