// SPDX-License-Identifier: Apache-2.0
#include "measure/count.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "measure/operands.hpp"
#include "operands/buffer.hpp"
#include "operands/input.hpp"
#include "operands/virtual_gpu.hpp"

namespace ladder {
namespace {

using Json = nlohmann::json;

void add_sums(Metrics& total, const Metrics& launch) {
  for (const auto& [name, value] : launch) {
    if (name.ends_with(".sum")) total[name] += value;
  }
}

Metrics metrics_of(const Json& launch, const char* key) {
  Metrics metrics;
  if (!launch.contains(key)) return metrics;
  for (const auto& [name, value] : launch.at(key).items())
    metrics[name] = value.get<std::uint64_t>();
  return metrics;
}

}  // namespace

Result<Counters> parse_counters(std::string_view text) {
  try {
    Counters counters;
    const Json file = Json::parse(text);
    for (const Json& launch : file.at("launches")) {
      CountedLaunch counted;
      counted.kernel = launch.at("kernel").get<std::string>();
      counted.engine = launch.value("engine", "");
      counted.grid = launch.at("grid").get<std::array<std::uint64_t, 3>>();
      counted.block = launch.at("block").get<std::array<std::uint64_t, 3>>();
      counted.exact = metrics_of(launch, "metrics");
      counted.estimates = metrics_of(launch, "estimates");
      add_sums(counters.exact, counted.exact);
      add_sums(counters.estimates, counted.estimates);
      counters.launches.push_back(std::move(counted));
    }
    return counters;
  } catch (const Json::exception& error) {
    return Status(Code::kIo, std::string("counters: ") + error.what());
  }
}

Result<Counters> count(const KernelInfo& kernel, const Problem& any_types, const Device& device,
                       std::uint64_t seed) {
  const Problem problem = in_types_of(kernel, any_types);
  if (!device.is_virtual || kernel.place != Place::kCuda || !virtual_gpu::active()) {
    return Status(Code::kUnsupportedDevice, "only the virtual GPU counts, and only CUDA kernels");
  }
  auto images = make_images(problem, {Values::kUniform, seed}, Precision::kIeee);
  if (!images) return images.status();
  auto operands = OperandSet::make(Place::kCuda, problem, images.value());
  if (!operands) return operands.status();

  virtual_gpu::reset_counters();
  const auto start = std::chrono::steady_clock::now();
  if (Status status = kernel.launch(problem, operands.value().operands(), nullptr); !status)
    return virtual_gpu::fault_or(status);
  if (Status status = synchronize(); !status) return virtual_gpu::fault_or(status);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto counters = parse_counters(virtual_gpu::counters_json());
  if (!counters) return counters;
  counters.value().seconds = seconds;
  if (counters.value().launches.empty())
    return Status(Code::kLaunchFailed, "the kernel launched nothing to count");
  return counters;
}

}  // namespace ladder
