// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "problem/number.hpp"
#include "report/json_text.hpp"

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

// Rounds to four significant digits, enough to compare errors.
Json rounded(double value) {
  return std::isfinite(value) ? Json(*parse_number<double>(fmt::format("{:.3e}", value)))
                              : Json(nullptr);
}

// Writes m, n, k and all fields that differ from the defaults: a row-major product of binary32
// numbers with minimal leading dimensions, alpha 1, beta 0.
Json folded(const Problem& p) {
  const Json all = json_of(p);
  const Json usual = json_of(make_problem(p.m, p.n, p.k, 1, 0, p.op_a, p.op_b, p.layout));
  Json json{{"m", p.m}, {"n", p.n}, {"k", p.k}};
  for (const auto& [key, value] : all.items()) {
    const bool shape = key == "op_a" || key == "op_b" || key == "layout";
    if (shape ? value != "N" && value != "row" : value != usual.at(key)) json[key] = value;
  }
  return json;
}

// A passed case, without the fields that have default values or repeat the previous case's
// reference.
Json folded(const CaseResult& c, const std::string& reference) {
  Json json{
      {"name", c.name}, {"problem", folded(c.problem)}, {"values", to_string(c.input.values)}};
  if (c.input.seed != 1) json["seed"] = c.input.seed;
  if (c.input.nan_operands) json["nan_operands"] = true;
  if (c.reference != reference) json["reference"] = c.reference;
  json["errors"] = c.errors.known
                       ? Json::array({rounded(c.errors.normwise), rounded(c.errors.componentwise),
                                      rounded(c.errors.of_bound)})
                       : Json(nullptr);
  return json;
}

Json json_of(const Verdict& v) {
  Json cases = Json::array();
  std::string reference;  // of the previous case
  for (const CaseResult& c : v.cases) {
    const std::string before = std::exchange(reference, c.reference);
    if (c.outcome == Outcome::kPassed && c.reason.empty()) {
      cases.push_back(folded(c, before));
      continue;
    }
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

Json json_of(const std::vector<Telemetry>& telemetry) {
  Json clocks = Json::array(), powers = clocks, temperatures = clocks, reasons = clocks;
  for (const Telemetry& t : telemetry) {
    clocks.push_back(maybe(t.sm_clock_mhz));
    powers.push_back(maybe(t.power_w));
    temperatures.push_back(maybe(t.temperature_c));
    reasons.push_back(t.clock_reasons ? Json(*t.clock_reasons) : Json(nullptr));
  }
  return {{"sm_clock_mhz", clocks},
          {"power_w", powers},
          {"temperature_c", temperatures},
          {"clock_reasons", reasons}};
}

// `rounds`: the kernel that was timed in the same rounds; readings that it shares are not written
// again.
Json json_of(const Measurement& m, const Measurement* rounds = nullptr) {
  const bool same = rounds != nullptr && rounds->telemetry == m.telemetry;
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
          {"telemetry", same ? Json(nullptr) : json_of(m.telemetry)},
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
  return {{"metrics", c.exact},
          {"estimates", c.estimates},
          {"launches", launches},
          {"host_seconds", c.seconds}};
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
    row["baseline"] = {
        {"kernel", r.baseline->kernel},
        {"timing", json_of(r.baseline->measurement, r.timing ? &*r.timing : nullptr)}};
  return row;
}

}  // namespace

// Writes one line per row, so that a diff of two files shows which rows changed.
std::string to_json(const Document& document) {
  std::string rows;
  for (const Row& row : document.rows)
    rows += (rows.empty() ? "\n" : ",\n") + json_text(json_of(row));
  return fmt::format(
      "{{\"schema\": \"{}\", \"version\": {},\n\"environment\": {},\n\"rows\": [{}\n]}}\n",
      kSchemaName, kSchemaVersion, json_text(json_of(document.environment)), rows);
}

}  // namespace ladder
