// SPDX-License-Identifier: Apache-2.0
#include "page/diagrams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <vector>

#include "page/render.hpp"

namespace ladder::page {
namespace {

using analyse::Access;

constexpr std::uint64_t kWord = 4, kLine = 128;
constexpr int kWords = 32, kSectorWords = 8;  // per cache line, per sector
constexpr int kCell = 17, kGap = 5;           // pixels; the gap is between sectors
constexpr int kLeft = 84;
constexpr std::size_t kMostLines = 6;
constexpr int kMostDeep = 8;

std::string open(int width, int height, const std::string& says) {
  return fmt::format(
      "<svg class=\"diagram\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"{2}\">\n",
      width, height, escape(says));
}

std::string text(double x, double y, const char* kind, const std::string& words) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y,
                     escape(words));
}

// A colour per lane from purple over blue and green to orange, legible on light and dark
// backgrounds.
std::string lane_color(int lane) {
  constexpr std::array<std::array<double, 3>, 4> kAnchors{
      {{126, 87, 194}, {33, 113, 181}, {0, 140, 102}, {180, 110, 0}}};
  const double at = lane / 31.0 * (kAnchors.size() - 1.0);
  const auto below = std::min(static_cast<std::size_t>(at), kAnchors.size() - 2);
  std::string color = "#";
  for (std::size_t c = 0; c < 3; ++c)
    color += fmt::format("{:02x}", std::lround(std::lerp(kAnchors[below][c], kAnchors[below + 1][c],
                                                         at - static_cast<double>(below))));
  return color;
}

// Returns the accessed words (address / 4) with a mask of the lanes that access each.
std::map<std::uint64_t, std::uint32_t> words_of(const Access& access, int first_lane,
                                                int end_lane) {
  std::map<std::uint64_t, std::uint32_t> words;
  for (int lane = first_lane; lane < end_lane; ++lane) {
    if ((access.mask >> lane & 1) == 0) continue;
    const std::uint64_t begin = access.addresses[static_cast<std::size_t>(lane)];
    const std::uint64_t end = begin + static_cast<std::uint64_t>(access.bytes);
    for (std::uint64_t word = begin / kWord; word * kWord < end; ++word) words[word] |= 1U << lane;
  }
  return words;
}

// Returns the lane's number, or the number of lanes that share the word.
std::string who(std::uint32_t lanes) {
  const int count = std::popcount(lanes);
  return count == 1 ? std::to_string(std::countr_zero(lanes)) : fmt::format("x{}", count);
}

// A single lane is shown by its number; several lanes are listed in a tooltip.
std::string cell(int x, int y, std::uint32_t lanes, const char* kind) {
  const std::string box = fmt::format(
      "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/><text "
      "class=\"lane\" x=\"{}\" y=\"{}\">{}</text>",
      kind, x, y, kCell - 1, kCell - 1, lane_color(std::countr_zero(lanes)), x + kCell / 2, y + 12,
      who(lanes));
  if (std::popcount(lanes) == 1) return box + "\n";
  return fmt::format("<g><title>lanes {}</title>{}</g>\n", analyse::lanes_text(lanes), box);
}

int word_x(int word) { return kLeft + word * kCell + word / kSectorWords * kGap; }

}  // namespace

std::string warp_picture(const Access& access) {
  const auto words = words_of(access, 0, analyse::kWarp);
  if (words.empty()) return "";
  const analyse::Cost cost = analyse::cost_of(access);
  std::map<std::uint64_t, std::map<int, std::uint32_t>> lines;  // line -> word in it -> lanes
  for (const auto& [word, lanes] : words)
    lines[word * kWord / kLine][static_cast<int>(word % kWords)] = lanes;
  const std::size_t shown = std::min(lines.size(), kMostLines);
  const int step = kCell + 7;
  const int more = lines.size() > shown ? 18 : 0;
  const std::string says =
      fmt::format("{} lanes access {} bytes: {} sector{} in {} line{}, {:.0f}% of their bytes used",
                  cost.lanes, cost.bytes, cost.sectors, cost.sectors == 1 ? "" : "s", cost.lines,
                  cost.lines == 1 ? "" : "s", 100 * cost.sector_use);
  std::string svg = open(word_x(kWords), static_cast<int>(shown) * step + 20 + more, says);
  for (int sector = 0; sector < 4; ++sector)
    svg += text(word_x(sector * kSectorWords) + kSectorWords * kCell / 2.0, 11, "small middle",
                fmt::format("sector {}", sector));
  int y = 18;
  const std::uint64_t origin = lines.begin()->first;
  for (const auto& [line, there] : lines) {
    if (y >= 18 + static_cast<int>(shown) * step) break;
    svg += text(kLeft - 8, y + 12, "small end",
                fmt::format("{:+} B", static_cast<std::int64_t>((line - origin) * kLine)));
    for (int word = 0; word < kWords; ++word) {
      const int first = word / kSectorWords * kSectorWords;
      const bool fetched = std::ranges::any_of(there, [&](const auto& entry) {
        return entry.first / kSectorWords == word / kSectorWords;
      });
      if (word == first)
        svg += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                           fetched ? "sector" : "sector none", word_x(word) - 2, y - 2,
                           kSectorWords * kCell + 3, kCell + 3);
      if (const auto found = there.find(word); found != there.end()) {
        svg += cell(word_x(word), y, found->second, "word");
      } else if (fetched) {
        svg += fmt::format("<rect class=\"waste\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                           word_x(word), y, kCell - 1, kCell - 1);
      }
    }
    y += step;
  }
  if (more > 0)
    svg += text(kLeft, y + 8, "small",
                fmt::format("... and {} more lines of 128 bytes", lines.size() - shown));
  return svg + "</svg>\n";
}

