// SPDX-License-Identifier: Apache-2.0
// The rules of sampling: when warm-up ends, which samples count, and when there are enough. They
// are separate from clocks and devices, so that tests can simulate a machine.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "measure/measure.hpp"

namespace ladder {

// The measured system: kernels with operands, a timer, a wall clock and sensors.
class Rig {
 public:
  virtual ~Rig() = default;
  virtual std::size_t kernels() const = 0;
  // Element r * kernels() + i: milliseconds of one launch of kernel i in round r. Errors:
  // kLaunchFailed.
  virtual Result<std::vector<double>> run(int rounds) = 0;
  virtual double seconds() = 0;  // monotonic, arbitrary origin
  // The part of seconds() that runs spent outside the rounds' launches.
  virtual double seconds_beside() const { return 0; }
  virtual Telemetry read() = 0;  // reads the sensors now
};

// Warms up, then samples in rounds. Errors: the rig's; kLaunchFailed if a launch took no time or
// every sample was throttled.
Result<std::vector<Measurement>> sample(Rig& rig, const MeasureOptions& options);

// One window of warm-up: the median of its rounds, and the telemetry at its end.
struct WarmUpWindow {
  double round_ms = 0;
  Telemetry telemetry;
};
// Whether the last window was no faster than the one before, at the same clock and about the same
// power.
bool settled(std::span<const WarmUpWindow> windows);

// Whether a reading shows throttling: by heat or hardware, or a clock below `share` of
// `settled_mhz`.
bool throttled(const Telemetry& reading, double settled_mhz, double share);

}  // namespace ladder
