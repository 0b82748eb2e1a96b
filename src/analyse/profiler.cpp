// SPDX-License-Identifier: Apache-2.0
#include "analyse/profiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "problem/number.hpp"
#include "tune/process.hpp"

namespace ladder::analyse {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char ch = line[i];
    if (ch == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (ch == ',' && !quoted) {
      fields.emplace_back();
    } else if (ch != '\r') {
      fields.back() += ch;
    }
  }
  return fields;
}

// Accepts "1,048,576" and "1048576".
std::optional<double> number_of(std::string text) {
  std::erase(text, ',');
  return parse_number<double>(text);
}

std::size_t column(const std::vector<std::string>& header, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
}

}  // namespace

std::string find_ncu() { return tune::find_tool("LADDER_NCU", "ncu"); }

std::vector<std::string> ncu_command(const std::string& ncu,
                                     const std::vector<std::string>& metrics,
                                     const std::vector<std::string>& program) {
  std::vector<std::string> command{ncu,    "--csv",     "--print-units",
                                   "base", "--metrics", fmt::format("{}", fmt::join(metrics, ","))};
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

Result<std::vector<Profiled>> parse_ncu(std::string_view output) {
  if (output.find("ERR_NVGPUCTRPERM") != std::string_view::npos)
    return Status(Code::kUnsupportedDevice,
                  "the driver does not let this user read counters (ERR_NVGPUCTRPERM); an "
                  "administrator can load the driver with NVreg_RestrictProfilingToAdminUsers=0");
  std::istringstream lines{std::string(output)};
  std::vector<std::string> header;
  std::vector<Profiled> launches;
  std::string error, last_id;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==ERROR==")) error = line;
    const std::vector<std::string> fields = fields_of(line);
    if (header.empty()) {
      const auto there = [&](const char* name) { return column(fields, name) < fields.size(); };
      if (there("ID") && there("Kernel Name") && there("Metric Name") && there("Metric Value"))
        header = fields;
      continue;
    }
    if (fields.size() != header.size()) continue;
    const std::string& id = fields[column(header, "ID")];
    const auto value = number_of(fields[column(header, "Metric Value")]);
    if (!value) continue;
    if (launches.empty() || id != last_id) {
      launches.push_back({fields[column(header, "Kernel Name")], {}});
      last_id = id;
    }
    launches.back().metrics[fields[column(header, "Metric Name")]] = *value;
  }
  if (launches.empty())
    return Status(Code::kIo, error.empty() ? "ncu printed no table of metrics" : error);
  return launches;
}

std::map<std::string, double> golden_counters(std::string_view table, std::string_view kernel,
                                              std::string_view shape) {
  std::istringstream lines{std::string(table)};
  std::vector<std::string> header;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (header.empty()) {
      header = fields;
      continue;
    }
    const std::size_t kernel_at = column(header, "kernel"), shape_at = column(header, "shape");
    if (fields.size() != header.size() || kernel_at >= fields.size() || shape_at >= fields.size())
      continue;
    if (fields[kernel_at] != kernel || fields[shape_at] != shape) continue;
    std::map<std::string, double> metrics;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (header[i].find("__") == std::string::npos) continue;
      if (const auto value = number_of(fields[i])) metrics[header[i]] = *value;
    }
    return metrics;
  }
  return {};
}

}  // namespace ladder::analyse
