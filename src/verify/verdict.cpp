// SPDX-License-Identifier: Apache-2.0
#include "verify/verdict.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace ladder {
namespace {

constexpr std::array<std::pair<Outcome, const char*>, 12> kNames{{
    {Outcome::kPassed, "passed"},
    {Outcome::kWrongValue, "wrong_value"},
    {Outcome::kNan, "nan"},
    {Outcome::kUnwritten, "unwritten"},
    {Outcome::kPaddingWritten, "padding_written"},
    {Outcome::kGuardWritten, "guard_written"},
    {Outcome::kNondeterministic, "nondeterministic"},
    {Outcome::kRefused, "refused"},
    {Outcome::kLaunchError, "launch_error"},
    {Outcome::kFault, "fault"},
    {Outcome::kRace, "race"},
    {Outcome::kNotVerified, "not_verified"},
}};

}  // namespace

const char* to_string(Outcome outcome) {
  for (const auto& [value, name] : kNames) {
    if (value == outcome) return name;
  }
  return "unknown";
}

bool parse(const std::string& text, Outcome& outcome) {
  for (const auto& [value, name] : kNames) {
    if (text == name) {
      outcome = value;
      return true;
    }
  }
  return false;
}

Verdict summarize(std::vector<CaseResult> cases) {
  Verdict verdict;
  verdict.cases = std::move(cases);
  const CaseResult *first_refused = nullptr, *first_failed = nullptr;
  for (const CaseResult& result : verdict.cases) {
    if (result.outcome == Outcome::kPassed) {
      ++verdict.passed;
    } else if (result.outcome == Outcome::kRefused) {
      ++verdict.refused;
      if (first_refused == nullptr) first_refused = &result;
    } else if (first_failed == nullptr) {
      first_failed = &result;
    }
  }
  if (first_failed != nullptr) {
    verdict.outcome = first_failed->outcome;
    verdict.reason = fmt::format("{}: {}", first_failed->name, first_failed->reason);
  } else if (verdict.passed > 0) {
    verdict.outcome = Outcome::kPassed;
  } else if (first_refused != nullptr) {
    verdict.outcome = Outcome::kRefused;
    verdict.reason = first_refused->reason;
  } else {
    verdict.reason = "no case was run";
  }
  return verdict;
}

}  // namespace ladder
