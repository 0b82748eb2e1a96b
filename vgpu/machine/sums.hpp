// SPDX-License-Identifier: Apache-2.0
// Float sums of a launch on trial (memory/trial.hpp): what each cluster adds is kept until those
// before it have added theirs.
#pragma once
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "ir/program.hpp"
#include "memory/sums.hpp"
#include "memory/trial.hpp"

namespace vgpu::machine {

// What one cluster adds.
class ClusterSums {
 public:
  explicit ClusterSums(Trial& trial) : trial_(trial) {}
  // Keeps the additions of the lanes in `mask`.
  void note(decltype(Sum::add) add, ir::u32 mask, const ir::u64* addresses, const ir::u64* values);
  std::vector<Sum> take() { return std::move(kept_); }

 private:
  Trial& trial_;
  std::vector<Sum> kept_;
};

// The sums of clusters whose turn has not come. Thread-safe.
class SumOrder {
 public:
  explicit SumOrder(Trial& trial) : trial_(trial) {}
  // The cluster has ended. Adds its sums, and those of others, as far as it is their turn.
  void ended(ir::u64 cluster, std::vector<Sum> sums);

 private:
  Trial& trial_;
  std::mutex mutex_;
  std::map<ir::u64, std::vector<Sum>> waiting_;
  std::size_t kept_ = 0;  // of all that wait
  ir::u64 next_ = 0;
  bool adding_ = false;  // a thread adds the sums of cluster next_
};

// Adds recorded sums to memory, rounded as in a launch.
void add_sums(const Sums& sums);

}  // namespace vgpu::machine
