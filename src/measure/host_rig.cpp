// SPDX-License-Identifier: Apache-2.0
#include "measure/host_rig.hpp"

#include <utility>

#include "host/core_clock.hpp"
#include "measure/threads.hpp"

namespace ladder {
namespace {

constexpr double kLongestWait = 0.3;  // seconds, for other threads; OpenBLAS's spin for a tenth
constexpr double kLeadMs = 1;         // of untimed launches, at least one
constexpr double kCornerS =
    5e-5;  // in which a core takes the clock that the kernel's instructions allow
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

// A product that has emptied the caches is followed by misses that take longer than the core keeps
// its clock. So a corner of it comes between, and again after a reading that has brought the code
// for readings back.
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
