// SPDX-License-Identifier: Apache-2.0
// What the checks find in a launch that goes on: what hardware would not stop for (races, reads of
// unwritten memory, misuse of barriers). Equal findings count as one: of one kind, by the same
// instruction, against the same other one.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "ir/fault.hpp"

namespace vgpu {

struct FindingKey {
  FindingKey(FaultKind of, std::uint32_t pc, std::uint32_t other)
      : kind(of), instructions(std::uint64_t{pc} << 32 | other) {}
  FaultKind kind;
  std::uint64_t instructions;  // index of the reporting one, index of the other
  auto operator<=>(const FindingKey&) const = default;
};

struct Found {
  Fault fault;  // in the block with the lowest index
  std::uint64_t block = 0;
  std::uint64_t times = 0;
};

// The findings of one launch. Thread-safe.
class Findings {
 public:
  // Whether add() would keep the report: the first, or the first of a lower block.
  bool wants(const FindingKey& key, std::uint64_t block) const;
  void add(const FindingKey& key, std::uint64_t block, const Fault& fault);
  void count(const FindingKey& key, std::uint64_t times);  // after add()
  bool any(FaultKind kind) const;
  bool any() const;
  // Sorted by block, then by instruction, so that the order does not depend on host threads.
  std::vector<Found> sorted() const;

 private:
  mutable std::mutex mutex_;
  std::map<FindingKey, Found> found_;
};

}  // namespace vgpu
