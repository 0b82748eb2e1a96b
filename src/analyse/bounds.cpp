// SPDX-License-Identifier: Apache-2.0
#include "analyse/bounds.hpp"

namespace ladder::analyse {
Work work_of(const Problem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  Work work;
  work.flop = (reads_ab(p) ? 2 * m * n * k : 0) + (reads_c(p) ? m * n : 0);
  const auto in = static_cast<double>(bytes_of(p.in)), out = static_cast<double>(bytes_of(p.out));
  work.a_bytes = m * k * in;
  work.b_bytes = k * n * in;
  work.c_bytes = m * n * out;
  if (reads_ab(p)) work.read_bytes += work.a_bytes + work.b_bytes;
  if (reads_c(p)) work.read_bytes += work.c_bytes;
  work.write_bytes = work.c_bytes;
  return work;
}

Bounds bounds_of(const Work& work, const Machine& machine, double peak) {
  Bounds bounds;
  if (!(peak > 0)) peak = machine.peak_flops();
  if (!(machine.bandwidth > 0) || !(peak > 0)) return bounds;
  bounds.ridge = peak / machine.bandwidth;
  bounds.compute_s = work.flop / peak;
  bounds.memory_s = work.least_bytes() / machine.bandwidth;
  return bounds;
}

Traffic uncached_traffic(const Problem& p, double loads_per_result) {
  const Work work = work_of(p);
  Traffic traffic;
  traffic.loads_per_result = loads_per_result + (reads_c(p) ? 1 : 0);
  const double results = static_cast<double>(p.m) * static_cast<double>(p.n);
  traffic.bytes = results * (loads_per_result * static_cast<double>(bytes_of(p.in)) +
                             (reads_c(p) ? static_cast<double>(bytes_of(p.out)) : 0));
  if (traffic.bytes > 0) traffic.intensity = work.flop / traffic.bytes;
  if (work.least_bytes() > 0) traffic.over_least = traffic.bytes / work.least_bytes();
  return traffic;
}

}  // namespace ladder::analyse
