// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/count/metrics.hpp"

namespace vgpu {
namespace {

using Json = nlohmann::ordered_json;

Json dimensions(const Dim3& extent) { return {extent.x, extent.y, extent.z}; }

std::string head_of(const std::vector<Device>& devices) {
  Json ids = Json::array();
  for (const Device& device : devices) ids.push_back(std::string(device.id));
  return fmt::format("{{\"device\": {}, \"devices\": {}, \"launches\": [", ids.at(0).dump(), ids.dump());
}

// What closes the JSON: how estimates come about.
const std::string& tail() {
  static const std::string text = [] {
    Json methods;
    for (const count::Metric& metric : count::metrics()) {
      if (!metric.method.empty()) methods[std::string(metric.name)] = std::string(metric.method);
    }
    return fmt::format("\n],\n\"methods\": {}}}\n", methods.dump());
  }();
  return text;
}

Json source_json(const LaunchReport& report) {
  Json list = Json::array();
  for (const LineReport& line : report.lines) {
    list.push_back(
        {{"file", line.file}, {"line", line.line}, {"metrics", line.exact}, {"estimates", line.estimates}});
  }
  return list;
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
  const Json json{
      {"kernel", record.kernel}, {"engine", record.report.engine}, {"instructions", std::move(list)}};
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
  json["metrics"] = Json(record.report.exact);
  json["estimates"] = Json(record.report.estimates);
  if (!record.report.lines.empty()) json["source"] = source_json(record.report);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string LaunchLog::open(const std::vector<Device>& devices, const std::string& file) {
  head_ = head_of(devices);
  if (file.empty()) return "";
  file_.reset(std::fopen(file.c_str(), "we"));
  if (file_ == nullptr) return fmt::format("cannot write {}: {}", file, std::strerror(errno));
  write(head_);
  return "";
}

// Behind what is there, and then what closes the JSON.
void LaunchLog::write(const std::string& text) {
  std::fseek(file_.get(), end_, SEEK_SET);
  std::fwrite(text.data(), 1, text.size(), file_.get());
  end_ = std::ftell(file_.get());
  std::fwrite(tail().data(), 1, tail().size(), file_.get());
  std::fflush(file_.get());
}

void LaunchLog::add(const LaunchRecord& record) {
  if (!wanted()) return;
  std::string launch = to_json(record);
  if (file_ != nullptr) write((std::exchange(any_in_file_, true) ? ",\n" : "\n") + launch);
  if (!kept_) return;
  launches_.push_back(std::move(launch));
  if (!record.report.instructions.empty()) traces_.push_back(trace_of(record));
}

void LaunchLog::reset() {
  kept_ = true;
  launches_.clear();
  traces_.clear();
}

std::string LaunchLog::json() const {
  return fmt::format("{}{}{}{}", head_, launches_.empty() ? "" : "\n", fmt::join(launches_, ",\n"), tail());
}

std::string LaunchLog::trace_json() const {
  return fmt::format("{{\"launches\": [{}]}}\n", fmt::join(traces_, ",\n"));
}

}  // namespace vgpu
