// SPDX-License-Identifier: Apache-2.0
#include "learn/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/files.hpp"

namespace ladder::learn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFile = "exercise.json";

std::string text(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at == json.end() ? "" : at->get<std::string>();
}

// A limit may be written as a number or as an expression.
std::string formula(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

Element element_of(const std::string& type) {
  if (type.find("__half") != std::string::npos) return Element::kHalf;
  if (type.find("__nv_bfloat16") != std::string::npos) return Element::kBfloat16;
  if (type.find("int") != std::string::npos) return Element::kInt;
  if (type.find("float") != std::string::npos) return Element::kFloat;
  throw std::invalid_argument("parameters: no such type: " + type);
}

Parameter parameter_of(const Json& json) {
  Parameter p;
  p.name = json.at("name").get<std::string>();
  p.type = json.at("type").get<std::string>();
  p.is_array = p.type.ends_with("*");
  p.is_output = p.is_array && !p.type.starts_with("const ");
  p.element = element_of(p.type);
  p.fill = text(json, "fill");
  if (p.is_array) p.count = formula(json.at("count"));
  p.offset = json.value("offset", 0);
  return p;
}

Expected expected_of(const Json& json) {
  Expected e{json.at("array").get<std::string>(),
             {},
             json.at("value").get<std::string>(),
             json.contains("error") ? formula(json.at("error")) : "0"};
  for (const auto& [name, count] : json.at("over").items())
    e.indices.emplace_back(name, formula(count));
  return e;
}

Mark mark_of(const Json& json) {
  Mark mark;
  mark.name = json.at("name").get<std::string>();
  mark.measure = json.at("measure").get<std::string>();
  for (const auto& [key, relation] :
       {std::pair{"at_most", "at most"}, {"at_least", "at least"}, {"exactly", "exactly"}}) {
    if (!json.contains(key)) continue;
    mark.relation = relation;
    mark.limit = formula(json.at(key));
  }
  if (mark.limit.empty()) throw std::invalid_argument(mark.name + ": has no limit");
  mark.unit = text(json, "unit");
  mark.show = text(json, "show");
  mark.why = text(json, "why");
  return mark;
}

Exercise exercise_of(const Json& json) {
  Exercise e;
  e.title = json.at("title").get<std::string>();
  e.goal = json.at("goal").get<std::string>();
  e.rung = text(json, "rung");
  e.function = json.at("function").get<std::string>();
  if (const std::string arch = text(json, "arch"); !arch.empty()) e.arch = arch;
  for (const Json& item : json.at("parameters")) e.parameters.push_back(parameter_of(item));
  for (const Json& item : json.at("cases"))
    e.cases.push_back(item.get<std::map<std::string, std::int64_t>>());
  if (e.cases.empty()) throw std::invalid_argument("cases: is empty");
  e.measured = json.value("measured", e.cases.size() - 1);
  e.schedules = json.value("schedules", std::vector<std::string>{"eager"});
  for (const Json& item : json.at("expected")) e.expected.push_back(expected_of(item));
  for (const Json& item : json.at("marks")) e.marks.push_back(mark_of(item));
  e.hints = json.at("hints").get<std::vector<std::string>>();
  for (const Parameter& p : e.parameters) {
    const bool compared = std::ranges::any_of(
        e.expected, [&](const Expected& expected) { return expected.array == p.name; });
    if (p.is_output && !compared) throw std::invalid_argument("expected: lacks " + p.name);
  }
  for (const Expected& expected : e.expected) {
    const bool exists = std::ranges::any_of(
        e.parameters, [&](const Parameter& p) { return p.is_output && p.name == expected.array; });
    if (!exists) throw std::invalid_argument("expected: no output is called " + expected.array);
  }
  if (e.measured >= e.cases.size()) throw std::invalid_argument("measured: there is no such case");
  return e;
}

}  // namespace

Result<Exercise> read_exercise(const fs::path& folder) {
  const auto content = read_file((folder / kFile).string());
  if (!content) return content.status();
  try {
    Exercise e = exercise_of(Json::parse(content.value()));
    e.folder = folder;
    e.id = folder.filename().string();
    return e;
  } catch (const std::exception& error) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: {}", (folder / kFile).string(), error.what()));
  }
}

Result<std::vector<Exercise>> read_course(const fs::path& lessons) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(lessons, error)) {
    if (fs::exists(entry.path() / kFile, error)) folders.push_back(entry.path());
  }
  if (folders.empty())
    return Status(Code::kIo, fmt::format("{}: holds no exercises", lessons.string()));
  std::ranges::sort(folders);
  std::vector<Exercise> course;
  for (const fs::path& folder : folders) {
    auto exercise = read_exercise(folder);
    if (!exercise) return exercise.status();
    course.push_back(std::move(exercise).value());
  }
  return course;
}

std::string to_string(const std::map<std::string, std::int64_t>& sizes) {
  std::string all;
  for (const char* name : {"M", "N", "K"}) {
    if (const auto at = sizes.find(name); at != sizes.end())
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", name, at->second);
  }
  for (const auto& [name, size] : sizes) {
    if (name != "M" && name != "N" && name != "K")
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", name, size);
  }
  return all;
}

}  // namespace ladder::learn
