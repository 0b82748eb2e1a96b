// SPDX-License-Identifier: Apache-2.0
#include "host/tuned.hpp"

#include <algorithm>

#include "host/limits.hpp"

namespace ladder::host {
namespace {

struct Entry {
  const char* cpu;
  std::int64_t l1, l2;
  Blocks blocks;
};
constexpr std::int64_t kLeastDepth = 64;  // way_for() relies on this minimum

// One empty entry more, since an array cannot be empty.
constexpr Entry kEntries[] = {
#include "tuned_blocks.inc"
    {"", 0, 0, {}}};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

const std::string& cpu_name() {
  static const std::string name = processor_name().value_or("CPU");
  return name;
}

std::optional<Blocks> tuned_blocks(const std::string& cpu, const CacheSizes& caches, Shape tile) {
  for (const Entry& entry : kEntries) {
    const Blocks& b = entry.blocks;
    if (entry.cpu != cpu || entry.l1 != caches.l1 || entry.l2 != caches.l2) continue;
    if (b.rows <= 0 || b.cols <= 0 || b.depth < kLeastDepth) continue;
    if (b.rows % tile.rows == 0 && b.cols % tile.cols == 0) return b;
  }
  return std::nullopt;
}

std::vector<Blocks> block_candidates(const CacheSizes& caches, Shape tile) {
  constexpr std::int64_t kFloat = sizeof(float);
  std::vector<Blocks> out;
  for (const std::int64_t depth : {256, 320, 384, 448, 512, 640, 768}) {
    for (const std::int64_t eighths : {1, 2, 3, 4, 5}) {
      const std::int64_t cols = caches.l2 * eighths / 8 / (depth * kFloat) / tile.cols * tile.cols;
      for (const std::int64_t rows : {512, 1024, 2048}) {
        if (cols > 0) out.push_back({rows / tile.rows * tile.rows, cols, depth});
      }
    }
  }
  return out;
}

std::vector<BlockTrial> search_blocks(const Blocks& first, const std::vector<Blocks>& others,
                                      const std::function<double(const Blocks&)>& seconds,
                                      double budget_s) {
  constexpr std::size_t kFinalists = 3;  // including the first candidate
  struct Candidate {
    Blocks blocks;
    std::vector<double> samples;
  };
  std::vector<Candidate> left{{first, {}}};
  left.reserve(1 + others.size());
  for (const Blocks& blocks : others) left.push_back({blocks, {}});
  int stages = 1;
  for (std::size_t n = left.size(); n > kFinalists; n = (n + 1) / 2) ++stages;
  for (double spent = 0; stages > 0; --stages) {
    const double until = spent + (budget_s - spent) / stages;
    do {
      for (Candidate& one : left) {
        one.samples.push_back(seconds(one.blocks));
        spent += one.samples.back();
      }
    } while (spent < until);
    std::sort(left.begin() + 1, left.end(), [](const Candidate& x, const Candidate& y) {
      return median(x.samples) < median(y.samples);
    });
    if (stages > 1 && left.size() > kFinalists)
      left.resize(std::max(kFinalists, (left.size() + 1) / 2));
  }
  std::vector<BlockTrial> out;
  out.reserve(left.size());
  for (const Candidate& one : left)
    out.push_back({one.blocks, median(one.samples), static_cast<int>(one.samples.size())});
  // The first candidate is compared only with the best, not sorted among the others.
  if (out.size() > 1 && out[1].seconds < out[0].seconds)
    std::rotate(out.begin(), out.begin() + 1, out.end());
  return out;
}

}  // namespace ladder::host
