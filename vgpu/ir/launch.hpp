// SPDX-License-Identifier: Apache-2.0
// How a kernel is launched.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ir/kernel.hpp"

namespace vgpu {

class DeviceHeap;      // memory/heap.hpp: the heap of malloc in kernels
class Findings;        // ir/fault.hpp
class TextureObjects;  // texture/texture.hpp
class TouchedMemory;   // memory/touched_memory.hpp

// Decides whether a launch whose threads all poll memory keeps waiting.
class Patience {
 public:
  virtual ~Patience() = default;
  // Called at intervals while all threads poll, with the polled addresses. May take time, so that
  // others write the memory. `still`: no thread has made progress since the last call. False:
  // nobody will write it, and the launch ends with a fault (FaultKind::kDeadlock).
  virtual bool wait(const std::vector<std::uint64_t>& addresses, bool still) = 0;
};

// When a launch ends with a fault (FaultKind::kTimeout).
struct Deadline {
  std::chrono::steady_clock::time_point time;
  std::uint64_t seconds = 0;  // since the launch began; for the message
};

// When asynchronous copies complete, among all times that PTX allows, and how long each warp runs
// before the next one. A correctly synchronised kernel computes the same results under every
// schedule.
struct CopySchedule {
  enum class Kind : std::uint8_t {
    kEager,  // copies complete at once; a warp runs until it waits
    // copies complete only when a thread waits for them and could not continue otherwise; a warp
    // runs until it waits
    kLazy,
    // copies complete at times between these two that `seed` selects; it also selects how long a
    // warp runs before the next one
    kRandom,
  };
  Kind kind = Kind::kEager;
  std::uint64_t seed = 0;
};

// How tensor cores accumulate products. The products themselves are exact in both modes.
enum class Numerics : std::uint8_t {
  kSingle,  // one product after another, each sum rounded to nearest FP32
  kHopper,  // all products of one instruction at once, bit for bit as an H200 does
};

// Maximum local memory per thread, in bytes (CUDA C++ Programming Guide, "Technical Specifications
// per Compute Capability").
inline constexpr std::uint64_t kMostLocalBytes = std::uint64_t{512} << 10;

struct LaunchConfig {
  Dim3 grid, block;
  Dim3 cluster;             // blocks per cluster; the grid is a multiple of it
  bool in_clusters = true;  // false: neither the launch nor the kernel has a cluster dimension
  std::uint32_t dynamic_shared_bytes = 0;
  unsigned host_threads = 0;  // 0: one per hardware thread; results do not depend on it
  // Reports FaultKind::kRace. Races between blocks are found only if the memory tracks accesses
  // (Memory::track).
  bool check_race = false;
  // Reports FaultKind::kUninitialized; for global memory only if the memory tracks writes.
  bool check_init = false;
  // With check_init: covers shared and local memory too. A kernel that reads such memory unwritten
  // runs a second time.
  bool check_init_shared = true;
  // With check_init_shared: if unwritten values affect only bytes of tracked memory, the launch
  // does not fault. Those bytes are marked as in doubt (Memory::doubt), and a later read of them is
  // reported.
  bool defer_doubts = false;
  // Reports lanes of a warp that wait at different barriers, and uses of shared memory of a block
  // of the cluster that has ended. Hardware may tolerate both.
  bool check_sync = true;
  // Reports accesses outside, but near, the local memory that a thread's functions declare.
  // Hardware may tolerate these too.
  bool check_local = true;
  std::uint32_t stack_bytes = 1024;  // minimum per thread
  bool count = true;                 // fill the LaunchReport's counts
  bool count_lines = false;          // ... and its lines
  bool trace = false;                // ... and its instructions
  // Collects the findings of these checks, and the launch completes, except after bad addresses and
  // where no thread can continue. Null: the first finding ends the launch.
  Findings* findings = nullptr;
  CopySchedule schedule;
  Numerics numerics = Numerics::kSingle;
  bool cooperative = false;  // blocks may wait for each other, so all run concurrently
  // Registers per thread, as allocated by ptxas; setmaxnreg needs it. 0: unknown.
  std::uint32_t registers = 0;
  // Linear indices of the blocks to execute, in ascending order; empty: all. The launch throws
  // Unsupported for a kernel whose blocks may depend on each other.
  std::vector<std::uint64_t> blocks;
  // Capacity for printf's text, in bytes. When it is full, the oldest text is dropped.
  std::size_t print_bytes = std::size_t{1} << 20;
  DeviceHeap* heap = nullptr;    // null: malloc in kernels finds no memory
  Patience* patience = nullptr;  // null: only the launch's own threads write memory
  std::optional<Deadline> deadline;
  // Null: there are no texture and no surface objects.
  std::shared_ptr<const TextureObjects> textures;
  TouchedMemory* touched = nullptr;  // notes what the launch touches; may be null
  unsigned depth = 0;                // launches by kernels that led to this one
  int device = 0;                    // ordinal
  int devices = 1;
  // Least value of %clock and %globaltimer; LaunchReport::end_clock of the device's last launch.
  std::uint64_t begin_clock = 0;
};

}  // namespace vgpu
