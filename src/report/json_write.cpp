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

// Rounds to `digits` significant digits: more would make files larger without being measured.
Json rounded(double value, int digits) {
  return std::isfinite(value)
             ? Json(*parse_number<double>(fmt::format("{:.{}e}", value, digits - 1)))
             : Json(nullptr);
}
constexpr int kTimeDigits = 7, kErrorDigits = 6;

// m, n, k and all fields that differ from the defaults: a row-major product of binary32 numbers
// with minimal leading dimensions, alpha 1, beta 0.
Json json_of(const Problem& p) {
  Json json{{"m", p.m}, {"n", p.n}, {"k", p.k}};
  const Problem usual = make_problem(p.m, p.n, p.k, 1, 0, p.op_a, p.op_b, p.layout);
  const auto add = [&json](const char* key, const auto& value, const auto& default_value) {
    if (value != default_value) json[key] = value;
  };
  add("lda", p.lda, usual.lda);
  add("ldb", p.ldb, usual.ldb);
  add("ldc", p.ldc, usual.ldc);
  add("alpha", p.alpha, usual.alpha);
  add("beta", p.beta, usual.beta);
  if (p.op_a == Op::kTranspose) json["op_a"] = "T";
  if (p.op_b == Op::kTranspose) json["op_b"] = "T";
  if (p.layout == Layout::kColMajor) json["layout"] = "col";
  if (p.in != Type::kF32) json["in"] = to_string(p.in);
  if (p.out != Type::kF32) json["out"] = to_string(p.out);
  if (p.scaling != Scaling::kNone) json["scales"] = to_string(p.scaling);
  return json;
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
  return {{"normwise", rounded(e.normwise, kErrorDigits)},
          {"componentwise", rounded(e.componentwise, kErrorDigits)},
          {"of_bound", rounded(e.of_bound, kErrorDigits)}};
}

// Cases that passed or were refused are counted, not listed.
Json json_of(const Verdict& v) {
  Json cases = Json::array();
  for (const CaseResult& c : v.cases) {
    if (c.outcome == Outcome::kPassed || c.outcome == Outcome::kRefused) continue;
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
          {"passed", v.passed},
          {"refused", v.refused},
          {"failed", cases}};
}

Json json_of(const std::optional<TelemetrySummary::Range>& range) {
  if (!range) return nullptr;
  return {{"min", range->min}, {"median", range->median}, {"max", range->max}};
}

Json json_of(const TelemetrySummary& t) {
  return {{"readings", t.readings},
          {"sm_clock_mhz", json_of(t.sm_clock_mhz)},
          {"power_w", json_of(t.power_w)},
          {"temperature_c", json_of(t.temperature_c)},
          {"clock_reasons", t.clock_reasons ? Json(*t.clock_reasons) : Json(nullptr)}};
}

Json json_of(const Statistics& s) {
  Json json{{"n", s.n}};
  for (const auto& [key, value] :
       {std::pair{"min", s.min}, std::pair{"p5", s.p5}, std::pair{"p25", s.p25},
        std::pair{"median", s.median}, std::pair{"p75", s.p75}, std::pair{"p95", s.p95},
        std::pair{"max", s.max}, std::pair{"mad", s.mad}})
    json[key] = rounded(value, kTimeDigits);
  return json;
}

Json json_of(const Measurement& m) {
  return {{"ms", json_of(m.ms)},
          {"telemetry", json_of(m.telemetry)},
          {"warmup_s", rounded(m.warmup_s, kErrorDigits)},
          {"operand_copies", m.copies},
          {"launches_per_sample", m.launches_per_sample},
          {"throttled", m.throttled},
          {"alarms", m.alarms}};
}

// Without the fields that equal the row's, which was timed in the same rounds.
Json json_of(const BaselineTiming& baseline, const Measurement& timing) {
  Json json = json_of(baseline.measurement);
  const Json same = json_of(timing);
  for (const auto& [key, value] : same.items()) {
    if (json.at(key) == value) json.erase(key);
  }
  json["ms"] = json_of(baseline.measurement.ms);
  return {{"kernel", baseline.kernel}, {"timing", json}};
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

// Only the values that are known.
Json json_of(const Derived& d) {
  Json json = Json::object();
  for (const auto& [key, value] :
       {std::pair{"tflops", d.tflops}, std::pair{"percent_of_baseline", d.percent_of_baseline},
        std::pair{"percent_of_peak", d.percent_of_peak},
        std::pair{"percent_of_peak_at_clock", d.percent_of_peak_at_clock},
        std::pair{"cycles", d.cycles}, std::pair{"sectors_per_load_request", d.sectors_per_load},
        std::pair{"sectors_per_store_request", d.sectors_per_store},
        std::pair{"bytes_requested", d.bytes_requested},
        std::pair{"bytes_requested_over_least", d.requested_over_least},
        std::pair{"flop_per_byte", d.flop_per_byte},
        std::pair{"roofline_tflops", d.roofline_tflops},
        std::pair{"ceiling_tflops", d.ceiling_tflops}}) {
    if (value) json[key] = rounded(*value, kTimeDigits);
  }
  if (d.counts_estimated) json["counts_estimated"] = true;
  return json;
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

// `usual`: the environment's device.
Json json_of(const Row& r, const Json& usual) {
  const Json device = json_of(r.device);
  Json row{{"kernel", r.kernel},
           {"rung", r.rung},
           {"idea", r.idea},
           {"place", to_string(r.place)},
           {"role", to_string(r.role)},
           {"precision", to_string(r.precision)},
           {"problem", json_of(r.problem)},
           {"flops", flops(r.problem)},
           {"least_bytes", least_bytes(r.problem)},
           {"device", device == usual ? Json(nullptr) : device},
           {"verdict", json_of(r.verdict)},
           {"errors", json_of(r.errors)},
           {"timing", r.timing ? json_of(*r.timing) : Json(nullptr)},
           {"baseline", nullptr},
           {"counters", r.counters ? json_of(*r.counters) : Json(nullptr)},
           {"derived", json_of(derive(r))},
           {"note", r.note}};
  if (r.baseline) row["baseline"] = json_of(*r.baseline, r.timing.value_or(Measurement()));
  return row;
}

}  // namespace

// Writes one line per row, so that a diff of two files shows which rows changed.
std::string to_json(const Document& document) {
  const Json device = json_of(document.environment.device);
  std::string rows;
  for (const Row& row : document.rows)
    rows += (rows.empty() ? "\n" : ",\n") + json_text(json_of(row, device));
  return fmt::format(
      "{{\"schema\": \"{}\", \"version\": {},\n\"environment\": {},\n\"rows\": [{}\n]}}\n",
      kSchemaName, kSchemaVersion, json_text(json_of(document.environment)), rows);
}

}  // namespace ladder
