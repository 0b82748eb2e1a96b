// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ladder {
namespace {

using Json = nlohmann::ordered_json;

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const Problem& p) {
  return {{"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"lda", p.lda},
          {"ldb", p.ldb},
          {"ldc", p.ldc},
          {"alpha", p.alpha},
          {"beta", p.beta},
          {"op_a", p.op_a == Op::kNone ? "N" : "T"},
          {"op_b", p.op_b == Op::kNone ? "N" : "T"},
          {"layout", p.layout == Layout::kRowMajor ? "row" : "col"},
          {"in", to_string(p.in)},
          {"out", to_string(p.out)}};
}

Json json_of(const Device& d) {
  return {{"name", d.name},
          {"cuda", d.has_cuda},
          {"virtual", d.is_virtual},
          {"ordinal", d.ordinal},
          {"compute_capability", d.cc},
          {"sm_count", d.sm_count},
          {"memory_bytes", d.memory_bytes},
          {"sm_clock_hz", d.sm_clock_hz},
          {"fp32_flops", d.fp32_flops},
          {"memory_bandwidth", d.memory_bandwidth}};
}

Json json_of(const Errors& e) {
  if (!e.known) return nullptr;
  return {{"normwise", e.normwise}, {"componentwise", e.componentwise}, {"of_bound", e.of_bound}};
}

Json json_of(const Verdict& v) {
  Json cases = Json::array();
  for (const CaseResult& c : v.cases) {
    cases.push_back({{"name", c.name},
                     {"problem", json_of(c.problem)},
                     {"values", to_string(c.input.values)},
                     {"seed", c.input.seed},
                     {"nan_operands", c.input.nan_operands},
                     {"outcome", to_string(c.outcome)},
                     {"reason", c.reason},
                     {"reference", c.reference},
                     {"errors", json_of(c.errors)}});
  }
  return {{"outcome", to_string(v.outcome)},
          {"reason", v.reason},
          {"passed", v.count(Outcome::kPassed)},
          {"refused", v.count(Outcome::kRefused)},
          {"cases", cases}};
}

Json json_of(const Measurement& m) {
  Json readings = Json::array();
  for (const Telemetry& t : m.telemetry) {
    readings.push_back({{"sm_clock_mhz", maybe(t.sm_clock_mhz)},
                        {"power_w", maybe(t.power_w)},
                        {"temperature_c", maybe(t.temperature_c)},
                        {"clock_reasons", t.clock_reasons ? Json(*t.clock_reasons) : Json(nullptr)}});
  }
  const Statistics& s = m.ms;
  return {{"ms",
           {{"n", s.n},
            {"min", s.min},
            {"q1", s.q1},
            {"median", s.median},
            {"q3", s.q3},
            {"max", s.max},
            {"mad", s.mad}}},
          {"samples_ms", m.samples_ms},
          {"telemetry", readings},
          {"warmup_s", m.warmup_s},
          {"operand_copies", m.copies},
          {"launches_per_sample", m.launches_per_sample},
          {"throttled", m.throttled},
          {"alarms", m.alarms}};
}

Json json_of(const Counters& c) {
  Json launches = Json::array();
  for (const CountedLaunch& l : c.launches) {
    launches.push_back({{"kernel", l.kernel},
                        {"grid", l.grid},
                        {"block", l.block},
                        {"engine", l.engine},
                        {"metrics", l.exact},
                        {"estimates", l.estimates}});
  }
  return {
      {"metrics", c.exact}, {"estimates", c.estimates}, {"launches", launches}, {"host_seconds", c.seconds}};
}

Json json_of(const Derived& d) {
  return {{"tflops", maybe(d.tflops)},
          {"percent_of_baseline", maybe(d.percent_of_baseline)},
          {"percent_of_peak", maybe(d.percent_of_peak)},
          {"percent_of_peak_at_clock", maybe(d.percent_of_peak_at_clock)},
          {"cycles", maybe(d.cycles)},
          {"sm_clock_mhz", maybe(d.sm_clock_mhz)},
          {"power_w", maybe(d.power_w)},
          {"temperature_c", maybe(d.temperature_c)},
          {"sectors_per_load_request", maybe(d.sectors_per_load)},
          {"sectors_per_store_request", maybe(d.sectors_per_store)},
          {"bytes_requested", maybe(d.bytes_requested)},
          {"bytes_requested_over_least", maybe(d.requested_over_least)},
          {"flop_per_byte", maybe(d.flop_per_byte)},
          {"roofline_tflops", maybe(d.roofline_tflops)},
          {"ceiling_tflops", maybe(d.ceiling_tflops)},
          {"counts_estimated", d.counts_estimated}};
}

Json json_of(const Environment& e) {
  return {{"date", e.date},
          {"version", e.version},
          {"commit", e.commit},
          {"cpu", e.cpu},
          {"cpu_threads", e.cpu_threads},
          {"cuda_toolkit", e.toolkit},
          {"cuda_runtime", e.runtime},
          {"cuda_driver", e.cuda_driver},
          {"driver", e.driver},
          {"cublas", e.cublas},
          {"openblas", e.openblas},
          {"device", json_of(e.device)},
          {"power_limit_w", maybe(e.power_limit_w)},
          {"max_sm_clock_mhz", maybe(e.max_sm_clock_mhz)}};
}

Json json_of(const Row& r) {
  Json row{{"kernel", r.kernel},
           {"rung", r.rung},
           {"idea", r.idea},
           {"place", to_string(r.place)},
           {"role", to_string(r.role)},
           {"precision", to_string(r.precision)},
           {"problem", json_of(r.problem)},
           {"flops", flops(r.problem)},
           {"least_bytes", least_bytes(r.problem)},
           {"device", json_of(r.device)},
           {"verdict", json_of(r.verdict)},
           {"errors", json_of(r.errors)},
           {"timing", r.timing ? json_of(*r.timing) : Json(nullptr)},
           {"baseline", nullptr},
           {"counters", r.counters ? json_of(*r.counters) : Json(nullptr)},
           {"derived", json_of(derive(r))},
           {"note", r.note}};
  if (r.baseline)
    row["baseline"] = {{"kernel", r.baseline->kernel}, {"timing", json_of(r.baseline->measurement)}};
  return row;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

// One line a row: a diff of two files shows which rows changed.
std::string to_json(const Document& document) {
  std::string rows;
  for (const Row& row : document.rows) rows += (rows.empty() ? "\n" : ",\n") + dump(json_of(row));
  return fmt::format("{{\"schema\": \"{}\", \"version\": {},\n\"environment\": {},\n\"rows\": [{}\n]}}\n",
                     kSchemaName, kSchemaVersion, dump(json_of(document.environment)), rows);
}

}  // namespace ladder
