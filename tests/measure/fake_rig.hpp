// SPDX-License-Identifier: Apache-2.0
// A simulated machine for tests of measuring: times, clock and sensors are given by functions, and
// the wall clock advances by the launches' times.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "measure/sampler.hpp"
#include "operands/input.hpp"

namespace ladder {

class FakeRig final : public Rig {
 public:
  // `ms(kernel, round)`: the time of a launch in the round counted from 0.
  FakeRig(std::size_t kernels, std::function<double(std::size_t, std::size_t)> ms)
      : kernels_(kernels), ms_(std::move(ms)) {}

  std::size_t kernels() const override { return kernels_; }
  Result<std::vector<double>> run(int rounds) override {
    std::vector<double> times;
    for (int r = 0; r < rounds; ++r, ++round) {
      for (std::size_t i = 0; i < kernels_; ++i) {
        times.push_back(ms_(i, round));
        now_ += times.back() * 1e-3;
      }
    }
    largest_batch = std::max(largest_batch, rounds);
    return times;
  }
  double seconds() override { return now_; }
  Telemetry read() override { return sensors ? sensors(now_) : Telemetry{}; }

  std::function<Telemetry(double seconds)> sensors;
  std::size_t round = 0;
  int largest_batch = 0;

 private:
  std::size_t kernels_;
  std::function<double(std::size_t, std::size_t)> ms_;
  double now_ = 0;
};

// Uniform in [1 - spread, 1 + spread), deterministic in its arguments.
inline double noise(std::uint64_t seed, std::uint64_t at, double spread) {
  return 1 + spread * (2 * static_cast<double>(random_bits(seed, 77, at) >> 11) * 0x1p-53 - 1);
}

}  // namespace ladder
