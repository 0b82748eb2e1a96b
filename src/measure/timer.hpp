// SPDX-License-Identifier: Apache-2.0
// Times a batch of launches with CUDA events, one pair per sample, or with the host's steady clock.
#pragma once
#include <ladder/kernel.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace ladder {

// A launch to be timed; receives the stream to enqueue on (null for host kernels).
using Launch = std::function<Status(Stream)>;

class Timer {
 public:
  virtual ~Timer() = default;
  // Milliseconds of each launch, in order. On a GPU, all launches and their events are enqueued
  // before the first wait, so that launch overhead is not measured. Errors: the launch's,
  // kLaunchFailed.
  virtual Result<std::vector<double>> time(const std::vector<Launch>& launches) = 0;

  // Combines launches into one: a CUDA graph captured now, or on the host a sequence of calls.
  // Errors: the launches', kLaunchFailed if they cannot be captured.
  virtual Result<Launch> together(std::vector<Launch> launches) = 0;

  // Errors: kLaunchFailed if no stream can be created.
  static Result<std::unique_ptr<Timer>> make(Place place);
};

// Enqueues a kernel of one thread that spins for `ms` milliseconds at a clock of `clock_hz`. It
// tests whether a comparison detects slowdowns. Errors: kLaunchFailed.
Status spin(double ms, double clock_hz, Stream stream);

}  // namespace ladder
