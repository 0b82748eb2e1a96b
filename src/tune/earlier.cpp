// SPDX-License-Identifier: Apache-2.0
#include "tune/earlier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "report/json_text.hpp"
#include "tune/result.hpp"

namespace ladder::tune {
namespace {

using Json = nlohmann::json;

Point point_of(const Json& parameters, const SearchSpace& space) {
  Point point;
  for (const Parameter& parameter : space.parameters)
    point.push_back(parameters.at(std::string(parameter.name)).get<int>());
  return point;
}

}  // namespace

std::optional<SavedTile> saved_tile(const std::string& text, const SearchSpace& space) {
  try {
    const Json json = parse_json<Json>(text);
    const Json& entry = json.at("rungs").at(std::string(space.rung));
    SavedTile saved;
    saved.point = entry.at("values").get<Point>();
    saved.problem = entry.at("problem").get<std::string>();
    if (entry.at("basis") == "timed" && !entry.at("gflops").is_null())
      saved.gflops = entry.at("gflops").get<double>();
    if (saved.point.size() != space.parameters.size() || !space.allowed(saved.point))
      return std::nullopt;
    return saved;
  } catch (const std::exception&) {
    return std::nullopt;  // no entry; an invalid file is reported when it is to be written
  }
}

bool may_replace(const std::optional<SavedTile>& saved, const Job& job, const Tuning& so_far) {
  if (!so_far.winner) return false;
  if (!saved) return true;
  const double rate = gflops(job.problem, so_far.candidates[*so_far.winner].ms);
  return so_far.basis == Basis::kTimed && saved->problem == to_string(job.problem) &&
         rate > saved->gflops;
}

Result<std::vector<EarlierCandidate>> earlier_candidates(const std::string& text,
                                                         const SearchSpace& space) {
  try {
    const Json json = parse_json<Json>(text);
    if (json.at("schema") != "ladder-tuning")
      throw std::runtime_error("its schema is not ladder-tuning");
    if (json.at("rung") != space.rung)
      throw std::runtime_error(
          fmt::format("it is of {}, not {}", json_text(json.at("rung")), space.rung));
    std::vector<EarlierCandidate> candidates;
    for (const Json& candidate : json.at("candidates")) {
      const std::string status = candidate.at("status").get<std::string>();
      if (status == to_string(Fate::kSpills) || status == to_string(Fate::kNotBuilt)) continue;
      EarlierCandidate earlier{point_of(candidate.at("parameters"), space), 0};
      if (!candidate.at("ms").is_null()) earlier.ms = candidate.at("ms").get<double>();
      candidates.push_back(std::move(earlier));
    }
    if (candidates.empty()) throw std::runtime_error("it has no candidate that can be run");
    return candidates;
  } catch (const std::exception& error) {
    return Status(Code::kIo, fmt::format("no candidates to try: {}", error.what()));
  }
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double mean = static_cast<double>(first + 1 + end) / 2;
    for (; first < end; ++first) result[order[first]] = mean;
  }
  return result;
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> of_a = ranks(a);
  const std::vector<double> of_b = ranks(b);
  if (of_a.size() < 2 || of_a.size() != of_b.size()) return std::nullopt;
  const double mean = static_cast<double>(of_a.size() + 1) / 2;
  double together = 0;
  double square_a = 0;
  double square_b = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    together += (of_a[i] - mean) * (of_b[i] - mean);
    square_a += (of_a[i] - mean) * (of_a[i] - mean);
    square_b += (of_b[i] - mean) * (of_b[i] - mean);
  }
  if (!(square_a > 0) || !(square_b > 0)) return std::nullopt;
  return together / std::sqrt(square_a * square_b);
}

std::optional<Agreement> agreement(const std::vector<EarlierCandidate>& earlier,
                                   const Tuning& today) {
  std::map<Point, double> times;
  for (const EarlierCandidate& candidate : earlier) {
    if (candidate.ms > 0) times[candidate.point] = candidate.ms;
  }
  std::vector<double> before;
  std::vector<double> now;
  for (const Candidate& candidate : today.candidates) {
    const auto found = times.find(candidate.point);
    if (found == times.end() || !candidate.ranked() || !(candidate.ms > 0)) continue;
    before.push_back(found->second);
    now.push_back(candidate.ms);
  }
  const auto correlation = rank_correlation(before, now);
  if (!correlation) return std::nullopt;
  const double best = *std::ranges::min_element(before);
  const std::vector<double> order = ranks(now);
  // By the earlier times: rate of the best among the first `count` of today's order, relative to
  // the best rate.
  const auto chosen = [&](double count) {
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i] <= count && (least == 0 || before[i] < least)) least = before[i];
    }
    return least > 0 ? best / least : 0;
  };
  return Agreement{before.size(), *correlation, chosen(*std::ranges::min_element(order)),
                   chosen(10)};
}

}  // namespace ladder::tune
