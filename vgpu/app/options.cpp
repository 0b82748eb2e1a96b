// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "app/conclusion.hpp"
#include "devices/devices.hpp"
#include "runtime/counters_file.hpp"
#include "runtime/replace_file.hpp"
#include "runtime/settings.hpp"

namespace vgpu::app {
namespace {

std::string check_blas(const std::string& text) {
  return text.empty() || text == "host" || text == "ladder"
             ? ""
             : fmt::format("'{}': host or ladder", text);
}

std::string check_settings(const Options& options) {
  Settings settings;
  for (const Setting& setting : text_settings()) {
    const std::string text = options.setting(setting.variable);
    if (text.empty()) continue;
    if (auto error = setting.parse(text, settings); !error.empty())
      return fmt::format("{}: {}", setting.option, error);
  }
  return "";
}

std::string check_baseline_file(const Options& options) {
  if (options.update_baseline) return check_writable(options.baseline);
  std::string json;
  if (const int error = read_file(options.baseline, json); error != 0)
    return fmt::format("cannot read {}: {}; --update-baseline writes it", options.baseline,
                       std::strerror(error));
  const std::string error = check_baseline(json, options.estimates);
  return error.empty() ? "" : fmt::format("{}: {}", options.baseline, error);
}

// No file that is written may be another one that the run needs.
std::string check_distinct(const Options& options) {
  const std::pair<const char*, const std::string&> files[] = {{"PROGRAM", options.command.front()},
                                                              {"--baseline", options.baseline},
                                                              {"--junit", options.junit},
                                                              {"--sarif", options.sarif},
                                                              {"--counters", options.counters}};
  std::map<std::filesystem::path, const char*> met;
  for (const auto& [name, file] : files) {
    if (file.empty()) continue;
    std::error_code error;
    // weakly_canonical() would leave the relative path of a file that does not exist as it is.
    const auto path =
        std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
    const auto [known, is_new] = met.emplace(error ? std::filesystem::path(file) : path, name);
    if (!is_new) return fmt::format("{}: {}: is the file of {}, too", name, file, known->second);
  }
  return "";
}

std::string check_files(const Options& options) {
  if (auto error = check_distinct(options); !error.empty()) return error;
  for (const auto& [name, file] :
       {std::pair{"--junit", &options.junit}, {"--sarif", &options.sarif}}) {
    if (file->empty()) continue;
    if (auto error = check_writable(*file); !error.empty())
      return fmt::format("{}: {}", name, error);
  }
  if (!options.counters.empty()) {
    if (auto error = check_counters_file(options.counters); !error.empty())
      return "--counters: " + error;
  }
  if (!options.baseline.empty()) {
    if (auto error = check_baseline_file(options); !error.empty()) return "--baseline: " + error;
  }
  return "";
}

}  // namespace

std::string Options::setting(const std::string& variable) const {
  const auto found = settings.find(variable);
  return found == settings.end() ? "" : found->second;
}

std::string check_options(const Options& options) {
  double percent = 0;
  if (auto error = check_settings(options); !error.empty()) return error;
  if (auto error = check_blas(options.blas); !error.empty()) return "--blas: " + error;
  if (auto error = parse_tolerance(options.tolerance, percent); !error.empty())
    return "--tolerance: " + error;
  if (auto error = check_files(options); !error.empty()) return error;
  return settings_from([](const char* name) -> const char* { return std::getenv(name); }).error;
}

std::string text_of(const std::string& path) {
  std::string text;
  (void)read_file(path, text);
  return text;
}

}  // namespace vgpu::app
