// SPDX-License-Identifier: Apache-2.0
// Operands of one problem where kernels run, and a timer: made once, for as many measurements as
// are wanted of it.
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
  // The problem is in the types of the kernels to come. Errors: kUnsupportedDevice on the virtual
  // GPU, kOutOfMemory, kLaunchFailed.
  static Result<Session> open(Place place, const Problem& problem, const Device& device, bool cold,
                              std::uint64_t seed);

  // Milliseconds of the second of two launches: the first loads the code. Errors: kLaunchFailed.
  Result<double> probe_ms(const KernelInfo& kernel);

  // As measure() in measure.hpp; options' `cold` and `seed` are the session's.
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
  // "" or the alarm: one launch over poisoned places of C, which must be gone afterwards.
  Result<std::string> writes(const KernelInfo& kernel);

  Place place_ = Place::kCuda;
  Problem problem_;
  Device device_;
  bool from_memory_ = false;  // the operands cannot lie in a cache
  std::vector<OperandSet> copies_;
  std::unique_ptr<Timer> timer_;
  std::size_t next_ = 0;
};

}  // namespace ladder
