// SPDX-License-Identifier: Apache-2.0
// Host kernels as the sampler sees them. A round's launches of one kernel follow each other, after
// every other thread of the process has gone to sleep and after untimed launches of its own: none
// pays for threads that the kernel before left spinning, for its caches or for the clock it ran at.
#pragma once
#include <chrono>
#include <vector>

#include "measure/sampler.hpp"
#include "measure/timer.hpp"

namespace ladder {

class HostRig final : public Rig {
 public:
  struct Kernel {
    Launch launch;
    // The same on a part of the operands that L2 holds, behind which the core's clock is read. None
    // where that would not be the kernel's: who waits for other threads at the end, or gives memory
    // back before returning, has left it by then.
    Launch corner;
  };
  HostRig(std::vector<Kernel> kernels, Timer& timer);

  std::size_t kernels() const override { return entries_.size(); }
  Result<std::vector<double>> run(int rounds) override;
  double seconds() override;
  double seconds_beside() const override { return beside_s_; }
  Telemetry read() override { return {}; }

  // The clock of the calling core behind kernel i, at most one reading a run.
  const std::vector<Telemetry>& telemetry(std::size_t i) const { return entries_[i].telemetry; }

 private:
  struct Entry {
    Kernel kernel;
    std::vector<Telemetry> telemetry;
  };
  Status lead(const Entry& entry);
  Status read_clock(Entry& entry);

  std::vector<Entry> entries_;
  Timer& timer_;
  double beside_s_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ladder
