// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/tuned_plans.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gemm/plan/costs.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/plan/part_tiles.hpp"
#include "gemm/plan/thin_plan.hpp"

namespace ladder {
namespace {

constexpr std::string_view kRule =
    "is not 'M N K OPS ALIGNED SMS outer', '... large TILE straight|swapped none|equal|all "
    "as-is|packed', '... "
    "thin|direct straight|swapped LANES COLUMNS K-SPLITS' or '... tiles TILE straight|swapped "
    "CLUSTER K-SPLITS'";

constexpr std::array<std::string_view, 3> kShares{"none", "equal", "all"};
constexpr std::array<std::string_view, 2> kPacked{"as-is", "packed"};

// "64x64x16/128/4": rows, columns, k; threads; warps along k; then the forms of operands.
std::string name_of(const PartTileCost& t) {
  std::ostringstream name;
  name << t.bm << 'x' << t.bn << 'x' << t.bk << '/' << t.threads << '/' << t.wk
       << (t.k_major ? "k" : "");
  return name.str();
}

std::string name_of(const TileShape& t) { return std::to_string(t.m) + "x" + std::to_string(t.n); }

// The words of a plan of large tiles.
std::array<std::string, 4> words_of(const LargePlan& plan) {
  return {name_of(kLargeTiles[plan.tile]), plan.swapped ? "swapped" : "straight",
          std::string(kShares[static_cast<std::size_t>(plan.shares)]),
          std::string(kPacked[plan.packs])};
}

std::string ops_of(const PartShape& x) {
  return {x.a_k_major ? 'N' : 'T', x.b_k_major ? 'T' : 'N'};
}
std::string aligned_of(const PartShape& x) {
  return std::string(x.a_aligned ? "4" : "1") + (x.b_aligned ? "4" : "1");
}

void put(std::ostream& to, const PartShape& x, int sms, const SimtPlan& plan) {
  to << x.rows << ' ' << x.cols << ' ' << x.k << ' ' << ops_of(x) << ' ' << aligned_of(x) << ' '
     << sms << ' ';
  const PartPlan& part = plan.small.sided.part;
  const ThinPlan& thin = plan.small.thin;
  const auto side = [](bool swapped) { return swapped ? "swapped " : "straight "; };
  if (plan.large) {
    to << "large";
    for (const std::string& word : words_of(*plan.large)) to << ' ' << word;
    to << '\n';
  } else if (plan.small.kernel == SmallKernel::kSplitK) {
    to << "tiles " << name_of(kPartTiles[static_cast<std::size_t>(part.tile)]) << ' '
       << side(plan.small.sided.swapped) << part.cluster << ' ' << part.parts << '\n';
  } else if (plan.small.kernel == SmallKernel::kThin) {
    to << (thin.direct ? "direct " : "thin ") << side(plan.small.sided.swapped) << (1 << thin.lanes)
       << ' ' << thin.columns << ' ' << thin.parts << '\n';
  } else {
    to << "outer\n";
  }
}

// Whether the planner considers this plan for the shape. It considers all that a kernel can run.
bool is_possible(const PartShape& x, int sms, const SimtPlan& plan) {
  const PartShape side = plan.small.sided.swapped ? swapped(x) : x;
  bool found = false;
  if (plan.small.kernel == SmallKernel::kThin) {
    each_thin_plan(side, sms, [&](const ThinPlan& other) { found |= other == plan.small.thin; });
  } else {
    each_part_plan(side, kPartTiles, sms,
                   [&](const PartPlan& other) { found |= other == plan.small.sided.part; });
  }
  return found;
}

// The planner's plan of large tiles with these words. False if it considers none.
bool find_large(const PartShape& x, int sms, const std::array<std::string, 4>& words,
                SimtPlan& plan) {
  const auto op = [](bool transposed) { return transposed ? Op::kTranspose : Op::kNone; };
  Problem p = make_problem(x.rows, x.cols, x.k, 1, 0, op(!x.a_k_major), op(x.b_k_major));
  const Alignment at{x.a_aligned ? 16 : 4, x.b_aligned ? 16 : 4};
  each_large_plan(p, at, sms, [&](const LargePlan& other) {
    if (words_of(other) == words) plan.large = other;
  });
  return plan.large.has_value();
}

bool parse_line(std::istringstream& from, PartShape& x, int& sms, SimtPlan& plan) {
  std::string ops, aligned, kernel, tile, side, shares, packed;
  if (!(from >> x.rows >> x.cols >> x.k >> ops >> aligned >> sms >> kernel)) return false;
  x.a_k_major = ops.starts_with('N');
  x.b_k_major = ops.ends_with('T');
  x.a_aligned = aligned.starts_with('4');
  x.b_aligned = aligned.size() > 1 && aligned[1] == '4';
  if (std::min({x.rows, x.cols, x.k}) < 1 || sms < 1 || ops != ops_of(x) ||
      aligned != aligned_of(x))
    return false;
  plan = {};
  if (kernel == "large") {
    return (from >> tile >> side >> shares >> packed) && (from >> std::ws).eof() &&
           find_large(x, sms, {tile, side, shares, packed}, plan);
  }
  if (kernel == "outer") {
    plan.small = {SmallKernel::kOuterProduct, {{}, x.rows > x.cols}};
  } else {
    if (kernel == "tiles") from >> tile;
    if (!(from >> side) || (side != "straight" && side != "swapped")) return false;
    plan.small.sided.swapped = side == "swapped";
    PartPlan& part = plan.small.sided.part;
    ThinPlan& thin = plan.small.thin;
    if (kernel == "thin" || kernel == "direct") {
      thin.direct = kernel == "direct";
      int lanes = 0;
      if (!(from >> lanes >> thin.columns >> thin.parts) || lanes < 1) return false;
      plan.small.kernel = SmallKernel::kThin;
      thin.along_k = plan.small.sided.swapped ? x.a_k_major : x.b_k_major;
      while (1 << thin.lanes < lanes && thin.lanes < kMostThinLanes) ++thin.lanes;
      if (1 << thin.lanes != lanes) return false;
    } else {
      const auto* const at =
          std::find_if(kPartTiles.begin(), kPartTiles.end(),
                       [&](const PartTileCost& t) { return name_of(t) == tile; });
      if (at == kPartTiles.end() || !(from >> part.cluster >> part.parts)) return false;
      part.tile = static_cast<int>(at - kPartTiles.begin());
    }
    if (!is_possible(x, sms, plan)) return false;
  }
  return (from >> std::ws).eof();
}

}  // namespace

std::vector<SimtPlan> simt_candidates(const Problem& p, const Alignment& at,
                                      const DeviceFacts& device, std::size_t tiles) {
  const PartShape x = part_shape(p, at);
  std::vector<SimtPlan> parts;
  for (const bool is_swapped : {false, true}) {
    each_part_plan(is_swapped ? swapped(x) : x, kPartTiles, device.sms, [&](const PartPlan& part) {
      parts.push_back({std::nullopt, {SmallKernel::kSplitK, {part, is_swapped}}});
    });
  }
  const auto keep_fastest = [&](auto& all, auto cycles) {
    std::sort(all.begin(), all.end(),
              [&](const auto& one, const auto& other) { return cycles(one) < cycles(other); });
    if (all.size() > tiles) all.resize(tiles);
  };
  keep_fastest(parts, [](const SimtPlan& plan) { return plan.small.sided.part.cycles; });
  std::vector<SimtPlan> thin;
  for (const bool is_swapped : {false, true}) {
    each_thin_plan(is_swapped ? swapped(x) : x, device.sms, [&](const ThinPlan& plan) {
      thin.push_back({std::nullopt, {SmallKernel::kThin, {{}, is_swapped}, plan}});
    });
  }
  keep_fastest(thin, [](const SimtPlan& plan) { return plan.small.thin.cycles; });
  parts.insert(parts.end(), thin.begin(), thin.end());
  if (x.k <= limit::outer_k)
    parts.push_back({std::nullopt, {SmallKernel::kOuterProduct, {{}, p.m > p.n}}});
  each_large_plan(p, at, device.sms, [&](const LargePlan& plan) { parts.push_back({plan}); });
  return parts;
}

TunedPlans& TunedPlans::of_process() {
  static TunedPlans* const plans = [] {
    auto* const made = new TunedPlans;  // never destroyed: calls may come from other destructors
    const char* const path = std::getenv("LADDER_PLANS");
    if (path == nullptr || *path == '\0') return made;
    std::ifstream file(path);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
      made->status_ = {Code::kIo, std::string("LADDER_PLANS: cannot read ") + path};
    } else if (const Status added = made->add(text.str()); !added) {
      made->status_ = {added.code(), std::string("LADDER_PLANS: ") + path + ": " + added.message()};
    }
    return made;
  }();
  return *plans;
}

