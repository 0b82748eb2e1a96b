// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_log.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "count/metrics.hpp"

namespace vgpu {
namespace {

using Json = nlohmann::ordered_json;

Json dimensions(const Dim3& extent) { return {extent.x, extent.y, extent.z}; }

std::string head_of(const std::vector<Device>& devices) {
  Json ids = Json::array();
  for (const Device& device : devices) ids.push_back(std::string(device.id));
  return fmt::format("{{\"device\": {}, \"devices\": {}, \"launches\": [", ids.at(0).dump(),
                     ids.dump());
}

// The end of the JSON, which includes how the estimates are computed.
const std::string& tail() {
  static const auto* const text = new std::string([] {
    Json methods;
    for (const count::Metric& metric : count::metrics()) {
      if (!metric.method.empty()) methods[std::string(metric.name)] = std::string(metric.method);
    }
    return fmt::format("\n],\n\"methods\": {}}}\n", methods.dump());
  }());
  return *text;
}

const char* awaited(bool for_reads) { return for_reads ? "operands" : "result"; }

Json schedule_json(const LineSchedule& schedule) {
  Json waits = Json::array();
  for (const LineWait& wait : schedule.waits) {
    waits.push_back({{"scoreboard", wait.scoreboard},
                     {"for", awaited(wait.for_reads)},
                     {"file", wait.file},
                     {"line", wait.line},
                     {"instructions", wait.instructions}});
  }
  return {{"issue_slots", schedule.instructions},
          {"stall_cycles", schedule.stall_cycles},
          {"waits", std::move(waits)}};
}

Json source_json(const LaunchReport& report) {
  Json list = Json::array();
  for (const LineReport& line : report.lines) {
    Json item{{"file", line.file},
              {"line", line.line},
              {"metrics", line.exact},
              {"estimates", line.estimates}};
    if (line.schedule.instructions != 0) item["schedule"] = schedule_json(line.schedule);
    list.push_back(std::move(item));
  }
  return list;
}

Json place_json(const CodePlace& place) {
  return {
      {"offset", place.offset}, {"text", place.text}, {"file", place.file}, {"line", place.line}};
}

Json loop_json(const HotLoop& loop) {
  Json pipes = Json::array(), chain = Json::array();
  for (const LoopPipe& pipe : loop.pipes)
    pipes.push_back({{"name", pipe.name}, {"slots", pipe.slots}, {"cycles", pipe.cycles}});
  for (const ChainedWait& wait : loop.chain) {
    chain.push_back({{"scoreboard", wait.scoreboard},
                     {"for", awaited(wait.for_reads)},
                     {"setter", place_json(wait.setter)},
                     {"waiter", place_json(wait.waiter)}});
  }
  return {{"first", loop.first},           {"last", loop.last},
          {"iterations", loop.iterations}, {"stall_cycles", loop.stall_cycles},
          {"pipes", std::move(pipes)},     {"waits", loop.waits},
          {"chain", std::move(chain)}};
}

Json sample_json(const AccessSample& sample) {
  return {{"block", sample.block}, {"warp", sample.warp},     {"mask", sample.mask},
          {"bytes", sample.bytes}, {"shared", sample.shared}, {"addresses", sample.addresses}};
}

std::string trace_of(const LaunchRecord& record) {
  Json list = Json::array();
  for (const InstructionReport& instruction : record.report.instructions) {
    Json item{{"text", instruction.text},           {"place", instruction.place},
              {"file", instruction.file},           {"line", instruction.line},
              {"operation", instruction.operation}, {"executions", instruction.executions},
              {"lanes", instruction.lanes}};
    if (instruction.sample.mask != 0) {
      item["global_requests"] = instruction.global_requests;
      item["global_sectors"] = instruction.global_sectors;
      item["shared_requests"] = instruction.shared_requests;
      item["shared_wavefronts"] = instruction.shared_wavefronts;
      item["sample"] = sample_json(instruction.sample);
    }
    list.push_back(std::move(item));
  }
  const Json json{{"kernel", record.kernel},
                  {"engine", record.report.engine},
                  {"instructions", std::move(list)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const LaunchRecord& record) {
  Json json;
  json["kernel"] = record.kernel;
  json["device"] = record.device;
  json["grid"] = dimensions(record.grid);
  json["block"] = dimensions(record.block);
  json["engine"] = record.report.engine;
  if (!record.sampled_blocks.empty()) json["sampled_blocks"] = record.sampled_blocks;
  if (!record.fallback.empty()) json["fallback"] = record.fallback;
  if (!record.report.unmeasured.empty()) json["unmeasured"] = record.report.unmeasured;
  json["metrics"] = Json(record.report.exact);
  json["estimates"] = Json(record.report.estimates);
  if (!record.report.lines.empty()) json["source"] = source_json(record.report);
  if (record.report.hot_loop) json["hot_loop"] = loop_json(*record.report.hot_loop);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string LaunchLog::open(const std::vector<Device>& devices, const std::string& file,
                            const std::string& claims) {
  head_ = head_of(devices);
  if (file.empty()) return "";
  if (std::string error = check_counters_file(file); !error.empty()) return error;
  file_ = std::make_unique<CountersFile>(file, claims, head_, tail());
  return "";
}

CountersFile::Said LaunchLog::add(const LaunchRecord& record) {
  CountersFile::Said said;
  if (!wanted()) return said;
  std::string launch = to_json(record);
  if (file_ != nullptr) said = file_->add(launch);
  if (!kept_) return said;
  launches_.push_back(std::move(launch));
  if (!record.report.instructions.empty()) traces_.push_back(trace_of(record));
  return said;
}

CountersFile::Said LaunchLog::close() {
  return file_ == nullptr ? CountersFile::Said{} : file_->close();
}

void LaunchLog::reset() {
  kept_ = true;
  launches_.clear();
  traces_.clear();
}

std::string LaunchLog::json() const {
  return fmt::format("{}{}{}{}", head_, launches_.empty() ? "" : "\n", fmt::join(launches_, ",\n"),
                     tail());
}

std::string LaunchLog::trace_json() const {
  return fmt::format("{{\"launches\": [{}]}}\n", fmt::join(traces_, ",\n"));
}

}  // namespace vgpu
