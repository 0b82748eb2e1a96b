// SPDX-License-Identifier: Apache-2.0
// When warm-up ends, which samples count and when there are enough: the rules of measuring, apart
// from everything that has a clock, so that tests can put a machine of their own beneath them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "measure/measure.hpp"

namespace ladder {

// Kernels on operands, a timer, a wall clock and sensors.
class Rig {
 public:
  virtual ~Rig() = default;
  virtual std::size_t kernels() const = 0;
  // Element r * kernels() + i: milliseconds of one launch of kernel i in round r. Errors:
  // kLaunchFailed.
  virtual Result<std::vector<double>> run(int rounds) = 0;
  virtual double seconds() = 0;  // from any start, never backwards
  // Of these, what runs took beside their rounds' launches.
  virtual double seconds_beside() const { return 0; }
  virtual Telemetry read() = 0;  // now
};

// Warms up, then samples round by round. Errors: the rig's; kLaunchFailed where a launch took no
// time or every sample was throttled.
Result<std::vector<Measurement>> sample(Rig& rig, const MeasureOptions& options);

// A stretch of warm-up: the median of its rounds, and what the sensors said at its end.
struct WarmUpWindow {
  double round_ms = 0;
  Telemetry telemetry;
};
// Whether the last stretch was no faster than the one before, at the same clock and about the same
// power.
bool settled(std::span<const WarmUpWindow> windows);

// Whether a reading says that the chip was held back: by heat or hardware, or below `share` of
// `settled_mhz`.
bool throttled(const Telemetry& reading, double settled_mhz, double share);

}  // namespace ladder
