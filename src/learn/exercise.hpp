// SPDX-License-Identifier: Apache-2.0
// An exercise of the course: a folder lessons/NN_name with its texts and, as data in exercise.json,
// its operands, expected results and marks. docs/learn/format.md describes the file.
#pragma once
#include <ladder/status.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ladder::learn {

enum class Element { kFloat, kHalf, kBfloat16, kInt };

// A parameter of the exercise's host function: an array in device memory, or a size.
struct Parameter {
  std::string name, type;  // type: as C++ writes it
  bool is_array = false, is_output = false;
  Element element = Element::kFloat;
  std::string count;  // elements of an array, an expression in the sizes
  std::string fill;   // initial values: uniform, sixteenths, integers; "": never written
  int offset = 0;     // elements before the array in its allocation, so that it is less aligned
};

// What an output must hold. The elements are numbered row by row over the indices.
struct Expected {
  std::string array;
  std::vector<std::pair<std::string, std::string>> indices;  // name, count
  std::string value;  // an expression in indices, sizes and arrays
  std::string error;  // the error allowed, in units of 2^-24 times the value's magnitude
};

// A measure from counters, with its limit.
struct Mark {
  std::string name;
  std::string measure;               // an expression over metrics and sizes
  std::string relation = "at most";  // at most, at least, exactly
  std::string limit;                 // an expression over sizes
  std::string unit;
  std::string show;  // whose source line and picture: "global load", "shared store", ..., or ""
  std::string why;   // what a learner should consider
};

struct Exercise {
  std::filesystem::path folder;
  std::string id;  // "04_coalescing"
  std::string title, goal, rung, function, arch = "90";
  std::vector<Parameter> parameters;
  std::vector<std::map<std::string, std::int64_t>> cases;
  std::size_t measured = 0;  // the case whose counters are marked
  std::vector<std::string> schedules;
  std::vector<Expected> expected;
  std::vector<Mark> marks;
  std::vector<std::string> hints;

  std::string number() const { return id.substr(0, 2); }
};

// Errors: kIo (no such file), kInvalidArgument (what is wrong in exercise.json).
Result<Exercise> read_exercise(const std::filesystem::path& folder);

// The course in order. `lessons` is the folder that holds the exercises' folders.
Result<std::vector<Exercise>> read_course(const std::filesystem::path& lessons);

// "n 1000", "M 33, N 65, K 17".
std::string to_string(const std::map<std::string, std::int64_t>& sizes);

}  // namespace ladder::learn
