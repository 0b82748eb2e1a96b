// SPDX-License-Identifier: Apache-2.0
// Host kernels as the sampler sees them. A round's launches of one kernel follow each other, after every other thread of
// the process has gone to sleep and after untimed launches of its own: none pays for threads that the kernel before left
// spinning, for its caches or for the clock it ran at.
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
    // Whether the core's clock right behind a launch is the kernel's. Who waits for other threads at the end, or gives
    // memory back before returning, as some libraries do, has left it by then.
    bool tells_clock = false;
  };
  HostRig(std::vector<Kernel> kernels, Timer& timer);

  std::size_t kernels() const override { return entries_.size(); }
  Result<std::vector<double>> run(int rounds) override;
  double seconds() override;
  double seconds_beside() const override { return beside_s_; }
  Telemetry read() override { return {}; }

  // The clock of the calling core right behind launches of kernel i, at most one reading a run.
  const std::vector<Telemetry>& telemetry(std::size_t i) const { return entries_[i].telemetry; }

 private:
  struct Entry {
    Kernel kernel;
    double last_ms = 0;
    std::vector<Telemetry> telemetry;
  };
  Status lead(const Entry& entry);

  std::vector<Entry> entries_;
  Timer& timer_;
  double beside_s_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ladder
