// SPDX-License-Identifier: Apache-2.0
#include "app/app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "app/groups.hpp"
#include "count/metrics.hpp"
#include "devices/devices.hpp"

namespace vgpu::app {
namespace {

using count::Section;

struct Row {
  std::string title, value, unit;
};

std::string with_commas(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string show(const Range& range) {
  std::string text = with_commas(range.least);
  if (range.most != range.least) text += " .. " + with_commas(range.most);
  return (range.exact ? "" : "~") + text;
}

const Range* find(const Group& group, std::string_view name) {
  const auto at = group.metrics.find(std::string(name));
  return at == group.metrics.end() ? nullptr : &at->second;
}

// Quotients of two metrics, shown after the section's own rows if all launches agree.
struct Quotient {
  Section section;
  std::string_view title, unit, over, under;
};
constexpr std::array kQuotients = {
    Quotient{Section::kInstructions, "threads per instruction", "threads",
             "smsp__thread_inst_executed.sum", "smsp__inst_executed.sum"},
    Quotient{Section::kMemory, "sectors per global load request", "sectors",
             "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
             "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    Quotient{Section::kMemory, "sectors per global store request", "sectors",
             "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
             "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    Quotient{Section::kShared, "wavefronts per shared load", "wavefronts",
             "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
             "smsp__inst_executed_op_shared_ld.sum"},
    Quotient{Section::kShared, "wavefronts per shared store", "wavefronts",
             "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
             "smsp__inst_executed_op_shared_st.sum"},
};

std::optional<Row> quotient(const Group& group, const Quotient& q) {
  const Range *over = find(group, q.over), *under = find(group, q.under);
  if (over == nullptr || under == nullptr || under->most == 0) return std::nullopt;
  if (over->least != over->most || under->least != under->most) return std::nullopt;
  const double value = static_cast<double>(over->most) / static_cast<double>(under->most);
  return Row{std::string(q.title),
             fmt::format("{}{:.2f}", over->exact && under->exact ? "" : "~", value),
             std::string(q.unit)};
}

// Adds the theoretical occupancy and the resource that limits it.
void add_occupancy(const Group& group, std::vector<Row>& rows) {
  const Range* warps = find(group, "sm__maximum_warps_avg_per_active_cycle");
  const Device* device = find_device(group.device);
  if (warps == nullptr || device == nullptr || warps->least != warps->most) return;
  const int places = device->threads_per_multiprocessor / 32;
  std::uint64_t least = ~std::uint64_t{0};
  std::string_view limiter;
  for (const count::Metric& metric : count::metrics()) {
    constexpr std::string_view kLimit = "limit: ";
    const Range* range = find(group, metric.name);
    if (range == nullptr || !metric.title.starts_with(kLimit) || range->most >= least) continue;
    least = range->most;
    limiter = metric.title.substr(kLimit.size());
  }
  rows.push_back({"theoretical occupancy",
                  fmt::format("{:.1f}", 100.0 * static_cast<double>(warps->most) / places),
                  fmt::format("% (limited by {})", limiter)});
}

std::vector<Row> rows_of(const Group& group, Section section) {
  std::vector<Row> rows;
  for (const count::Metric& metric : count::metrics()) {
    const Range* range = find(group, metric.name);
    if (metric.section != section || range == nullptr || range->most == 0) continue;
    rows.push_back({std::string(metric.title), show(*range), std::string(metric.unit)});
  }
  for (const Quotient& q : kQuotients) {
    if (q.section != section) continue;
    if (auto row = quotient(group, q)) rows.push_back(std::move(*row));
  }
  if (section == Section::kOccupancy) add_occupancy(group, rows);
  return rows;
}

std::string head_of(const Group& group, std::string_view what_of_several) {
  std::string head = fmt::format("{}\n  {} blocks of {} threads, {}, executed from {}",
                                 group.kernel, group.grid, group.block, group.device, group.engine);
  if (group.launches > 1)
    head += fmt::format(", {} launches ({})", group.launches, what_of_several);
  if (group.sampled != 0) {
    head += fmt::format(", SAMPLED: {} of {} blocks executed, counts scaled", group.sampled,
                        group.blocks);
  }
  return head + "\n";
}

std::string table(const Group& group) {
  constexpr std::array<std::pair<Section, std::string_view>, 5> kSections = {{
      {Section::kLaunch, "Launch"},
      {Section::kInstructions, "Instructions"},
      {Section::kMemory, "Memory"},
      {Section::kShared, "Shared memory"},
      {Section::kOccupancy, "Occupancy (blocks per SM)"},
  }};
  std::string text = head_of(group, "values of one");
  for (const auto& [section, title] : kSections) {
    const std::vector<Row> rows = rows_of(group, section);
    if (rows.empty()) continue;
    text += fmt::format("  {}\n", title);
    for (const Row& row : rows)
      text += fmt::format("    {:<44} {:>22}  {}\n", row.title, row.value, row.unit);
  }
  return text;
}

std::string line_text(const std::string& file, std::uint32_t number) {
  if (number == 0) return "(code of no line)";
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < number && begin != std::string::npos; ++i) {
    begin = file.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos || begin >= file.size()) return "";
  std::string text = file.substr(begin, file.find('\n', begin) - begin);
  text.erase(0, text.find_first_not_of(" \t"));
  constexpr std::size_t kWidest = 80;
  return text.substr(0, kWidest);
}

std::uint64_t value(const SourceLine& line, const char* name) {
  const auto at = line.values.find(name);
  return at == line.values.end() ? 0 : at->second;
}

using Json = nlohmann::ordered_json;

std::string short_place(const Json& place) {
  const auto file = place.at("file").get<std::string>();
  if (file.empty()) return "code of no line";
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), place.at("line").get<unsigned>());
}

