// SPDX-License-Identifier: Apache-2.0
// Compiles a learner's .cu file to a library with one entry, which calls the exercise's function.
#pragma once
#include <ladder/status.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "learn/exercise.hpp"
#include "tune/compile.hpp"

namespace ladder::learn {

// The library's entry, of type `void (void* const* parameters)`: each points to the value of a
// parameter.
constexpr const char* kEntry = "ladder_exercise_call";

struct Compilation : tune::Resources {
  std::filesystem::path library;    // "" if nvcc rejected the file
  std::vector<std::string> errors;  // nvcc's messages, each with the source line that it is about
};

// Writes into `folder`. Errors: kInvalidArgument (no such file, no nvcc, not compiled in time).
Result<Compilation> compile(const Exercise& exercise, const std::filesystem::path& file,
                            const std::filesystem::path& folder, tune::Deadline deadline,
                            const tune::Stop& stop);

// Line `number` of a text, from 1; "" if there is none.
std::string line_of(const std::string& text, int number);

}  // namespace ladder::learn