std::optional<SimtPlan> TunedPlans::find(const PartShape& shape, int sms) const {
  if (!any_.load(std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto at = plans_.find({shape, sms});
  if (at == plans_.end()) return std::nullopt;
  return at->second;
}

void TunedPlans::set(const PartShape& shape, int sms, const SimtPlan& plan) {
  const std::lock_guard lock(mutex_);
  plans_.insert_or_assign({shape, sms}, plan);
  any_.store(true, std::memory_order_release);
}

void TunedPlans::erase(const PartShape& shape, int sms) {
  const std::lock_guard lock(mutex_);
  plans_.erase({shape, sms});
}

Status TunedPlans::add(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  std::vector<std::pair<Key, SimtPlan>> read;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream from(line);
    Key key;
    SimtPlan plan;
    if (!parse_line(from, key.first, key.second, plan)) {
      return {Code::kInvalidArgument, "line " + std::to_string(number) + ": '" + line + "' " +
                                          std::string(kRule) +
                                          ", or no kernel computes the shape so"};
    }
    read.emplace_back(key, plan);
  }
  for (const auto& [key, plan] : read) set(key.first, key.second, plan);
  return Status::ok();
}

std::string TunedPlans::text() const {
  const std::lock_guard lock(mutex_);
  std::ostringstream to;
  to << "# M N K OPS ALIGNED SMS KERNEL; KERNEL: outer, large TILE straight|swapped "
        "none|equal|all as-is|packed, thin|direct straight|swapped LANES COLUMNS K-SPLITS, or "
        "tiles TILE "
        "straight|swapped CLUSTER K-SPLITS\n";
  for (const auto& [key, plan] : plans_) put(to, key.first, key.second, plan);
  return to.str();
}

}  // namespace ladder
