// SPDX-License-Identifier: Apache-2.0
// Rows made by hand, for tests of reports.
#pragma once
#include "report/json.hpp"

namespace ladder {

inline Row timed_row(const std::string& kernel, double median_ms, Role role = Role::kRung) {
  Row row;
  row.kernel = kernel;
  row.rung = kernel;
  row.idea = "an idea & <more>";
  row.role = role;
  row.problem = make_problem(4096, 4096, 4096);
  row.device.name = "NVIDIA H200";
  row.device.has_cuda = true;
  row.device.cc = 90;
  row.device.fp32_flops = 66.9e12;
  row.device.memory_bandwidth = 4.8e12;
  CaseResult passed;
  passed.name = "shape";
  passed.problem = row.problem;
  passed.input = {Values::kUniform, 3, false};
  passed.outcome = Outcome::kPassed;
  passed.reference = "cuBLAS dgemm";
  passed.errors = {true, 1e-6, 2e-7, 0.01};
  row.verdict = summarize({passed});
  row.errors = passed.errors;
  Measurement m;
  m.samples_ms = {median_ms * 1.01, median_ms, median_ms * 0.99};
  m.ms = describe(m.samples_ms);
  m.telemetry = summarize(std::vector<Telemetry>{
      {1980, 690, 60}, {1970, 700, std::nullopt}, {std::nullopt, 695, 61, 0x4}});
  m.throttled = 3;
  m.launches_per_sample = 7;
  m.warmup_s = 0.25;
  m.copies = 2;
  row.timing = m;
  return row;
}

inline Row counted_row() {
  Row row = timed_row("r01_naive", 1);
  row.timing.reset();
  row.problem = make_problem(256, 256, 256);
  row.device.is_virtual = true;
  Counters c;
  CountedLaunch launch;
  launch.kernel = "kernel(int)";
  launch.engine = "ptx";
  launch.grid = {8, 8, 1};
  launch.block = {32, 32, 1};
  launch.exact = {
      {kLoadRequests, 1000}, {kLoadSectors, 4000}, {kStoreRequests, 100}, {kStoreSectors, 3200}};
  c.exact = launch.exact;
  c.estimates = {{"shared.sum", 5}};
  c.launches = {launch};
  c.seconds = 0.5;
  row.counters = c;
  return row;
}

inline Document sample_document() {
  Document document;
  document.environment.date = "2026-11-21T05:00:00Z";
  document.environment.version = "0.1.0";
  document.environment.commit = "0123456789ab";
  document.environment.cpu = "CPU model";
  document.environment.toolkit = "13.0";
  document.environment.driver = "580.65";
  document.environment.cublas = "13.1.0";
  document.environment.device = timed_row("r", 1).device;
  document.environment.power_limit_w = 700;
  Row rung = timed_row("r02_coalesced", 22);
  const Row base = timed_row("cublas_ieee", 2.7, Role::kBaseline);
  rung.baseline = BaselineTiming{"cublas_ieee", *base.timing};
  document.rows = {rung, base, counted_row()};
  return document;
}

}  // namespace ladder
