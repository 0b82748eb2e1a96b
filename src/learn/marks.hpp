// SPDX-License-Identifier: Apache-2.0
// The marks of a solution, made from its compilation and its trial: general ones (it compiles, it
// launches, no fault, right results), then the exercise's own, from counters.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "learn/build.hpp"
#include "learn/exercise.hpp"
#include "learn/trial.hpp"

namespace ladder::learn {

struct Grade {
  enum class Verdict { kPassed, kFailed, kNotReached };
  std::string name;
  Verdict verdict = Verdict::kNotReached;
  std::string text;                  // one line
  std::vector<std::string> details;  // of a failed mark: lines, pictures, what to consider
};

struct Marking {
  std::vector<Grade> grades;
  bool passed() const;
  const Grade* failed() const;  // the first one; null if there is none
};

// The names of the general marks, in order.
inline constexpr const char* kCompiles = "compiles";
inline constexpr const char* kEnds = "ends";
inline constexpr const char* kLaunches = "launches";
inline constexpr const char* kNoFault = "no fault";
inline constexpr const char* kRight = "right";

// `source`: the learner's text, for the lines that messages quote. `file`: its name in messages.
struct Solution {
  std::string source, file;
};

Marking mark(const Exercise& exercise, const Compilation& compilation, const TrialResult& trial,
             const Solution& solution);

// The marking of a file that nvcc rejected, and of a program that ended without results.
Marking not_compiled(const Exercise& exercise, const Compilation& compilation);
Marking not_ended(const Exercise& exercise, const std::string& why,
                  const std::vector<std::string>& details);

// Faults and CUDA's errors, explained to a beginner.
struct Explained {
  std::string_view name, mark, text;
};

// The virtual GPU's kinds of fault, and names of CUDA's errors; null for others.
const Explained* fault_named(std::string_view kind);
const Explained* error_named(std::string_view name);

}  // namespace ladder::learn
