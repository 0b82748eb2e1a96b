// SPDX-License-Identifier: Apache-2.0
#include "tune/model.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>

namespace ladder::tune {
namespace {

constexpr int kWarp = 32;
constexpr double kSchedulers = 4;       // of an SM, each issues an instruction of a warp a cycle
constexpr double kSectorsPerCycle = 2;  // 64 bytes a cycle between an SM and L2
constexpr double kExposedCycles = 800;  // a global load under load, and two barriers: latency of a step of K
constexpr int kRegisterUnit = 8;        // registers of a thread are allotted in eights, by the warp
constexpr int kSharedUnit = 1024;       // of a block, with 1 KB that the runtime keeps
constexpr double kMsPerSecond = 1e3;

double sum(const Counters& counted, const char* name) {
  for (const Metrics* metrics : {&counted.exact, &counted.estimates}) {
    if (const auto at = metrics->find(name); at != metrics->end()) return static_cast<double>(at->second);
  }
  return 0;
}

int attribute(cudaDeviceAttr which, int ordinal, int otherwise) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess && value > 0 ? value : otherwise;
}

}  // namespace

SmLimits sm_limits(const Device& device) {
  SmLimits limits;
  if (!device.has_cuda) return limits;
  const int at = device.ordinal;
  limits.warps = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, at, limits.warps * kWarp) / kWarp;
  limits.blocks = attribute(cudaDevAttrMaxBlocksPerMultiprocessor, at, limits.blocks);
  limits.registers = attribute(cudaDevAttrMaxRegistersPerMultiprocessor, at, limits.registers);
  limits.shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, at, limits.shared_bytes);
  return limits;
}

int resident_blocks(const SmLimits& limits, int threads, int registers, int shared_bytes) {
  const int warps = (threads + kWarp - 1) / kWarp;
  if (warps == 0) return 0;
  const int registers_a_warp = (registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit * kWarp;
  int blocks = std::min(limits.blocks, limits.warps / warps);
  if (registers_a_warp > 0) blocks = std::min(blocks, limits.registers / registers_a_warp / warps);
  return std::min(blocks, limits.shared_bytes /
                              ((shared_bytes + kSharedUnit - 1) / kSharedUnit * kSharedUnit + kSharedUnit));
}

std::optional<Prediction> predict(const Counters& counted, const Problem& counted_problem,
                                  const Problem& problem, const Device& device, const SmLimits& limits,
                                  int registers, int shared_bytes, int step_k) {
  if (counted.launches.size() != 1 || device.sm_count == 0 || !(device.sm_clock_hz > 0)) return std::nullopt;
  const CountedLaunch& launch = counted.launches.front();
  const double blocks_counted = static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
  const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  const int resident = resident_blocks(limits, threads, registers, shared_bytes);
  const double fmas_counted = flops(counted_problem) / 2 / kWarp;
  if (resident == 0 || !(blocks_counted > 0) || !(fmas_counted > 0) || step_k <= 0) return std::nullopt;

  const double shared_loads = sum(counted, "smsp__inst_executed_op_shared_ld.sum");
  const double wavefronts = sum(counted, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
                            sum(counted, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
  const double sectors = sum(counted, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
                         sum(counted, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
  const double issued = std::max(sum(counted, "smsp__inst_executed.sum"), fmas_counted);

  // A block of the problem does what a counted block does, along the problem's K.
  const double deeper = static_cast<double>(problem.k) / static_cast<double>(counted_problem.k);
  const double busy =
      std::max({issued / kSchedulers, wavefronts, sectors / kSectorsPerCycle}) / blocks_counted * deeper;
  const double waiting = std::ceil(static_cast<double>(problem.k) / step_k) * kExposedCycles;
  const double outputs = static_cast<double>(counted_problem.m * counted_problem.n) / blocks_counted;
  const double blocks = std::ceil(static_cast<double>(problem.m * problem.n) / outputs);
  // Blocks that share an SM compute in turn and wait together.
  const double waves = std::ceil(blocks / (static_cast<double>(device.sm_count) * resident));
  const double cycles = waves * std::max(busy * resident, busy + waiting);

  Prediction prediction;
  prediction.ms = cycles / device.sm_clock_hz * kMsPerSecond;
  prediction.blocks_per_sm = resident;
  prediction.occupancy = static_cast<double>(resident * ((threads + kWarp - 1) / kWarp)) / limits.warps;
  prediction.wavefronts_per_kilo_fma = 1e3 * wavefronts / fmas_counted;
  prediction.shared_loads_per_kilo_fma = 1e3 * shared_loads / fmas_counted;
  return prediction;
}

}  // namespace ladder::tune
