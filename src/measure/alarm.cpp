// SPDX-License-Identifier: Apache-2.0
#include "measure/alarm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/peak.hpp"

namespace ladder {

double floor_ms(const Problem& problem, Precision precision, const Device& device,
                bool from_memory) {
  constexpr double kMsPerSecond = 1e3;
  double seconds = 0;
  if (const double most = most_flops(device, precision); reads_ab(problem) && most > 0)
    seconds = flops(problem) / most;
  if (from_memory && device.memory_bandwidth > 0)
    seconds = std::max(seconds, least_bytes(problem) / device.memory_bandwidth);
  return kMsPerSecond * seconds;
}

std::string below_floor(double ms, double floor) {
  if (!(ms < floor)) return "";
  return fmt::format(
      "{:.4g} ms is below the {:.4g} ms that the device needs at its peak: not measured, or not "
      "computed",
      ms, floor);
}

}  // namespace ladder
