// SPDX-License-Identifier: Apache-2.0
// Predicts a CPU rung's time on a problem and this machine: its hot loop's instructions against the
// core's ports, and its traffic against the caches. All machine rates are measured here
// (host/rates.hpp); none is assumed.
#pragma once
#include <ladder/kernel.hpp>

#include <optional>
#include <string>
#include <vector>

#include "analyse/bounds.hpp"
#include "analyse/difference.hpp"
#include "analyse/host_code.hpp"
#include "analyse/predict.hpp"

namespace ladder::analyse {

// Rates are totals of all threads, except the clock and the latency.
struct HostMachine {
  std::string cpu, target;  // `target`: Highway's name of the instruction set, such as "AVX3"
  int threads = 1;
  double clock_hz = 0;
  // Clock during the multiply-adds measured by fma_flops and tile_flops; 0: unknown.
  double fma_clock_hz = 0, tile_clock_hz = 0;
  // FLOP/s of multiply-adds on whole vectors: operands in registers; operands from L1.
  double fma_flops = 0, tile_flops = 0;
  int vector_bytes = 16;
  double add_cycles = 0;  // latency of an addition
  // Read bandwidth, bytes/s.
  double l1_bandwidth = 0, l2_bandwidth = 0, l3_bandwidth = 0, memory_bandwidth = 0;
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;

  // Vector instructions issued per cycle and core, derived from the rates above.
  double multiply_adds_per_cycle() const {
    return fma_flops / threads / clock_hz / (vector_bytes / 2.0);
  }
  double fed_per_cycle() const { return tile_flops / threads / clock_hz / (vector_bytes / 2.0); }
  double loads_per_cycle() const { return l1_bandwidth / threads / clock_hz / vector_bytes; }
  double ridge() const { return fma_flops / memory_bandwidth; }  // FLOP/B
};
// Takes about 1 second. Errors (kUnsupportedProblem): the build has no Highway.
Result<HostMachine> measure_host(int threads);

// Total bytes that each memory level supplies for one product.
struct HostTraffic {
  double l2 = 0, l3 = 0, memory = 0;
};
// Derived from the rung's structure and the cache sizes; all zero for an unknown rung.
HostTraffic host_traffic(std::string_view rung, const Problem& problem, const HostMachine& machine);

struct HostExplanation {
  std::string id, rung, idea;
  Problem problem;
  HostMachine machine;
  Work work;
  HostTraffic traffic;
  std::optional<HostFunction> function;
  std::optional<HostLoop> loop;
  std::optional<Prediction> prediction;  // only pipes, time, limiter and reason
  std::string no_prediction;             // reason if `prediction` is empty
  std::optional<double> measured_ms;     // on this machine

  double measured_gflops() const { return flops(problem) / *measured_ms * 1e-6; }
};

// Computes the prediction from the loop and the machine; measures nothing.
void predict_host(HostExplanation& explanation);
HostExplanation explain_host(const KernelInfo& kernel, const Problem& problem,
                             const HostMachine& machine);

std::vector<std::string> to_text(const HostExplanation& explanation);
std::string to_json(const HostExplanation& explanation);
std::vector<Compare> compare(const HostExplanation& a, const HostExplanation& b);
std::vector<std::string> why(const HostExplanation& a, const HostExplanation& b);

}  // namespace ladder::analyse
