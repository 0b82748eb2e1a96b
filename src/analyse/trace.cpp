// SPDX-License-Identifier: Apache-2.0
#include "analyse/trace.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace ladder::analyse {
namespace {

using Json = nlohmann::json;
constexpr int kWord = 4, kWidest = 16;

TracedInstruction instruction_of(const Json& json) {
  TracedInstruction i;
  i.text = json.at("text").get<std::string>();
  i.place = json.at("place").get<std::uint32_t>();
  i.file = json.at("file").get<std::string>();
  i.line = json.at("line").get<std::uint32_t>();
  i.operation = json.at("operation").get<std::string>();
  i.executions = json.at("executions").get<std::uint64_t>();
  i.lanes = json.at("lanes").get<std::uint64_t>();
  if (!json.contains("sample")) return i;
  i.global_requests = json.at("global_requests").get<std::uint64_t>();
  i.global_sectors = json.at("global_sectors").get<std::uint64_t>();
  i.shared_requests = json.at("shared_requests").get<std::uint64_t>();
  i.shared_wavefronts = json.at("shared_wavefronts").get<std::uint64_t>();
  const Json& sample = json.at("sample");
  i.block = sample.at("block").get<std::uint64_t>();
  i.warp = sample.at("warp").get<std::uint32_t>();
  i.access.mask = sample.at("mask").get<std::uint32_t>();
  i.access.bytes = sample.at("bytes").get<int>();
  i.access.memory = sample.at("shared").get<bool>() ? Memory::kShared : Memory::kGlobal;
  i.access.store = i.operation == "store";
  i.access.addresses = sample.at("addresses").get<std::array<std::uint64_t, kWarp>>();
  return i;
}

// Address offsets from lane 0; equal for accesses that differ only by a constant.
std::array<std::uint64_t, kWarp> distances(const Access& access) {
  std::array<std::uint64_t, kWarp> result{};
  for (std::size_t lane = 0; lane < kWarp; ++lane)
    result[lane] = access.addresses[lane] - access.addresses[0];
  return result;
}

bool distances_allow(const std::array<std::uint64_t, kWarp>& lanes, int bytes) {
  return std::ranges::all_of(lanes, [bytes](std::uint64_t distance) {
    return distance % static_cast<std::uint64_t>(bytes) == 0;
  });
}

}  // namespace

Result<std::vector<Trace>> parse_trace(std::string_view text) {
  try {
    std::vector<Trace> traces;
    const Json json = Json::parse(text);
    for (const Json& launch : json.at("launches")) {
      Trace trace;
      trace.kernel = launch.at("kernel").get<std::string>();
      trace.engine = launch.at("engine").get<std::string>();
      for (const Json& item : launch.at("instructions"))
        trace.instructions.push_back(instruction_of(item));
      traces.push_back(std::move(trace));
    }
    return traces;
  } catch (const Json::exception& error) {
    return Status(Code::kIo, std::string("trace: ") + error.what());
  }
}

std::vector<LoopAccess> merged_accesses(const Trace& trace) {
  std::vector<LoopAccess> result;
  // Groups 32-bit shared loads by lane pattern and count, in order of address.
  using Key = std::tuple<std::array<std::uint64_t, kWarp>, std::uint64_t>;
  std::map<Key, std::vector<const TracedInstruction*>> loads;
  for (const TracedInstruction& i : trace.instructions) {
    if (i.access.mask == 0) continue;
    const bool mergeable = trace.engine == "ptx" && i.access.memory == Memory::kShared &&
                           !i.access.store && i.access.bytes == kWord &&
                           i.access.mask == 0xffffffff && i.operation == "load";
    if (mergeable) {
      loads[{distances(i.access), i.executions}].push_back(&i);
    } else {
      result.push_back({i.access, i.executions, i.text, i.file, i.line, 1});
    }
  }
  for (auto& [key, list] : loads) {
    std::ranges::sort(list, [](const auto* a, const auto* b) {
      return a->access.addresses[0] < b->access.addresses[0];
    });
    for (std::size_t at = 0; at < list.size();) {
      const std::uint64_t first = list[at]->access.addresses[0];
      int bytes = kWidest;
      for (; bytes > kWord; bytes /= 2) {
        const auto count = static_cast<std::size_t>(bytes / kWord);
        if (first % static_cast<std::uint64_t>(bytes) != 0 || at + count > list.size()) continue;
        if (list[at + count - 1]->access.addresses[0] !=
            first + static_cast<std::uint64_t>(bytes - kWord))
          continue;
        if (distances_allow(std::get<0>(key), bytes)) break;
      }
      LoopAccess access{list[at]->access, list[at]->executions, list[at]->text,
                        list[at]->file,   list[at]->line,       bytes / kWord};
      access.access.bytes = bytes;
      result.push_back(access);
      at += static_cast<std::size_t>(bytes / kWord);
    }
  }
  return result;
}

}  // namespace ladder::analyse
