// SPDX-License-Identifier: Apache-2.0
// The problems on which a kernel must be correct before its results are shown. All kernels use the
// same list; a problem that a kernel does not accept is recorded as refused.
#pragma once
#include <ladder/problem.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "operands/input.hpp"

namespace ladder {

struct Case {
  std::string name;
  Problem problem;
  Input input;
};

enum class Battery : std::uint8_t {
  kQuick,  // every contract and input tier once; takes seconds in all
  kFull,   // adds a few hundred sizes, scalars and leading dimensions around tile edges
};
const char* to_string(Battery battery);

std::vector<Case> make_battery(Battery battery, std::uint64_t seed);

// Returns one case per input tier for a problem, e.g. the one to be measured next. Integers are
// omitted if alpha or beta makes them inexact.
std::vector<Case> cases_of(const Problem& problem, std::uint64_t seed);

}  // namespace ladder
