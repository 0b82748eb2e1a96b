// SPDX-License-Identifier: Apache-2.0
// Counts a kernel's work on the virtual GPU, under Nsight Compute's metric names.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ladder {

using Metrics = std::map<std::string, std::uint64_t>;

struct CountedLaunch {
  std::string kernel, engine;
  std::array<std::uint64_t, 3> grid{}, block{};
  Metrics exact, estimates;
};

struct Counters {
  std::vector<CountedLaunch> launches;
  Metrics exact, estimates;  // totals of all launches; only additive metrics (".sum")
  double seconds = 0;        // host time for the launch and its completion
};

// Counts one launch. Errors: kUnsupportedDevice (not the virtual GPU), kOutOfMemory, kLaunchFailed.
Result<Counters> count(const KernelInfo& kernel, const Problem& problem, const Device& device,
                       std::uint64_t seed);

// Parses the virtual GPU's JSON. Errors (kIo): not that format.
Result<Counters> parse_counters(std::string_view json);

}  // namespace ladder
