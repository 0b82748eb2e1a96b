// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>

#include "learn/exercise.hpp"
#include "learn/expression.hpp"
#include "learn/marks.hpp"

namespace ladder::learn {
namespace {

namespace fs = std::filesystem;

TEST(Course, EveryExerciseIsWhole) {
  const auto course = read_course(LESSONS);
  ASSERT_TRUE(course) << course.status().message();
  EXPECT_GE(course.value().size(), 24U);
  for (const Exercise& e : course.value()) {
    SCOPED_TRACE(e.id);
    EXPECT_GE(e.hints.size(), 3U);
    EXPECT_FALSE(e.expected.empty());
    EXPECT_FALSE(e.marks.empty());
    EXPECT_GE(e.cases.size(), 2U);
    for (const char* file : {"README.md", "start.cu", "solution.cu", "another.cu"})
      EXPECT_TRUE(fs::exists(e.folder / file)) << file;
    for (const Mark& mark : e.marks) EXPECT_FALSE(mark.why.empty()) << mark.name;
  }
}

TEST(Course, ExpressionsUseKnownNames) {
  const auto course = read_course(LESSONS);
  ASSERT_TRUE(course);
  for (const Exercise& e : course.value()) {
    SCOPED_TRACE(e.id);
    Scope scope;
    for (const auto& [name, size] : e.cases.front())
      scope.variables[name] = static_cast<double>(size);
    for (const Parameter& p : e.parameters) {
      if (!p.is_array) continue;
      EXPECT_TRUE(evaluate(p.count, scope)) << p.name;
      scope.arrays[p.name] = {};
    }
    for (const Expected& expected : e.expected) {
      for (const auto& [name, count] : expected.indices) {
        EXPECT_TRUE(evaluate(count, scope)) << name;
        scope.variables[name] = 0;
      }
      const auto value = Expression::parse(expected.value, scope);
      EXPECT_TRUE(value) << value.status().message();
      EXPECT_TRUE(Expression::parse(expected.error, scope)) << expected.error;
    }
    for (const Mark& mark : e.marks) {
      const auto limit = Expression::parse(mark.limit, scope);
      EXPECT_TRUE(limit) << limit.status().message();
    }
  }
}

TEST(Exercise, NamesWhatIsWrongInItsFile) {
  const fs::path folder = fs::temp_directory_path() / ("exercise_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const auto error_of = [&](const char* text) {
    std::ofstream(folder / "exercise.json") << text;
    const auto exercise = read_exercise(folder);
    EXPECT_FALSE(exercise);
    return exercise.status().message();
  };
  EXPECT_NE(error_of("{").find("exercise.json"), std::string::npos);
  EXPECT_NE(error_of("{}").find("title"), std::string::npos);
  EXPECT_NE(error_of(R"({"title": "t", "goal": "g", "function": "f", "cases": [], "parameters": [
    {"name": "x", "type": "const double*", "count": "1"}]})")
                .find("double"),
            std::string::npos);
  const auto with_outputs = [&](const char* expected) {
    return error_of((R"({"title": "t", "goal": "g", "function": "f", "cases": [{"N": 1}],
      "parameters": [{"name": "y", "type": "float*", "count": "N"}], "marks": [], "hints": [],
      "expected": [)" +
                     std::string(expected) + "]}")
                        .c_str());
  };
  EXPECT_NE(with_outputs("").find("lacks y"), std::string::npos);
  EXPECT_NE(with_outputs(R"({"array": "y", "over": {"i": "N"}, "value": "0"},
                            {"array": "z", "over": {"i": "N"}, "value": "0"})")
                .find("no output is called z"),
            std::string::npos);
  fs::remove_all(folder);
}

TEST(Faults, AreExplainedByName) {
  ASSERT_NE(fault_named("race"), nullptr);
  EXPECT_EQ(fault_named("race")->mark, "no race");
  EXPECT_EQ(fault_named("boredom"), nullptr);
  EXPECT_NE(error_named("cudaErrorInvalidValue"), nullptr);
}

}  // namespace
}  // namespace ladder::learn
