// SPDX-License-Identifier: Apache-2.0
// The problems that a kernel must get right before any figure of it is shown. One list for every
// kernel; what a kernel does not accept is recorded as refused.
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
  kQuick,  // every contract and tier once, seconds in all
  kFull,   // and a few hundred sizes, scalars and leading dimensions around tile edges
};
const char* to_string(Battery battery);

std::vector<Case> make_battery(Battery battery, std::uint64_t seed);

// The three tiers of input on one problem, e.g. the one about to be measured. Integers are left out
// where alpha or beta make them inexact.
std::vector<Case> cases_of(const Problem& problem, std::uint64_t seed);

}  // namespace ladder
