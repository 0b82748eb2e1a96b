// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace vgpu {
namespace {

using Json = nlohmann::ordered_json;

Json dimensions(const Dim3& extent) { return {extent.x, extent.y, extent.z}; }

std::string head(std::string_view device) {
  return fmt::format("{{\"device\": {}, \"launches\": [", Json(std::string(device)).dump());
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

constexpr std::string_view kTail = "\n]}\n";

}  // namespace

std::string to_json(const LaunchRecord& record) {
  Json json;
  json["kernel"] = record.kernel;
  json["grid"] = dimensions(record.grid);
  json["block"] = dimensions(record.block);
  json["engine"] = record.report.engine;
  json["metrics"] = Json(record.report.exact);
  json["estimates"] = Json(record.report.estimates);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string LaunchLog::open(std::string_view device, const std::string& file) {
  device_ = device;
  if (file.empty()) return "";
  file_.reset(std::fopen(file.c_str(), "we"));
  if (file_ == nullptr) return fmt::format("cannot write {}: {}", file, std::strerror(errno));
  const std::string text = head(device_);
  std::fwrite(text.data(), 1, text.size(), file_.get());
  end_ = std::ftell(file_.get());
  std::fwrite(kTail.data(), 1, kTail.size(), file_.get());
  std::fflush(file_.get());
  return "";
}

void LaunchLog::add(const LaunchRecord& record) {
  launches_.push_back(to_json(record));
  if (!record.report.instructions.empty()) traces_.push_back(trace_of(record));
  if (file_ == nullptr) return;
  std::fseek(file_.get(), end_, SEEK_SET);
  const std::string text = fmt::format("{}\n{}", any_in_file_ ? "," : "", launches_.back());
  std::fwrite(text.data(), 1, text.size(), file_.get());
  end_ = std::ftell(file_.get());
  std::fwrite(kTail.data(), 1, kTail.size(), file_.get());
  std::fflush(file_.get());
  any_in_file_ = true;
}

std::string LaunchLog::json() const {
  return fmt::format("{}{}{}{}", head(device_), launches_.empty() ? "" : "\n", fmt::join(launches_, ",\n"),
                     kTail);
}

std::string LaunchLog::trace_json() const {
  return fmt::format("{{\"launches\": [{}]}}\n", fmt::join(traces_, ",\n"));
}

}  // namespace vgpu
