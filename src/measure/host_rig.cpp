// SPDX-License-Identifier: Apache-2.0
#include "measure/host_rig.hpp"

#include <utility>

#include "host/core_clock.hpp"

namespace ladder {
namespace {

// seconds, for other threads to sleep; OpenBLAS's threads spin for about 0.1 s
constexpr double kLongestWait = 0.3;
// duration of untimed launches before the samples, at least one launch
constexpr double kLeadMs = 1;
constexpr double kCornerS = 5e-5;  // enough for a core to settle at the kernel's clock
constexpr double kMhz = 1e-6;

}  // namespace

HostRig::HostRig(std::vector<Kernel> kernels, Timer& timer) : timer_(timer) {
  entries_.reserve(kernels.size());
  for (Kernel& kernel : kernels) entries_.push_back({std::move(kernel), {}});
}

double HostRig::seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Status HostRig::lead(const Entry& entry) {
  const double begin = seconds();
  wait_for_other_threads(kLongestWait);
  const double from = seconds();
  do {
    if (Status status = entry.kernel.launch(nullptr); !status) return status;
  } while (1e3 * (seconds() - from) < kLeadMs);
  beside_s_ += seconds() - begin;
  return Status::ok();
}

// After a product that has emptied the caches, cache misses delay the reading for longer than the
// core keeps its clock. So a corner of the product runs first, and again after a first reading that
// has brought the reading's code back into the cache.
Status HostRig::read_clock(Entry& entry) {
  if (!entry.kernel.corner) return Status::ok();
  double hz = 0;
  for (int reading = 0; reading < 2; ++reading) {
    const double from = seconds();
    do {
      if (Status status = entry.kernel.corner(nullptr); !status) return status;
    } while (seconds() - from < kCornerS);
    hz = host::core_clock_now();
  }
  if (hz > 0)
    entry.telemetry.push_back({.sm_clock_mhz = hz * kMhz, .power_w = {}, .temperature_c = {}});
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
      times[r * entries_.size() + i] = ms.value().front();
    }
    if (Status status = read_clock(entry); !status) return status;
  }
  return times;
}

}  // namespace ladder
