// SPDX-License-Identifier: Apache-2.0
// One run of all blocks of a launch.
#pragma once
#include <exception>
#include <optional>
#include <span>

#include "machine/machine.hpp"

namespace vgpu::machine {

// The workspace in which cooperative groups count the blocks that have arrived at a grid barrier: a
// size, followed by the barrier.
class GridWorkspace {
 public:
  explicit GridWorkspace(Memory& memory) : memory_(memory) {
    words_[0] = sizeof(words_);
    memory_.adopt(words_, sizeof(words_), "the grid's barrier");
  }
  ~GridWorkspace() { memory_.disown(words_); }
  GridWorkspace(const GridWorkspace&) = delete;
  GridWorkspace& operator=(const GridWorkspace&) = delete;
  u64 address() const { return reinterpret_cast<u64>(words_); }

 private:
  Memory& memory_;
  alignas(64) u32 words_[16] = {};
};

// Throws std::invalid_argument or Unsupported if the program cannot be launched so.
void check_config(const Program& program, const LaunchConfig& config,
                  std::span<const std::byte> params);

// A launch without observer. `workspace`: filled if the launch is cooperative.
Launch prepare(const Program& program, const LaunchConfig& config,
               std::span<const std::byte> params, Memory& memory,
               std::optional<GridWorkspace>& workspace);

// Whether several workers would run the launch on trial.
bool may_try(const Launch& launch);

struct GridRun {
  std::exception_ptr error;  // of the lowest block that has one; null if none
  PrintFifo output;
  u64 longest = 0;      // maximum over clusters of instructions executed
  u64 end_clock = 0;    // not below any value that a warp has read
  bool waited = false;  // for what others write (Patience)
  observer::Counters counters;
};
GridRun run_grid(const Launch& launch);

// Runs the kernel once more, without observer and with other contents of unwritten memory.
// An error if it takes much longer than the first run.
GridRun run_again(const Launch& launch, const GridRun& first, const observer::UnwrittenFill& fill);

}  // namespace vgpu::machine
