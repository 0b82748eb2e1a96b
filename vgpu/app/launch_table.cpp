// SPDX-License-Identifier: Apache-2.0
#include "app/launch_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace vgpu::app {
namespace {

using Json = nlohmann::ordered_json;

struct Column {
  std::string_view title, metric;
};

constexpr std::array kColumns = {
    Column{"ld req", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    Column{"ld sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    Column{"st req", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    Column{"st sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
    Column{"ffma", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"},
};
constexpr std::size_t kLongestName = 48;

using Row = std::vector<std::string>;

std::string extent(const Json& dimensions) {
  return fmt::format("{}x{}x{}", dimensions.at(0).get<unsigned>(), dimensions.at(1).get<unsigned>(),
                     dimensions.at(2).get<unsigned>());
}

// Without the parameters: the name is enough to tell kernels apart here.
std::string short_name(const std::string& kernel) {
  std::string name = kernel.substr(0, kernel.rfind('('));
  if (name.starts_with("void ")) name.erase(0, 5);
  if (name.size() > kLongestName) name = name.substr(0, kLongestName - 3) + "...";
  return name;
}

Row row_of(const Json& launch) {
  Row row = {"1", short_name(launch.at("kernel").get<std::string>()), extent(launch.at("grid")),
             extent(launch.at("block"))};
  for (const Column& column : kColumns) {
    const auto value = launch.at("metrics").find(column.metric);
    row.push_back(value == launch.at("metrics").end() ? "-" : std::to_string(value->get<std::uint64_t>()));
  }
  return row;
}

}  // namespace

std::string launch_table(const std::string& json) {
  Row titles = {"times", "kernel", "grid", "block"};
  for (const Column& column : kColumns) titles.emplace_back(column.title);
  std::vector<Row> rows = {titles};
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_object()) {
    for (const Json& launch : parsed.at("launches")) {
      Row row = row_of(launch);
      Row& last = rows.back();
      if (rows.size() > 1 && std::equal(row.begin() + 1, row.end(), last.begin() + 1)) {
        last[0] = std::to_string(std::stoull(last[0]) + 1);
      } else {
        rows.push_back(std::move(row));
      }
    }
  }
  std::vector<std::size_t> widths(titles.size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line +=
          i == 1 ? fmt::format("{:<{}}  ", row[i], widths[i]) : fmt::format("{:>{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace vgpu::app
