// SPDX-License-Identifier: Apache-2.0
#include "report/selection.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace ladder {
namespace {

bool was_run(const Row& row) { return row.timing.has_value() || row.counters.has_value(); }

bool has_rate(const Row& row) { return derive(row).tflops.has_value(); }

bool is_cold(const Row& row) { return row.timing && row.timing->copies > 1; }

template <class Wanted>
std::vector<const Row*> rungs(std::span<const Document> documents, Place place, Wanted wanted) {
  std::vector<const Row*> rows;
  for (const Document& document : documents) {
    for (const Row& row : document.rows) {
      if (row.place == place && row.role != Role::kBaseline && wanted(row)) rows.push_back(&row);
    }
  }
  return rows;
}

std::optional<Problem> commonest(const std::vector<const Row*>& rows) {
  const Row* best = nullptr;
  std::ptrdiff_t most = 0;
  for (const Row* row : rows) {
    const auto uses = std::ranges::count_if(
        rows, [&](const Row* other) { return same_shape(other->problem, row->problem); });
    const bool larger = best != nullptr && flops(row->problem) > flops(best->problem);
    if (best != nullptr && (uses < most || (uses == most && !larger))) continue;
    best = row;
    most = uses;
  }
  return best == nullptr ? std::nullopt : std::optional(best->problem);
}

}  // namespace

bool same_shape(const Problem& a, const Problem& b) {
  Problem other = b;
  other.in = a.in;
  other.out = a.out;
  return a == other;
}

bool is_cube(const Problem& p) { return p.m == p.n && p.n == p.k && p.m > 0; }

std::optional<Problem> main_problem(std::span<const Document> documents) {
  for (const auto wanted : {has_rate, was_run}) {
    for (const Place place : {Place::kCuda, Place::kHost}) {
      if (const auto problem = commonest(rungs(documents, place, wanted))) return problem;
    }
  }
  return std::nullopt;
}

std::vector<Pick> rows_at(std::span<const Document> documents, const Problem& problem) {
  // One device and one cache state: timed before counted, CUDA before the host, then the group with
  // the most kernels.
  using Group = std::tuple<bool, bool, std::string, bool>;
  std::map<Group, std::vector<Pick>> groups;
  for (const Document& document : documents) {
    for (const Row& row : document.rows) {
      if (!same_shape(row.problem, problem) || !was_run(row)) continue;
      auto& picks = groups[{row.timing.has_value(), row.place == Place::kCuda, row.device.name,
                            is_cold(row)}];
      const bool known = std::ranges::any_of(
          picks, [&](const Pick& pick) { return pick.row->kernel == row.kernel; });
      if (!known) picks.push_back({&row, &document, derive(row)});
    }
  }
  const auto best = std::ranges::max_element(groups, [](const auto& a, const auto& b) {
    const auto rank = [](const auto& group) {
      return std::tuple(std::get<0>(group.first), std::get<1>(group.first), group.second.size());
    };
    return rank(a) < rank(b);
  });
  if (best == groups.end()) return {};
  std::vector<Pick> picks = std::move(best->second);
  // Files may list the rungs in any order. Ids begin with the rung's number.
  std::ranges::stable_sort(picks, [](const Pick& a, const Pick& b) {
    if (a.row->role != b.row->role) return a.row->role < b.row->role;
    return a.row->role != Role::kBaseline && a.row->kernel < b.row->kernel;
  });
  return picks;
}

std::vector<Pick> of_precision(std::span<const Pick> rows, Precision precision) {
  std::vector<Pick> chosen;
  std::ranges::copy_if(rows, std::back_inserter(chosen), [&](const Pick& pick) {
    return stands_for(pick.row->precision) == precision;
  });
  return chosen;
}

std::vector<Precision> precisions_of(std::span<const Pick> rows) {
  std::vector<Precision> found;
  for (const Precision precision : precisions()) {
    if (std::ranges::any_of(rows, [&](const Pick& pick) {
          return pick.row->role != Role::kBaseline &&
                 stands_for(pick.row->precision) == precision && pick.derived.tflops;
        }))
      found.push_back(precision);
  }
  return found;
}

}  // namespace ladder
