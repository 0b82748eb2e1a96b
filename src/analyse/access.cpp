// SPDX-License-Identifier: Apache-2.0
#include "analyse/access.hpp"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <set>

#include "memory/access.hpp"

namespace ladder::analyse {
namespace {

constexpr int kBanks = 32, kWordBytes = 4;
constexpr std::uint64_t kSector = 32, kLine = 128;

bool on(const Access& access, int lane) { return (access.mask >> lane & 1) != 0; }

std::set<std::uint64_t> words_of(const Access& access, int first_lane, int end_lane) {
  std::set<std::uint64_t> words;
  for (int lane = first_lane; lane < end_lane; ++lane) {
    if (!on(access, lane)) continue;
    const std::uint64_t address = access.addresses[static_cast<std::size_t>(lane)];
    for (int byte = 0; byte < access.bytes; byte += kWordBytes)
      words.insert((address + static_cast<std::uint64_t>(byte)) / kWordBytes);
  }
  return words;
}

// Distinct words per bank, for each group of lanes that is served together.
std::vector<std::array<int, 32>> bank_map(const Access& access) {
  std::vector<std::array<int, 32>> maps;
  const int together = lanes_together(access.bytes);
  for (int first = 0; first < kWarp; first += together) {
    std::array<int, 32> banks{};
    for (const std::uint64_t word : words_of(access, first, first + together))
      ++banks[static_cast<std::size_t>(word % kBanks)];
    maps.push_back(banks);
  }
  return maps;
}

std::vector<std::string> draw_lines(const Access& access, int most) {
  // map: 128-byte line -> per 32-byte sector, the mask of lanes that touch it
  std::map<std::uint64_t, std::array<std::uint32_t, kLine / kSector>> lines;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!on(access, lane)) continue;
    const std::uint64_t first = access.addresses[static_cast<std::size_t>(lane)];
    for (std::uint64_t at = first / kSector;
         at <= (first + static_cast<std::uint64_t>(access.bytes) - 1) / kSector; ++at)
      lines[at * kSector / kLine][at % (kLine / kSector)] |= 1U << lane;
  }
  std::vector<std::string> text;
  const std::uint64_t origin = lines.empty() ? 0 : lines.begin()->first;
  for (const auto& [line, sectors] : lines) {
    if (static_cast<int>(text.size()) == most) {
      text.push_back(fmt::format("... and {} more lines", lines.size() - text.size()));
      break;
    }
    std::string row =
        fmt::format("line {:>+8} B ", static_cast<std::int64_t>((line - origin) * kLine));
    for (const std::uint32_t lanes : sectors)
      row += lanes == 0 ? "[           ]" : fmt::format("[{:^11}]", lanes_text(lanes));
    text.push_back(row);
  }
  return text;
}

std::vector<std::string> draw_banks(const Access& access, int most) {
  std::vector<std::string> text;
  const int together = lanes_together(access.bytes);
  int first = 0;
  for (const auto& banks : bank_map(access)) {
    if (static_cast<int>(text.size()) == most) break;
    std::string row;
    for (const int words : banks)
      row += words == 0 ? '.' : words < 10 ? static_cast<char>('0' + words) : '+';
    text.push_back(fmt::format("lanes {:>2}-{:<2} banks |{}|", first, first + together - 1, row));
    first += together;
  }
  return text;
}

}  // namespace

int lanes_together(int bytes) { return bytes <= kWordBytes ? kWarp : kWarp * kWordBytes / bytes; }

std::string lanes_text(std::uint32_t mask) {
  std::string text;
  for (int lane = 0; lane < kWarp; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    int last = lane;
    while (last + 1 < kWarp && (mask >> (last + 1) & 1) != 0) ++last;
    if (!text.empty()) text += ',';
    text += last == lane ? std::to_string(lane) : fmt::format("{}-{}", lane, last);
    lane = last;
  }
  return text;
}

Cost cost_of(const Access& access) {
  Cost cost;
  cost.lanes = std::popcount(access.mask);
  if (cost.lanes == 0) return cost;
  std::set<std::uint64_t> elements, lines;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!on(access, lane)) continue;
    const std::uint64_t address = access.addresses[static_cast<std::size_t>(lane)];
    elements.insert(address);
    lines.insert(address / kLine);
  }
  cost.bytes = static_cast<int>(elements.size()) * access.bytes;
  cost.broadcast = elements.size() == 1;
  const auto bytes = static_cast<std::uint32_t>(access.bytes);
  if (access.memory == Memory::kGlobal) {
    cost.sectors =
        static_cast<int>(vgpu::global_sectors(access.addresses.data(), access.mask, bytes));
    cost.lines = static_cast<int>(lines.size());
    cost.sector_use = cost.bytes / (cost.sectors * kBytesPerSector);
    for (const auto& banks : bank_map(access)) cost.wavefronts += *std::ranges::max_element(banks);
    return cost;
  }
  std::array<std::uint32_t, kWarp> offsets{};
  std::ranges::transform(access.addresses, offsets.begin(),
                         [](std::uint64_t address) { return static_cast<std::uint32_t>(address); });
  cost.wavefronts = static_cast<int>(
      access.store ? vgpu::shared_store_wavefronts(offsets.data(), access.mask, bytes)
                   : vgpu::shared_load_wavefronts(offsets.data(), access.mask, bytes));
  cost.least_wavefronts =
      (static_cast<int>(words_of(access, 0, kWarp).size()) + kBanks - 1) / kBanks;
  for (const auto& banks : bank_map(access))
    cost.degree = std::max(cost.degree, *std::ranges::max_element(banks));
  return cost;
}

std::vector<std::string> draw(const Access& access, int most) {
  return access.memory == Memory::kGlobal ? draw_lines(access, most) : draw_banks(access, most);
}

}  // namespace ladder::analyse
