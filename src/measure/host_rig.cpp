// SPDX-License-Identifier: Apache-2.0
#include "measure/host_rig.hpp"

#include <utility>

#include "host/core_clock.hpp"
#include "measure/threads.hpp"

namespace ladder {
namespace {

constexpr double kLongestWait = 0.3;  // seconds, for other threads; OpenBLAS's spin for a tenth
constexpr double kLeadMs = 1;         // of untimed launches, at least one
constexpr double kNoLeadMs = 10;      // a launch so long hardly notices what was before it
constexpr double kMhz = 1e-6;

}  // namespace

HostRig::HostRig(std::vector<Kernel> kernels, Timer& timer) : timer_(timer) {
  entries_.reserve(kernels.size());
  for (Kernel& kernel : kernels) entries_.push_back({std::move(kernel), 0, {}});
}

double HostRig::seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Status HostRig::lead(const Entry& entry) {
  const double begin = seconds();
  wait_for_other_threads(kLongestWait);
  const double from = seconds();
  if (entry.last_ms < kNoLeadMs) {
    do {
      if (Status status = entry.kernel.launch(nullptr); !status) return status;
    } while (1e3 * (seconds() - from) < kLeadMs);
  }
  beside_s_ += seconds() - begin;
  return Status::ok();
}

Result<std::vector<double>> HostRig::run(int rounds) {
  const auto count = static_cast<std::size_t>(rounds);
  std::vector<double> times(count * entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (Status status = lead(entry); !status) return status;
    const std::vector<Launch> one{entry.kernel.launch};
    for (std::size_t r = 0; r < count; ++r) {
      const auto ms = timer_.time(one);
      if (!ms) return ms.status();
      times[r * entries_.size() + i] = entry.last_ms = ms.value().front();
    }
    // Once a run: the next launch would begin at the clock that the reading leaves.
    if (!entry.kernel.tells_clock) continue;
    if (const double hz = host::core_clock_now(); hz > 0)
      entry.telemetry.push_back({.sm_clock_mhz = hz * kMhz, .power_w = {}, .temperature_c = {}});
  }
  return times;
}

}  // namespace ladder
