// SPDX-License-Identifier: Apache-2.0
// How much more memory this process can use on the host before the kernel refuses it, or ends it.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace vgpu {

struct Bound {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  std::string by;  // the limit, as its owner names it; "" if there is none

  void lower(std::uint64_t other, const std::string& name) {
    if (other >= bytes) return;
    bytes = other;
    by = name;
  }
};

struct HostRoom {
  Bound memory;     // of pages that can be written to: free memory and swap, control groups
  Bound mappable;   // of what can be mapped for writing: RLIMIT_DATA, vm.overcommit_memory=2
  Bound addresses;  // RLIMIT_AS
  std::uint64_t resident = 0;  // what the process has by now
};

// `root`: the folder of /proc and /sys, for tests.
HostRoom host_room(const std::string& root = "");

}  // namespace vgpu
