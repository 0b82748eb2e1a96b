// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"

#include <algorithm>

#include "measure/peak.hpp"

namespace ladder {
namespace {

constexpr double kSectorBytes = 32;

std::optional<double> positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> metric(const Counters& counters, const char* name) {
  const auto found = counters.exact.find(name);
  if (found == counters.exact.end()) return std::nullopt;
  return static_cast<double>(found->second);
}

// Returns the exact value if there is one, else the estimate; sets `estimated` for the latter.
std::optional<double> metric(const Counters& counters, const char* name, bool& estimated) {
  if (const auto exact = metric(counters, name)) return exact;
  const auto found = counters.estimates.find(name);
  if (found == counters.estimates.end()) return std::nullopt;
  estimated = true;
  return static_cast<double>(found->second);
}

// The tensor-core peak is returned only if all chips of the compute capability have the same rate.
// Elsewhere most_flops() is only an upper bound, which is not usable as a roof.
std::optional<double> peak_flops(const Device& device, Precision precision) {
  const bool known = precision == Precision::kIeee || device.cc == 80 || device.cc == 90;
  return known ? positive(most_flops(device, precision)) : std::nullopt;
}

std::optional<double> ratio(std::optional<double> above, std::optional<double> below) {
  if (!above || !below || !(*below > 0)) return std::nullopt;
  return *above / *below;
}

std::optional<double> median_of(const std::optional<TelemetrySummary::Range>& range) {
  return range ? std::optional(range->median) : std::nullopt;
}

std::optional<double> roofline(const Row& row, std::optional<double> flop_per_byte) {
  const auto peak = peak_flops(row.device, row.precision);
  if (!flop_per_byte || !peak || !(row.device.memory_bandwidth > 0)) return std::nullopt;
  return std::min(*peak, *flop_per_byte * row.device.memory_bandwidth) * 1e-12;
}

void derive_timing(const Row& row, Derived& d) {
  const Measurement& timing = *row.timing;
  d.sm_clock_mhz = median_of(timing.telemetry.sm_clock_mhz);
  d.power_w = median_of(timing.telemetry.power_w);
  d.temperature_c = median_of(timing.telemetry.temperature_c);
  constexpr double kCyclesPerMsMhz = 1e3;
  if (d.sm_clock_mhz && timing.ms.median > 0)
    d.cycles = timing.ms.median * *d.sm_clock_mhz * kCyclesPerMsMhz;
  if (!row.verdict.ok() || !(timing.ms.median > 0) || !timing.alarms.empty()) return;
  d.tflops = flops(row.problem) / (timing.ms.median * 1e-3) * 1e-12;
  if (row.baseline) {
    d.percent_of_baseline = ratio(100 * row.baseline->measurement.ms.median, timing.ms.median);
  }
  if (row.precision == Precision::kIeee) {
    d.percent_of_peak = ratio(100e12 * *d.tflops, positive(row.device.fp32_flops));
    if (d.percent_of_peak && row.device.sm_clock_hz > 0)  // 0: a CPU whose clock never stood still
      d.percent_of_peak_at_clock =
          ratio(*d.percent_of_peak * row.device.sm_clock_hz * 1e-6, d.sm_clock_mhz);
  }
}

void derive_counters(const Row& row, Derived& d) {
  const Counters& counters = *row.counters;
  bool estimated = false;
  const auto load_sectors = metric(counters, kLoadSectors, estimated);
  const auto store_sectors = metric(counters, kStoreSectors, estimated);
  d.sectors_per_load = ratio(load_sectors, metric(counters, kLoadRequests, estimated));
  d.sectors_per_store = ratio(store_sectors, metric(counters, kStoreRequests, estimated));
  d.counts_estimated = estimated;
  if (!load_sectors || !store_sectors) return;
  // Bulk copies bypass the load-store unit. Files older than these counters lack them.
  const auto bulk = [&](const char* name) { return metric(counters, name, estimated).value_or(0); };
  d.bytes_requested = kSectorBytes * (*load_sectors + *store_sectors) + bulk(kBulkLoadBytes) +
                      bulk(kBulkStoreBytes);
  d.counts_estimated = estimated;
  d.requested_over_least = ratio(d.bytes_requested, positive(least_bytes(row.problem)));
  d.flop_per_byte = ratio(flops(row.problem), d.bytes_requested);
  d.roofline_tflops = roofline(row, d.flop_per_byte);
  d.ceiling_tflops = roofline(row, ratio(flops(row.problem), positive(least_bytes(row.problem))));
}

}  // namespace

Row make_row(const KernelInfo& kernel, const Problem& problem, const Device& device) {
  Row row;
  row.kernel = kernel.id;
  row.rung = kernel.rung;
  row.idea = kernel.idea;
  row.place = kernel.place;
  row.role = kernel.role;
  row.precision = kernel.precision;
  row.problem = problem;
  row.device = device;
  return row;
}

Derived derive(const Row& row) {
  Derived derived;
  if (row.timing) derive_timing(row, derived);
  if (row.counters) derive_counters(row, derived);
  return derived;
}

}  // namespace ladder
