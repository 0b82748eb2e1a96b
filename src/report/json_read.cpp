// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "report/json_text.hpp"

namespace ladder {
namespace {

using Json = nlohmann::json;

// These functions throw if a field is absent or has the wrong type; from_json turns that into a
// Status.

double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}
std::optional<double> maybe_of(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

// Absent fields have the values that json_of(Problem) leaves out.
Problem problem_of(const Json& j) {
  const auto op = [&](const char* key) {
    return j.value(key, "N") == "T" ? Op::kTranspose : Op::kNone;
  };
  Problem p = make_problem(
      j.at("m"), j.at("n"), j.at("k"), j.value("alpha", 1.0F), j.value("beta", 0.0F), op("op_a"),
      op("op_b"), j.value("layout", "row") == "col" ? Layout::kColMajor : Layout::kRowMajor);
  p.lda = j.value("lda", p.lda);
  p.ldb = j.value("ldb", p.ldb);
  p.ldc = j.value("ldc", p.ldc);
  for (auto [key, field] : {std::pair{"in", &p.in}, std::pair{"out", &p.out}}) {
    if (j.contains(key))
      *field = named(j.at(key), {Type::kF32, Type::kBf16, Type::kF16, Type::kE4m3, Type::kE5m2});
  }
  if (j.contains("scales")) p.scaling = named(j.at("scales"), {Scaling::kTensor, Scaling::kBlock});
  return p;
}

Device device_of(const Json& j) {
  Device d;
  d.name = j.at("name").get<std::string>();
  d.has_cuda = j.at("cuda").get<bool>();
  d.is_virtual = j.at("virtual").get<bool>();
  d.ordinal = j.at("ordinal").get<int>();
  d.cc = j.at("compute_capability").get<int>();
  d.sm_count = j.at("sm_count").get<int>();
  d.memory_bytes = j.at("memory_bytes").get<std::size_t>();
  d.sm_clock_hz = j.at("sm_clock_hz").get<double>();
  d.fp32_flops = j.at("fp32_flops").get<double>();
  d.memory_bandwidth = j.at("memory_bandwidth").get<double>();
  return d;
}

Errors errors_of(const Json& j) {
  if (j.is_null()) return {};
  return {true, number(j.at("normwise")), number(j.at("componentwise")), number(j.at("of_bound"))};
}

Outcome outcome_of(const Json& j) {
  Outcome outcome{};
  if (!parse(j.get<std::string>(), outcome))
    throw std::runtime_error("unknown outcome " + json_text(j));
  return outcome;
}

Verdict verdict_of(const Json& j) {
  Verdict v;
  v.outcome = outcome_of(j.at("outcome"));
  v.reason = j.at("reason").get<std::string>();
  v.passed = j.at("passed").get<std::size_t>();
  v.refused = j.at("refused").get<std::size_t>();
  // Version 2 lists every case, those that passed without an outcome.
  for (const Json& c : j.at(j.contains("failed") ? "failed" : "cases")) {
    if (!c.contains("outcome") || c.at("outcome") == to_string(Outcome::kRefused)) continue;
    CaseResult result;
    result.name = c.at("name").get<std::string>();
    result.problem = problem_of(c.at("problem"));
    result.input.values =
        named(c.at("values"), {Values::kIntegers, Values::kUniform, Values::kScaled});
    result.input.seed = c.at("seed").get<std::uint64_t>();
    result.input.nan_operands = c.at("nan_operands").get<bool>();
    result.outcome = outcome_of(c.at("outcome"));
    result.reason = c.at("reason").get<std::string>();
    result.reference = c.at("reference").get<std::string>();
    result.errors = errors_of(c.at("errors"));
    v.cases.push_back(std::move(result));
  }
  return v;
}

std::optional<TelemetrySummary::Range> range_of(const Json& j) {
  if (j.is_null()) return std::nullopt;
  return TelemetrySummary::Range{number(j.at("min")), number(j.at("median")), number(j.at("max"))};
}

// Version 2 has an array of readings per quantity.
TelemetrySummary summary_of_arrays(const Json& j) {
  std::vector<Telemetry> readings;
  for (std::size_t i = 0; i < j.at("clock_reasons").size(); ++i) {
    const Json& reasons = j.at("clock_reasons").at(i);
    readings.push_back({maybe_of(j.at("sm_clock_mhz").at(i)), maybe_of(j.at("power_w").at(i)),
                        maybe_of(j.at("temperature_c").at(i))});
    if (!reasons.is_null()) readings.back().clock_reasons = reasons.get<std::uint64_t>();
  }
  return summarize(readings);
}

TelemetrySummary telemetry_of(const Json& j) {
  if (!j.contains("readings")) return summary_of_arrays(j);
  TelemetrySummary t;
  t.readings = j.at("readings").get<std::size_t>();
  t.sm_clock_mhz = range_of(j.at("sm_clock_mhz"));
  t.power_w = range_of(j.at("power_w"));
  t.temperature_c = range_of(j.at("temperature_c"));
  if (!j.at("clock_reasons").is_null())
    t.clock_reasons = j.at("clock_reasons").get<std::uint64_t>();
  return t;
}

Statistics statistics_of(const Json& j) {
  Statistics s;
  s.n = j.at("n").get<std::size_t>();
  for (auto [key, field] :
       {std::pair{"min", &s.min}, std::pair{"p5", &s.p5}, std::pair{"p25", &s.p25},
        std::pair{"median", &s.median}, std::pair{"p75", &s.p75}, std::pair{"p95", &s.p95},
        std::pair{"max", &s.max}, std::pair{"mad", &s.mad}})
    *field = j.at(key).get<double>();
  return s;
}

// Fields that are absent have the values of `m`.
Measurement measurement_of(const Json& j, Measurement m) {
  m.ms = j.contains("samples_ms") ? describe(j.at("samples_ms").get<std::vector<double>>())
                                  : statistics_of(j.at("ms"));
  if (j.contains("telemetry") && !j.at("telemetry").is_null())
    m.telemetry = telemetry_of(j.at("telemetry"));
  m.warmup_s = j.value("warmup_s", m.warmup_s);
  m.copies = j.value("operand_copies", m.copies);
  m.launches_per_sample = j.value("launches_per_sample", m.launches_per_sample);
  m.throttled = j.value("throttled", m.throttled);
  m.alarms = j.value("alarms", m.alarms);
  return m;
}

Counters counters_of(const Json& j) {
  Counters c;
  c.exact = j.at("metrics").get<Metrics>();
  c.estimates = j.at("estimates").get<Metrics>();
  c.seconds = j.at("host_seconds").get<double>();
  for (const Json& l : j.at("launches")) {
    CountedLaunch launch;
    launch.kernel = l.at("kernel").get<std::string>();
    launch.engine = l.at("engine").get<std::string>();
    launch.grid = l.at("grid").get<std::array<std::uint64_t, 3>>();
    launch.block = l.at("block").get<std::array<std::uint64_t, 3>>();
    launch.exact = l.at("metrics").get<Metrics>();
    launch.estimates = l.at("estimates").get<Metrics>();
    c.launches.push_back(std::move(launch));
  }
  return c;
}

Environment environment_of(const Json& j) {
  Environment e;
  for (auto [key, field] :
       {std::pair{"date", &e.date}, std::pair{"version", &e.version},
        std::pair{"commit", &e.commit}, std::pair{"cpu", &e.cpu},
        std::pair{"cuda_toolkit", &e.toolkit}, std::pair{"cuda_runtime", &e.runtime},
        std::pair{"cuda_driver", &e.cuda_driver}, std::pair{"driver", &e.driver},
        std::pair{"cublas", &e.cublas}, std::pair{"openblas", &e.openblas}}) {
    *field = j.at(key).get<std::string>();
  }
  e.cpu_threads = j.at("cpu_threads").get<unsigned>();
  e.device = device_of(j.at("device"));
  e.power_limit_w = maybe_of(j.at("power_limit_w"));
  e.max_sm_clock_mhz = maybe_of(j.at("max_sm_clock_mhz"));
  return e;
}

Row row_of(const Json& j, const Device& usual) {
  Row r;
  r.kernel = j.at("kernel").get<std::string>();
  r.rung = j.at("rung").get<std::string>();
  r.idea = j.at("idea").get<std::string>();
  r.place = named(j.at("place"), {Place::kHost, Place::kCuda});
  r.role =
      named(j.at("role"), {Role::kRung, Role::kLibrary, Role::kLibraryKernel, Role::kBaseline});
  r.precision = named(j.at("precision"), precisions());
  r.problem = problem_of(j.at("problem"));
  r.device = j.at("device").is_null() ? usual : device_of(j.at("device"));
  r.verdict = verdict_of(j.at("verdict"));
  r.errors = errors_of(j.at("errors"));
  if (!j.at("timing").is_null()) r.timing = measurement_of(j.at("timing"), {});
  if (!j.at("baseline").is_null()) {
    const Json& b = j.at("baseline");
    r.baseline = BaselineTiming{b.at("kernel").get<std::string>(),
                                measurement_of(b.at("timing"), r.timing.value_or(Measurement()))};
  }
  if (!j.at("counters").is_null()) r.counters = counters_of(j.at("counters"));
  r.note = j.at("note").get<std::string>();
  return r;
}

// The library's message without its number.
std::string without_number(const std::string& text) {
  const auto end = text.find("] ");
  return text.starts_with("[json.exception") && end != text.npos ? text.substr(end + 2) : text;
}

}  // namespace

Result<Document> from_json(std::string_view text, const std::string& name) {
  try {
    const Json file = printable_json<Json>(text);
    if (file.at("schema") != kSchemaName) throw std::runtime_error("its schema is not ladder-rows");
    if (file.at("version") < kOldestSchemaVersion || file.at("version") > kSchemaVersion) {
      throw std::runtime_error(fmt::format("schema version {}, this ladder reads {} to {}",
                                           json_text(file.at("version")), kOldestSchemaVersion,
                                           kSchemaVersion));
    }
    Document document;
    document.environment = environment_of(file.at("environment"));
    for (const Json& row : file.at("rows"))
      document.rows.push_back(row_of(row, document.environment.device));
    return document;
  } catch (const std::exception& error) {
    return Status(Code::kIo,
                  fmt::format("{}: not a file of rows: {}", name, without_number(error.what())));
  }
}

Result<Document> read_document(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.status();
  return from_json(text.value(), path);
}

}  // namespace ladder
