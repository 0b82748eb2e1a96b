// SPDX-License-Identifier: Apache-2.0
// What a CPU rung should do on a problem and this machine: its hot loop against the core's ports,
// its bytes against the caches. What the machine can do is measured here (host/rates.hpp), nothing
// of it is assumed.
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

// Of all threads together, but for the clock and the latency.
struct HostMachine {
  std::string cpu, target;  // "AVX3": Highway's name of the instruction set
  int threads = 1;
  double clock_hz = 0;
  double fma_clock_hz = 0,
         tile_clock_hz = 0;  // under the multiply-adds of the next two; 0: not known
  double fma_flops = 0,
         tile_flops = 0;  // multiply-adds on whole vectors; the same with operands from L1
  int vector_bytes = 16;
  double add_cycles = 0;  // from an addition to one that waits for it
  double l1_bandwidth = 0, l2_bandwidth = 0, l3_bandwidth = 0,
         memory_bandwidth = 0;  // bytes read a second
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;

  // Vector instructions that start in a cycle of a core, by the rates above.
  double multiply_adds_per_cycle() const {
    return fma_flops / threads / clock_hz / (vector_bytes / 2.0);
  }
  double fed_per_cycle() const { return tile_flops / threads / clock_hz / (vector_bytes / 2.0); }
  double loads_per_cycle() const { return l1_bandwidth / threads / clock_hz / vector_bytes; }
};
// Takes about a second. Errors (kUnsupportedProblem): built without Highway, which measures.
Result<HostMachine> measure_host(int threads);

// Bytes of a product that a level of the memory has to bring, all in all.
struct HostTraffic {
  double l2 = 0, l3 = 0, memory = 0;
};
// By the rung's structure and the sizes of caches; no bytes for a rung that is not known here.
HostTraffic host_traffic(std::string_view rung, const Problem& problem, const HostMachine& machine);

struct HostExplanation {
  std::string id, rung, idea;
  Problem problem;
  HostMachine machine;
  Work work;
  HostTraffic traffic;
  std::optional<HostFunction> function;
  std::optional<HostLoop> loop;
  std::string no_code;        // why there is no loop, and so no prediction
  std::vector<Pipe> pipes;    // in falling order
  double ms = 0, tflops = 0;  // predicted; 0: not
  std::string limiter, why;
  std::optional<double> measured_ms;  // here
};

// Pure: pipes, time and limiter of a loop on a machine.
void predict_host(HostExplanation& explanation);
HostExplanation explain_host(const KernelInfo& kernel, const Problem& problem,
                             const HostMachine& machine);

std::vector<std::string> to_text(const HostExplanation& explanation);
std::string to_json(const HostExplanation& explanation);
std::vector<Compare> compare(const HostExplanation& a, const HostExplanation& b);
std::vector<std::string> why(const HostExplanation& a, const HostExplanation& b);

}  // namespace ladder::analyse
