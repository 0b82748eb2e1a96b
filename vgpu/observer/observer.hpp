// SPDX-License-Identifier: Apache-2.0
// The observers of a launch. The machine asks for one for every cluster and block, and tells them
// what happens there.
#pragma once
#include <memory>

#include "observer/races.hpp"
#include "observer/watch.hpp"

namespace vgpu::observer {

class Observer {
 public:
  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // For a cluster of `blocks` blocks, each with `warps` warps and `shared_bytes` bytes of shared
  // memory. Null: races in shared memory are not checked.
  virtual std::unique_ptr<Races> races(u64 shared_bytes, u32 warps, u32 blocks) const = 0;
  // For a block, with the races of its cluster. Null: its accesses are not checked.
  virtual std::unique_ptr<Watch> watch(u64 shared_bytes, const Races* races) const = 0;
};

}  // namespace vgpu::observer
