// SPDX-License-Identifier: Apache-2.0
// What the driver puts into constant bank 0 before a kernel's parameters. The places depend on the
// architecture; most of sm_90 were compared with hardware, the others follow from compiled code.
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

struct DriverConstant {
  u32 offset = 0, bytes = 0;  // no bytes: the architecture has none that is known
  bool holds(u32 at) const { return at >= offset && at < offset + bytes; }
};

struct DriverConstants {
  DriverConstant block = {}, grid = {};                  // extents
  DriverConstant shared_window = {}, local_window = {};  // 64-bit addresses
  DriverConstant stack = {};                             // first address above it
  DriverConstant dynamic_shared = {}, reserved_shared = {}, multiprocessors = {}, grid_id = {};
  DriverConstant constants = {};  // generic address of constant bank 3
  DriverConstant workspace = {};  // of cooperative launches: upper half, lower half
  DriverConstant in_cluster = {}, cluster = {}, cluster_size = {};
  DriverConstant params_address = {}, descriptor = {};
  u32 params;  // where the parameters begin

  bool holds(u32 at) const {
    for (const DriverConstant& c : {block, grid, shared_window, local_window, stack, dynamic_shared,
                                    reserved_shared, multiprocessors, grid_id, constants, workspace,
                                    in_cluster, cluster, cluster_size, params_address, descriptor})
      if (c.holds(at)) return true;
    return false;
  }
};

// `architecture`: 90 for sm_90.
constexpr DriverConstants driver_constants(int architecture) {
  if (architecture >= 100) {
    return {.block = {0x360, 12},
            .grid = {0x370, 12},
            .local_window = {0x2f8, 8},
            .stack = {0x37c, 4},
            .reserved_shared = {0x16c, 4},
            .multiprocessors = {0x2d0, 4},
            .grid_id = {0x140, 8},
            .constants = {0x120, 8},
            .descriptor = {0x358, 8},
            .params = 0x380};
  }
  if (architecture >= 90) {
    return {.block = {0, 12},
            .grid = {0xc, 12},
            .local_window = {0x20, 8},
            .stack = {0x28, 4},
            .dynamic_shared = {0x2c, 4},
            .reserved_shared = {0x114, 4},
            .multiprocessors = {0x10c, 4},
            .grid_id = {0x30, 8},
            .constants = {0xd0, 8},
            .workspace = {0x44, 8},
            .in_cluster = {0x140, 4},
            .cluster = {0x144, 36},
            .cluster_size = {0x188, 4},
            .params_address = {0x198, 8},
            .descriptor = {0x208, 8},
            .params = 0x210};
  }
  return {.block = {0, 12},
          .grid = {0xc, 12},
          .shared_window = {0x18, 8},
          .local_window = {0x20, 8},
          .stack = {0x28, 4},
          .dynamic_shared = {0x2c, 4},
          .reserved_shared = {0x114, 4},
          .multiprocessors = {0x10c, 4},
          .grid_id = {0x30, 8},
          .constants = {0x50, 8},
          .workspace = {0x8c, 8},
          .descriptor = {0x118, architecture >= 80 ? 8u : 0u},
          .params = 0x160};
}

}  // namespace vgpu::ir
