// SPDX-License-Identifier: Apache-2.0
// ladder learn --mark: the folders of a class, one row each.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "common.hpp"
#include "learn.hpp"
#include "report/text.hpp"

namespace ladder::app {
namespace {

namespace fs = std::filesystem;

// The learners' folders at or below the given ones: those with a progress file.
std::vector<fs::path> learners_folders(const std::vector<std::string>& named) {
  std::vector<fs::path> all;
  for (const std::string& name : named) {
    std::error_code error;
    if (!fs::is_directory(name, error)) throw BadInput("--mark: " + name + ": no such folder");
    const std::size_t before = all.size();
    if (fs::exists(fs::path(name) / kProgressFile, error)) all.emplace_back(name);
    for (fs::recursive_directory_iterator
             at(name, fs::directory_options::skip_permission_denied, error),
         end;
         !error && at != end; at.increment(error)) {
      if (at->path().filename() == kProgressFile && at.depth() > 0)
        all.push_back(at->path().parent_path());
    }
    if (all.size() == before)
      throw BadInput(
          fmt::format("--mark: {}: no exercise in it ({} is missing)", name, kProgressFile));
  }
  std::ranges::sort(all);
  return all;
}

std::string row_of(const fs::path& folder, const CheckOptions& options) {
  const auto row = [&](const std::string& exercise, const char* result, std::size_t passed,
                       std::size_t all, const std::string& failed, const std::string& text,
                       double seconds) {
    return fmt::format("{},{},{},{},{},{},{},{:.1f}\n", csv_field(folder.string()),
                       csv_field(exercise), result, passed, all, csv_field(failed), csv_field(text),
                       seconds);
  };
  std::string name;
  try {
    const auto progress = read_progress(folder);
    name = progress ? progress->exercise : "";
    for (const learn::Exercise& exercise : course()) {
      if (exercise.id != name) continue;
      const Checked checked = check_solution(exercise, folder / kLearnerFile, options);
      const auto& grades = checked.marking.grades;
      const auto passed = std::ranges::count_if(grades, [](const learn::Grade& g) {
        return g.verdict == learn::Grade::Verdict::kPassed;
      });
      const learn::Grade* failed = checked.marking.failed();
      return row(name, failed == nullptr ? "passed" : "failed", static_cast<std::size_t>(passed),
                 grades.size(), failed == nullptr ? "" : failed->name,
                 failed == nullptr ? "" : failed->text, checked.seconds);
    }
    return row(name, "not marked", 0, 0, "", "the course has no such exercise", 0);
  } catch (const BadInput& error) {
    if (interrupted()) throw;
    return row(name, "not marked", 0, 0, "", error.what(), 0);
  }
}

}  // namespace

int mark_class(const std::vector<std::string>& folders, const std::string& csv,
               const CheckOptions& options) {
  const std::vector<fs::path> all = learners_folders(folders);
  if (const std::string why = learn::why_not_confined(); !why.empty())
    fmt::print(stderr, "ladder: {}\n", why);
  std::string table = "folder,exercise,result,marks passed,marks,failed mark,reason,seconds\n";
  for (const fs::path& folder : all) {
    fmt::print(stderr, "{}\n", printable(folder.string()));
    table += row_of(folder, options);
  }
  if (csv.empty()) {
    fmt::print("{}", table);
  } else {
    write_file(csv, table, "--csv");
  }
  return kOk;
}

}  // namespace ladder::app
