// SPDX-License-Identifier: Apache-2.0
// The checks of one launch.
#pragma once
#include "check/unwritten.hpp"
#include "ir/launch.hpp"
#include "memory/memory.hpp"
#include "observer/observer.hpp"

namespace vgpu::check {

using ir::u32;
using ir::u64;

class Checks final : public observer::Observer {
 public:
  // `shared_init`: records reads of unwritten shared memory.
  Checks(const ir::Program& program, const LaunchConfig& config, const Memory& memory,
         bool shared_init);
  std::unique_ptr<observer::Races> races(u64 shared_bytes, u32 warps, u32 blocks) const override;
  std::unique_ptr<observer::Watch> watch(u64 shared_bytes,
                                         const observer::Races* races) const override;
  const UnwrittenReads& unwritten() const { return unwritten_; }

 private:
  const ir::Program& program_;
  const LaunchConfig& config_;
  const Memory& memory_;
  observer::LaunchMarks marks_;  // of global memory
  bool shared_init_;
  mutable UnwrittenReads unwritten_;  // thread-safe
};

}  // namespace vgpu::check
