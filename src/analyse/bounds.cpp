// SPDX-License-Identifier: Apache-2.0
#include "analyse/bounds.hpp"

namespace ladder::analyse {
namespace {
constexpr double kFloat = sizeof(float);
}

Work work_of(const Problem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  Work work;
  work.flop = (reads_ab(p) ? 2 * m * n * k : 0) + (reads_c(p) ? m * n : 0);
  work.a_bytes = m * k * kFloat;
  work.b_bytes = k * n * kFloat;
  work.c_bytes = m * n * kFloat;
  if (reads_ab(p)) work.read_bytes += work.a_bytes + work.b_bytes;
  if (reads_c(p)) work.read_bytes += work.c_bytes;
  work.write_bytes = work.c_bytes;
  return work;
}

Bounds bounds_of(const Work& work, const Machine& machine) {
  Bounds bounds;
  if (!(machine.bandwidth > 0) || !(machine.peak_flops() > 0)) return bounds;
  bounds.ridge = machine.peak_flops() / machine.bandwidth;
  bounds.compute_s = work.flop / machine.peak_flops();
  bounds.memory_s = work.least_bytes() / machine.bandwidth;
  return bounds;
}

Traffic uncached_traffic(const Problem& p, double loads_per_result) {
  const Work work = work_of(p);
  Traffic traffic;
  traffic.loads_per_result = loads_per_result + (reads_c(p) ? 1 : 0);
  traffic.bytes = traffic.loads_per_result * work.c_bytes;
  if (traffic.bytes > 0) traffic.intensity = work.flop / traffic.bytes;
  if (work.least_bytes() > 0) traffic.over_least = traffic.bytes / work.least_bytes();
  return traffic;
}

}  // namespace ladder::analyse
