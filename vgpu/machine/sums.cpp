// SPDX-License-Identifier: Apache-2.0
#include "machine/sums.hpp"

#include <utility>

#include "ir/set_bits.hpp"
#include "machine/float_control.hpp"

namespace vgpu::machine {
namespace {

void add_all(const std::vector<Sum>& sums) {
  for (const Sum& sum : sums) sum.add(sum.address, sum.value);
}

}  // namespace

void ClusterSums::note(decltype(Sum::add) add, ir::u32 mask, const ir::u64* addresses,
                       const ir::u64* values) {
  if (kept_.size() > kMostSums) trial_.fail();
  for (const ir::u32 lane : ir::SetBits(mask))
    kept_.push_back({add, addresses[lane], values[lane]});
}

void SumOrder::ended(ir::u64 cluster, std::vector<Sum> sums) {
  std::unique_lock lock(mutex_);
  kept_ += sums.size();
  waiting_.emplace(cluster, std::move(sums));
  if (kept_ > kMostSums) trial_.fail();
  if (adding_) return;
  adding_ = true;
  while (!waiting_.empty() && waiting_.begin()->first == next_) {
    auto first = waiting_.extract(waiting_.begin());
    lock.unlock();
    add_all(first.mapped());
    lock.lock();
    kept_ -= first.mapped().size();
    trial_.added(std::move(first.mapped()));
    ++next_;
  }
  adding_ = false;
}

void add_sums(const Sums& sums) {
  const FloatEnvironment environment;
  for (const std::vector<Sum>& part : sums) add_all(part);
}

}  // namespace vgpu::machine