std::string awaited(const Json& wait, const std::string& setter) {
  return fmt::format("{}scoreboard {} of {}", wait.at("for") == "operands" ? "reads, " : "",
                     wait.at("scoreboard").get<unsigned>(), setter);
}

std::string waits_of(const Json& schedule) {
  std::string text;
  for (const Json& wait : schedule.at("waits")) {
    text += fmt::format("{}{} for {}", text.empty() ? "waits: " : "; ",
                        wait.at("instructions").get<unsigned>(), awaited(wait, short_place(wait)));
  }
  return text;
}

// The loop that executes most: what its machine code says about its time.
std::string loop_of(const Json& loop) {
  if (loop.is_null()) return "";
  std::string text =
      fmt::format("  hot loop {:#x} to {:#x}, {} iterations of a warp: {} stall cycles, {} waits\n",
                  loop.at("first").get<unsigned>(), loop.at("last").get<unsigned>(),
                  with_commas(loop.at("iterations").get<std::uint64_t>()),
                  loop.at("stall_cycles").get<unsigned>(), loop.at("waits").get<unsigned>());
  for (const Json& pipe : loop.at("pipes")) {
    const auto cycles = pipe.at("cycles").get<double>();
    text += fmt::format("    {:<22} {:>6} slots{}\n", pipe.at("name").get<std::string>(),
                        pipe.at("slots").get<unsigned>(),
                        cycles > 0 ? fmt::format(", an SM's busy for {:.2f} cycles", cycles) : "");
  }
  for (const Json& wait : loop.at("chain")) {
    const Json &waiter = wait.at("waiter"), &setter = wait.at("setter");
    const auto at = [](const Json& place) {
      return fmt::format("{:#x} {} ({})", place.at("offset").get<unsigned>(),
                         place.at("text").get<std::string>(), short_place(place));
    };
    text += fmt::format("    {} waits for {}\n", at(waiter), awaited(wait, at(setter)));
  }
  return text;
}

std::string lines_of(const Group& group, int most, const ReadFile& read) {
  constexpr const char* kInstructions = "smsp__inst_executed.sum";
  std::vector<SourceLine> lines = group.lines;
  std::ranges::stable_sort(lines, [](const SourceLine& a, const SourceLine& b) {
    return value(a, kInstructions) > value(b, kInstructions);
  });
  std::uint64_t all = 0;
  for (const SourceLine& line : lines) all += value(line, kInstructions);
  if (all == 0) return "  (no line information: build with -lineinfo)\n";
  std::string text = loop_of(group.hot_loop) +
                     fmt::format("  {:>6} {:>16} {:>14} {:>14} {:>6} {:>6}  {}\n", "share",
                                 "instructions", "sectors", "wavefronts", "slots", "stall", "line");
  if (lines.size() > static_cast<std::size_t>(most)) lines.resize(static_cast<std::size_t>(most));
  for (const SourceLine& line : lines) {
    const std::uint64_t sectors = value(line, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
                                  value(line, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
    const std::uint64_t wavefronts =
        value(line, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
        value(line, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
    const std::uint64_t executed = value(line, kInstructions);
    const auto of_code = [&](const char* name) {
      return line.schedule.is_null() ? "-" : with_commas(line.schedule.at(name));
    };
    text += fmt::format("  {:>5.1f}% {:>16} {:>14} {:>14} {:>6} {:>6}  {}:{}  {}",
                        100.0 * static_cast<double>(executed) / static_cast<double>(all),
                        (line.exact ? "" : "~") + with_commas(executed), with_commas(sectors),
                        with_commas(wavefronts), of_code("issue_slots"), of_code("stall_cycles"),
                        line.file.substr(line.file.rfind('/') + 1), line.line,
                        line_text(read(line.file), line.line));
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
    const std::string waits = line.schedule.is_null() ? "" : waits_of(line.schedule);
    if (!waits.empty()) text += fmt::format("{:9}{}\n", "", waits);
  }
  return text;
}

}  // namespace

std::string details(const std::string& json) {
  std::string text;
  bool estimates = false;
  for (const Group& group : groups_of(json)) {
    text += table(group);
    for (const auto& [name, range] : group.metrics) estimates |= !range.exact && range.most != 0;
  }
  if (estimates) text += "~ an estimate; the counters file says how each comes about\n";
  return text;
}

std::string source_view(const std::string& json, int most, const ReadFile& read) {
  std::string text;
  for (const Group& group : groups_of(json))
    text += head_of(group, "added up") + lines_of(group, most, read);
  return text;
}

}  // namespace vgpu::app
