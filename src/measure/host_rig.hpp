// SPDX-License-Identifier: Apache-2.0
// Runs host kernels for the sampler. A round's launches of one kernel run back to back, after all
// other threads of the process have gone to sleep and after untimed launches of the same kernel. So
// no kernel pays for spinning threads, caches or the clock that the previous kernel left behind.
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
    // The kernel on a part of the operands that fits in L2; the core's clock is read directly after
    // it. Empty if the reading would not show the kernel's clock, because the call ends with
    // waiting for other threads or with freeing memory.
    Launch corner;
  };
  HostRig(std::vector<Kernel> kernels, Timer& timer);

  std::size_t kernels() const override { return entries_.size(); }
  Result<std::vector<double>> run(int rounds) override;
  double seconds() override;
  double seconds_beside() const override { return beside_s_; }
  Telemetry read() override { return {}; }

  // The calling core's clock after kernel i; at most one reading per run().
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

// The other threads of this process. After a call, libraries keep theirs spinning for up to about
// 100 ms, which takes a core from whatever is timed next.
// Whether no other thread is running or runnable. Always true except on Linux.
bool other_threads_sleep();

// Returns as soon as they sleep, at the latest after `longest_s` seconds.
void wait_for_other_threads(double longest_s);

}  // namespace ladder
