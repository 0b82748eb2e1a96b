// SPDX-License-Identifier: Apache-2.0
#include "tune/worker.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace ladder::tune {
namespace {

using Json = nlohmann::json;

Answer parse(const std::string& line) {
  Answer answer;
  try {
    const Json json = Json::parse(line);
    answer.outcome =
        json.at("passed").get<bool>() ? Answer::Outcome::kPassed : Answer::Outcome::kRejected;
    answer.reason = json.value("reason", "");
    answer.samples = json.value("samples", answer.samples);
    answer.bailed_out = json.value("bailed_out", false);
    answer.last = json.value("last", false);
    if (json.contains("counters")) {
      auto counters = parse_counters(json.at("counters").get<std::string>());
      if (counters) answer.counters = std::move(counters).value();
    }
  } catch (const Json::exception& error) {
    answer.outcome = Answer::Outcome::kRejected;
    answer.reason = std::string("the worker's answer is not understood: ") + error.what();
  }
  return answer;
}

Answer failed(Answer::Outcome outcome, std::string reason) {
  Answer answer;
  answer.outcome = outcome;
  answer.reason = std::move(reason);
  return answer;
}

}  // namespace

Answer Worker::ask(const std::string& request, double limit_s) {
  const Deadline limit = in_seconds(limit_s);
  if (Clock::now() >= deadline_ || (stop_ && stop_()))
    return failed(Answer::Outcome::kStopped, "no time left");
  if (!child_) {
    auto child = Child::start(command_, false);
    if (!child) return failed(Answer::Outcome::kCrashed, child.status().message());
    child_ = std::move(child).value();
    ++starts_;
    const Problem& p = assignment_.problem;
    const Json assignment{{"m", p.m}, {"n", p.n}, {"k", p.k}, {"seed", assignment_.seed}};
    (void)child_->write(assignment.dump() + "\n");
  }
  (void)child_->write(request + "\n");  // a dead worker is detected by the read below
  std::string line;
  switch (child_->read_line(line, std::min(limit, deadline_), stop_)) {
    case Child::Read::kLine: {
      Answer answer = parse(line);
      if (answer.last) child_.reset();
      return answer;
    }
    case Child::Read::kEnd: {
      const Child::End end = child_->wait();
      child_.reset();
      return failed(Answer::Outcome::kCrashed, end.text);
    }
    case Child::Read::kTime:
      child_.reset();
      if (Clock::now() >= deadline_) return failed(Answer::Outcome::kStopped, "no time left");
      return failed(Answer::Outcome::kHung, "no answer in time");
    case Child::Read::kStopped: break;
  }
  child_.reset();
  return failed(Answer::Outcome::kStopped, "interrupted");
}

Answer Worker::trial(const std::string& library, int rounds, double bail_ms, double limit_s) {
  return ask(
      Json{{"do", "trial"}, {"libraries", {library}}, {"rounds", rounds}, {"bail_ms", bail_ms}}
          .dump(),
      limit_s);
}

Answer Worker::verify(const std::string& library, double limit_s) {
  return ask(Json{{"do", "verify"}, {"libraries", {library}}}.dump(), limit_s);
}

Answer Worker::rivals(const std::vector<std::string>& libraries, double seconds, double limit_s) {
  return ask(Json{{"do", "rivals"}, {"libraries", libraries}, {"seconds", seconds}}.dump(),
             limit_s);
}

}  // namespace ladder::tune
