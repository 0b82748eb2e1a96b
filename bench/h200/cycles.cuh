// SPDX-License-Identifier: Apache-2.0
// Cycles of kernels that compute the same product. They are launched alternately, as in benchmarks,
// and the clocks of all SMs are read between launches. All kernels then run at one clock, so that
// cycles decide.
#pragma once
#include "measure/turns.hpp"

#include <ladder/problem.hpp>
#include <ladder/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "clocks.cuh"
#include "matrices.cuh"

namespace ladder::bench {

// Per SM: m64n256k16 in 128 cycles; for tf32 m64n256k8.
inline double flops_per_clock(Type in) { return in == Type::kF32 ? 2048 : 4096; }

// One kernel; one entry per launch.
struct Samples {
  std::vector<double> cycles, ns;
};

// Measures all kernels for about `seconds` in total, but for at least twice as many rounds as give
// each kernel every position in the order equally often.
inline std::vector<Samples> cycles_in_turn(const Gpu& gpu,
                                           std::span<const KernelInfo* const> kernels, double for_s,
                                           const Matrices& x) {
  const std::size_t count = kernels.size(),
                    even = 2 * count;  // rounds that give each kernel every position equally often
  const double guess_s = flops(x.p) / (flops_per_clock(x.p.in) * gpu.sms * 1.2e9);
  const auto rounds =
      even * std::max<std::size_t>(
                 2, static_cast<std::size_t>(for_s / guess_s / static_cast<double>(count * even)));
  const auto run = [&](Readings* readings) {
    for (std::size_t i = 0; i < rounds * count; ++i) {
      if (readings != nullptr) readings->take(static_cast<int>(i));
      require(
          kernels[kernel_in_turn(count, i / count, i % count)]->launch(x.p, x.operands(), nullptr),
          "launch");
    }
    if (readings != nullptr) readings->take(static_cast<int>(rounds * count));
    require(cudaDeviceSynchronize(), "rounds");
  };
  Readings readings(gpu, static_cast<int>(rounds * count) + 1);
  run(nullptr);
  run(&readings);
  readings.fetch();
  std::vector<Samples> samples(count);
  for (std::size_t i = 0; i < rounds * count; ++i) {
    Samples& of = samples[kernel_in_turn(count, i / count, i % count)];
    const Between one = readings(static_cast<int>(i), static_cast<int>(i) + 1);
    of.cycles.push_back(one.cycles);
    of.ns.push_back(one.ns);
  }
  return samples;
}

}  // namespace ladder::bench
