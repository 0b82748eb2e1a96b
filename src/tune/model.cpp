// SPDX-License-Identifier: Apache-2.0
#include "tune/model.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace ladder::tune {
namespace {

constexpr int kWarp = 32;
// Rates of one SM per cycle: warp instructions issued, shared memory wavefronts, sectors from L2.
constexpr double kIssued = 4;
constexpr double kWavefronts = 1;
constexpr double kSectors = 1;
// Latency per warp in cycles that no other work of the SM shortens: per step of k, one shared load;
// per tile, one global load under load and two waits at barriers.
constexpr double kSharedLatency = 30;
constexpr double kTileLatency = 1600;
constexpr int kRegisterUnit = 8;   // registers per thread are allocated in units of 8, per warp
constexpr int kSharedUnit = 1024;  // per block, including 1 KB that the runtime reserves
constexpr double kMsPerSecond = 1e3;

double sum(const Counters& counted, const char* name) {
  for (const Metrics* metrics : {&counted.exact, &counted.estimates}) {
    if (const auto at = metrics->find(name); at != metrics->end())
      return static_cast<double>(at->second);
  }
  return 0;
}

// Cycles between two completed visits in a closed queueing network. `warps` customers circulate
// through the stations, each of which serves one at a time and takes `demands` cycles, and then
// wait `latency` cycles concurrently. Mean value analysis (Reiser and Lavenberg 1980): an arriving
// warp sees the queues of a network with one warp less.
double cycles_a_visit(int warps, std::span<const double> demands, double latency) {
  std::vector<double> queues(demands.size(), 0.0);
  double rate = 0;
  for (int n = 1; n <= warps; ++n) {
    double total = latency;
    for (std::size_t i = 0; i < demands.size(); ++i) total += demands[i] * (1 + queues[i]);
    rate = n / total;
    for (std::size_t i = 0; i < demands.size(); ++i)
      queues[i] = rate * demands[i] * (1 + queues[i]);
  }
  return 1 / rate;
}

int attribute(cudaDeviceAttr which, int ordinal, int otherwise) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess && value > 0 ? value
                                                                                    : otherwise;
}

}  // namespace

SmLimits sm_limits(const Device& device) {
  SmLimits limits;
  if (!device.has_cuda) return limits;
  const int at = device.ordinal;
  limits.warps =
      attribute(cudaDevAttrMaxThreadsPerMultiProcessor, at, limits.warps * kWarp) / kWarp;
  limits.blocks = attribute(cudaDevAttrMaxBlocksPerMultiprocessor, at, limits.blocks);
  limits.registers = attribute(cudaDevAttrMaxRegistersPerMultiprocessor, at, limits.registers);
  limits.shared_bytes =
      attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, at, limits.shared_bytes);
  return limits;
}

int resident_blocks(const SmLimits& limits, int threads, int registers, int shared_bytes) {
  const int warps = (threads + kWarp - 1) / kWarp;
  if (warps == 0) return 0;
  const int registers_a_warp =
      (registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit * kWarp;
  int blocks = std::min(limits.blocks, limits.warps / warps);
  if (registers_a_warp > 0) blocks = std::min(blocks, limits.registers / registers_a_warp / warps);
  return std::min(blocks,
                  limits.shared_bytes /
                      ((shared_bytes + kSharedUnit - 1) / kSharedUnit * kSharedUnit + kSharedUnit));
}

std::optional<Prediction> predict(const Counters& counted, const Problem& counted_problem,
                                  const Problem& problem, const Device& device,
                                  const SmLimits& limits, int registers, int shared_bytes,
                                  int step_k) {
  if (counted.launches.size() != 1 || device.sm_count == 0 || !(device.sm_clock_hz > 0))
    return std::nullopt;
  const CountedLaunch& launch = counted.launches.front();
  const double blocks_counted =
      static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
  const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  const int resident = resident_blocks(limits, threads, registers, shared_bytes);
  const double fmas_counted = flops(counted_problem) / 2 / kWarp;
  if (resident == 0 || !(blocks_counted > 0) || !(fmas_counted > 0) || step_k <= 0)
    return std::nullopt;

  const double shared_loads = sum(counted, "smsp__inst_executed_op_shared_ld.sum");
  const double wavefronts =
      sum(counted, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
      sum(counted, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
  const double sectors = sum(counted, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
                         sum(counted, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
  const double issued = std::max(sum(counted, "smsp__inst_executed.sum"), fmas_counted);

  // Demand of one warp on each station per tile of depth step_k. Assumes that a block of the
  // problem does the same work per tile as a counted block.
  const int warps_a_block = (threads + kWarp - 1) / kWarp;
  const double tiles_counted = std::ceil(static_cast<double>(counted_problem.k) / step_k);
  const double visits_counted = blocks_counted * warps_a_block * tiles_counted;
  const std::array<double, 3> demands{issued / visits_counted / kIssued,
                                      wavefronts / visits_counted / kWavefronts,
                                      sectors / visits_counted / kSectors};
  const int warps = resident * warps_a_block;
  const double visit = cycles_a_visit(warps, demands, kTileLatency + kSharedLatency * step_k);

  const double outputs =
      static_cast<double>(counted_problem.m * counted_problem.n) / blocks_counted;
  const double blocks = std::ceil(static_cast<double>(problem.m * problem.n) / outputs);
  const double visits = blocks * warps_a_block * std::ceil(static_cast<double>(problem.k) / step_k);
  const double cycles = visits / static_cast<double>(device.sm_count) * visit;

  Prediction prediction;
  prediction.ms = cycles / device.sm_clock_hz * kMsPerSecond;
  prediction.blocks_per_sm = resident;
  prediction.occupancy = static_cast<double>(warps) / limits.warps;
  prediction.wavefronts_per_kilo_fma = 1e3 * wavefronts / fmas_counted;
  prediction.shared_loads_per_kilo_fma = 1e3 * shared_loads / fmas_counted;
  return prediction;
}

}  // namespace ladder::tune
