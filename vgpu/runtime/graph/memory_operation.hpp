// SPDX-License-Identifier: Apache-2.0
// An operation of a stream or a graph on a value in memory.
#pragma once
#include <cstdint>

namespace vgpu::runtime {

// With the layout of the driver's CUstreamBatchMemOpParams.
struct MemoryOperation {
  enum Type : std::uint32_t { kWait32 = 1, kWrite32 = 2, kWait64 = 4, kWrite64 = 5, kBarrier = 6 };
  enum Condition : std::uint32_t { kGreaterOrEqual, kEqual, kAnd, kNor };

  std::uint32_t type = 0;
  std::uint32_t barrier = 0;  // the scope of kBarrier
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  std::uint32_t flags = 0;  // a Condition, or how a write is ordered
  std::uint64_t alias = 0, unused = 0;

  bool waits() const { return type == kWait32 || type == kWait64; }
  std::uint32_t bytes() const { return type == kWait64 || type == kWrite64 ? 8 : 4; }
};

}  // namespace vgpu::runtime
