// SPDX-License-Identifier: Apache-2.0
#include "observer/counters.hpp"

namespace vgpu::observer {
namespace {

void add(SiteCount& to, const SiteCount& from) {
  to.global_requests += from.global_requests;
  to.global_sectors += from.global_sectors;
  to.global_bytes += from.global_bytes;
  to.shared_requests += from.shared_requests;
  to.shared_wavefronts += from.shared_wavefronts;
  to.shared_bytes += from.shared_bytes;
  to.local_requests += from.local_requests;
  to.local_sectors += from.local_sectors;
  to.bulk_bytes += from.bulk_bytes;
  to.bulk_reads += from.bulk_reads;
  to.bulk_multicast_reads += from.bulk_multicast_reads;
  to.uneven_boxes += from.uneven_boxes;
  to.bulk_deliveries += from.bulk_deliveries;
  to.bulk_multicasts += from.bulk_multicasts;
  to.torn_copies += from.torn_copies;
  to.remote_requests += from.remote_requests;
  to.remote_lanes += from.remote_lanes;
  to.remote_bytes += from.remote_bytes;
  to.remote_apart += from.remote_apart;
  to.failed_waits += from.failed_waits;
}

}  // namespace

Counters::Counters(const ir::Program& program, bool traced)
    : runs(program.runs.size()),
      guards(program.guard_sites),
      sites(program.sites),
      divergent(program.code.size()),
      again(program.machine_code ? program.code.size() : 0),
      samples(traced ? program.sites : 0) {}

void Counters::add(const Counters& other) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].executions += other.runs[i].executions;
    runs[i].lanes += other.runs[i].lanes;
  }
  for (std::size_t i = 0; i < guards.size(); ++i) {
    guards[i].executions += other.guards[i].executions;
    guards[i].lanes += other.guards[i].lanes;
  }
  for (std::size_t i = 0; i < sites.size(); ++i) observer::add(sites[i], other.sites[i]);
  for (std::size_t i = 0; i < divergent.size(); ++i) divergent[i] += other.divergent[i];
  for (std::size_t i = 0; i < again.size(); ++i) {
    again[i].executions += other.again[i].executions;
    again[i].lanes += other.again[i].lanes;
    again[i].repeated += other.again[i].repeated;
    again[i].refused += other.again[i].refused;
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (other.samples[i].block < samples[i].block) samples[i] = other.samples[i];
  }
  for (std::size_t i = 0; i < kRoles; ++i) roles[i] += other.roles[i];
  retried |= other.retried;
  waited |= other.waited;
  called_driver |= other.called_driver;
  read_clock |= other.read_clock;
  parted |= other.parted;
  broke |= other.broke;
}

}  // namespace vgpu::observer
