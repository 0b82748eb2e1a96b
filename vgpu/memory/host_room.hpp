// SPDX-License-Identifier: Apache-2.0
// How much more host memory this process can use before the kernel refuses it or kills the process.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace vgpu {

struct Bound {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  std::string by;  // name of the limit

  void lower(std::uint64_t other, const std::string& name) {
    if (other >= bytes) return;
    bytes = other;
    by = name;
  }
};

struct HostRoom {
  Bound memory;                // for writable pages: free memory and swap, control groups
  Bound mappable;              // for writable mappings: RLIMIT_DATA, vm.overcommit_memory=2
  Bound addresses;             // RLIMIT_AS
  std::uint64_t resident = 0;  // resident size of the process
};

// `root`: the parent folder of /proc and /sys; tests pass their own.
HostRoom host_room(const std::string& root = "");

}  // namespace vgpu