std::string bank_picture(const Access& access) {
  const analyse::Cost cost = analyse::cost_of(access);
  const int together = analyse::lanes_together(access.bytes);
  struct Group {
    int first = 0, deep = 1;
    std::array<std::vector<std::uint32_t>, kWords> banks;
  };
  std::vector<Group> groups;
  for (int first = 0; first < analyse::kWarp; first += together) {
    Group group;
    group.first = first;
    for (const auto& [word, lanes] : words_of(access, first, first + together)) {
      auto& bank = group.banks[word % kWords];
      bank.push_back(lanes);
      group.deep = std::max(group.deep, static_cast<int>(bank.size()));
    }
    groups.push_back(std::move(group));
  }
  int height = 16;
  for (const Group& group : groups) height += std::min(group.deep, kMostDeep) * kCell + 10;
  const std::string says = fmt::format(
      "{} lanes of {} bytes take {} wavefront{}, at least {}: {}", cost.lanes, access.bytes,
      cost.wavefronts, cost.wavefronts == 1 ? "" : "s", cost.least_wavefronts,
      cost.broadcast    ? "a broadcast"
      : cost.degree > 1 ? fmt::format("{}-way bank conflict", cost.degree)
                        : std::string("no bank conflict"));
  const int width = kLeft + kWords * kCell + 4;
  std::string svg = open(width, height, says);
  int y = 2;
  for (const Group& group : groups) {
    const int rows = std::min(group.deep, kMostDeep);
    svg += text(kLeft - 8, y + rows * kCell - 5, "small end",
                fmt::format("lanes {}-{}", group.first, group.first + together - 1));
    for (int bank = 0; bank < kWords; ++bank) {
      const int x = kLeft + bank * kCell;
      const auto& words = group.banks[static_cast<std::size_t>(bank)];
      for (int deep = 0; deep < rows; ++deep) {
        const int at = y + (rows - 1 - deep) * kCell;
        if (deep >= static_cast<int>(words.size())) {
          if (deep == 0)
            svg += fmt::format(
                "<rect class=\"waste\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", x, at,
                kCell - 1, kCell - 1);
          continue;
        }
        const bool cut = deep == kMostDeep - 1 && static_cast<int>(words.size()) > kMostDeep;
        if (cut)
          svg += text(x + kCell / 2.0, at + 12, "small middle",
                      fmt::format("+{}", words.size() - kMostDeep + 1));
        else
          svg += cell(x, at, words[static_cast<std::size_t>(deep)],
                      deep == 0 ? "word" : "word conflict");
      }
    }
    y += rows * kCell + 10;
  }
  for (int bank = 0; bank < kWords; bank += 4)
    svg += text(kLeft + bank * kCell + kCell / 2.0, y + 4, "small middle", std::to_string(bank));
  svg += text(kLeft - 8, y + 4, "small end", "bank");
  return svg + "</svg>\n";
}

std::string tile_picture(const analyse::TileShape& tile) {
  constexpr double kSide = 190;
  constexpr int kOrigin = 76;
  const double scale = kSide / std::max(tile.bm, tile.bn);
  const double h = tile.bm * scale, w = tile.bn * scale;
  const double strip = std::clamp(tile.bk * scale, 6.0, 44.0);
  const std::string k =
      tile.bk > 0 ? std::to_string(tile.bk) : std::string("K, none of it in shared memory");
  std::string says =
      fmt::format("A block computes {} x {} of C, a step takes {} of K", tile.bm, tile.bn, k);
  if (tile.wm > 0) says += fmt::format("; a warp {} x {}", tile.wm, tile.wn);
  says += fmt::format("; per thread {} x {}", tile.tm, tile.tn);
  std::string svg =
      open(static_cast<int>(kOrigin + kSide) + 12, static_cast<int>(kOrigin + h) + 26, says);
  const auto box = [&](const char* kind, double x, double y, double width, double height) {
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", kind,
        x, y, width, height);
  };
  box("strip", kOrigin - 8 - strip, kOrigin, strip, h);
  box("strip", kOrigin, kOrigin - 8 - strip, w, strip);
  box("block", kOrigin, kOrigin, w, h);
  if (tile.wm > 0 && tile.wn > 0) {
    for (int row = 0; row < tile.bm; row += tile.wm) {
      for (int column = 0; column < tile.bn; column += tile.wn)
        box("warp", kOrigin + column * scale, kOrigin + row * scale, tile.wn * scale,
            tile.wm * scale);
    }
  }
  box("thread", kOrigin, kOrigin, std::max(3.0, tile.tn * scale), std::max(3.0, tile.tm * scale));
  svg += text(0, kOrigin - 6, "small",
              fmt::format("A {}x{}", tile.bm, tile.bk > 0 ? std::to_string(tile.bk) : "K"));
  svg += text(kOrigin + w / 2, kOrigin - 14 - strip, "small middle",
              fmt::format("B {}x{}", tile.bk > 0 ? std::to_string(tile.bk) : "K", tile.bn));
  svg += text(
      kOrigin + w / 2, kOrigin + h + 16, "small middle",
      fmt::format("C {}x{}{}, per thread {}x{}", tile.bm, tile.bn,
                  tile.wm > 0 ? fmt::format(", a warp {}x{}", tile.wm, tile.wn) : std::string(),
                  tile.tm, tile.tn));
  return svg + "</svg>\n";
}

}  // namespace ladder::page
