// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "learn/trial.hpp"
#include "problem/number.hpp"

namespace ladder::learn {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinity.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(std::to_string(value));
}

double number(const Json& json) {
  return json.is_string() ? parse_number<double>(json.get<std::string>()).value_or(0)
                          : json.get<double>();
}

}  // namespace

std::string to_json(const TrialResult& result) {
  Json outcomes = Json::array();
  for (const Outcome& o : result.outcomes) {
    const WrongResult& w = o.wrong;
    outcomes.push_back({{"sizes", o.sizes},
                        {"schedule", o.schedule},
                        {"error", o.error},
                        {"fault_kind", o.fault_kind},
                        {"fault_report", o.fault_report},
                        {"right", o.right},
                        {"share", number(o.share)},
                        {"wrong",
                         {{"array", w.array},
                          {"element", w.element},
                          {"got", number(w.got)},
                          {"expected", number(w.expected)},
                          {"error", number(w.error)},
                          {"allowed", number(w.allowed)},
                          {"unwritten", w.unwritten},
                          {"wrong", w.wrong},
                          {"of", w.of},
                          {"map", w.map}}}});
  }
  const Json json{{"outcomes", outcomes}, {"counters", result.counters}, {"trace", result.trace}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<TrialResult> parse_trial(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    TrialResult result;
    for (const Json& o : json.at("outcomes")) {
      Outcome outcome;
      outcome.sizes = o.at("sizes").get<std::map<std::string, std::int64_t>>();
      outcome.schedule = o.at("schedule").get<std::string>();
      outcome.error = o.at("error").get<std::string>();
      outcome.fault_kind = o.at("fault_kind").get<std::string>();
      outcome.fault_report = o.at("fault_report").get<std::string>();
      outcome.right = o.at("right").get<bool>();
      outcome.share = number(o.at("share"));
      const Json& w = o.at("wrong");
      outcome.wrong = {w.at("array").get<std::string>(),
                       w.at("element").get<std::string>(),
                       number(w.at("got")),
                       number(w.at("expected")),
                       number(w.at("error")),
                       number(w.at("allowed")),
                       w.at("unwritten").get<bool>(),
                       w.at("wrong").get<std::uint64_t>(),
                       w.at("of").get<std::uint64_t>(),
                       w.at("map").get<std::vector<std::string>>()};
      result.outcomes.push_back(std::move(outcome));
    }
    result.counters = json.at("counters").get<std::string>();
    result.trace = json.at("trace").get<std::string>();
    return result;
  } catch (const std::exception& error) {
    return Status(Code::kIo, std::string("trial: ") + error.what());
  }
}

}  // namespace ladder::learn
