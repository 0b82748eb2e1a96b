// SPDX-License-Identifier: Apache-2.0
// Times a batch of launches: CUDA events, one pair a sample, or the host's steady clock.
#pragma once
#include <ladder/kernel.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace ladder {

// A launch to be timed; gets the stream to enqueue on (null for host kernels).
using Launch = std::function<Status(Stream)>;

class Timer {
 public:
  virtual ~Timer() = default;
  // Milliseconds of each launch, in order. On a GPU all launches and their events are enqueued
  // before the first is waited for, so that launch overhead stays outside. Errors: the launch's,
  // kLaunchFailed.
  virtual Result<std::vector<double>> time(const std::vector<Launch>& launches) = 0;

  // One launch that does all of these: from a graph that is made now, or on the host one after the
  // other. Errors: the launches', kLaunchFailed if they cannot be captured.
  virtual Result<Launch> together(std::vector<Launch> launches) = 0;

  // Errors: kLaunchFailed if a stream cannot be made.
  static Result<std::unique_ptr<Timer>> make(Place place);
};

}  // namespace ladder
