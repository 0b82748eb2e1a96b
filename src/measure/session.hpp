// SPDX-License-Identifier: Apache-2.0
// Operands of one problem and a timer, created once for several measurements.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "measure/measure.hpp"
#include "measure/operands.hpp"
#include "measure/timer.hpp"

namespace ladder {

class Session {
 public:
  // `problem` must have the types of the kernels to be measured. Errors: kUnsupportedDevice on the
  // virtual GPU, kOutOfMemory, kLaunchFailed.
  static Result<Session> open(Place place, const Problem& problem, const Device& device, bool cold,
                              std::uint64_t seed);

  // Milliseconds of a launch, the least of several after the first, which loads the code.
  // Errors: kLaunchFailed.
  Result<double> probe_ms(const KernelInfo& kernel);

  // See measure() in measure.hpp; `cold` and `seed` of the options are replaced by the session's.
  Result<std::vector<Measurement>> measure(std::span<const KernelInfo* const> kernels,
                                           const MeasureOptions& options);

 private:
  friend class CudaRig;
  Session() = default;
  Launch next_launch(const KernelInfo& kernel);
  Result<std::vector<Measurement>> sample_cuda(std::span<const KernelInfo* const> kernels,
                                               const MeasureOptions& options);
  Result<std::vector<Measurement>> sample_host(std::span<const KernelInfo* const> kernels,
                                               const MeasureOptions& options);
  // Checks that a launch overwrites poisoned elements of C. Returns "" or the alarm's text.
  Result<std::string> writes(const KernelInfo& kernel);

  Place place_ = Place::kCuda;
  Problem problem_;
  Device device_;
  bool from_memory_ = false;  // the operands do not fit in a cache
  std::vector<OperandSet> copies_;
  std::unique_ptr<Timer> timer_;
  std::size_t next_ = 0;
};

}  // namespace ladder
