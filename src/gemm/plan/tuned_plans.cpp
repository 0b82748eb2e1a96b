// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/tuned_plans.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <variant>

#include "gemm/plan/costs.hpp"
#include "gemm/plan/part_plan.hpp"

namespace ladder {
namespace {

constexpr std::string_view kForm =
    "M N K OPS ALIGNED SMS KERNEL; KERNEL: outer, large TILE whole|shared [packed], "
    "thin|direct|dots straight|swapped LANES OUTPUTS K-SPLITS, "
    "tiles TILE straight|swapped CLUSTER K-SPLITS, or auto cuda-cores|pre-pass|fused";
constexpr std::string_view kForms[] = {"auto cuda-cores", "auto pre-pass", "auto fused"};

std::string_view text_of(AutoForm form) { return kForms[static_cast<std::size_t>(form)]; }

std::string ops_of(const PartShape& x) {
  return {x.a_k_major ? 'N' : 'T', x.b_k_major ? 'T' : 'N'};
}
std::string aligned_of(const PartShape& x) {
  return std::string(x.a_aligned ? "4" : "1") + (x.b_aligned ? "4" : "1");
}

std::string text_of(const SimtPlan& plan) {
  std::ostringstream to;
  const char* const side = plan.small.sided.swapped ? " swapped " : " straight ";
  if (plan.large) {
    const LargeTileCost& t = plan.large->shape();
    to << "large " << t.m << 'x' << t.n << (plan.large->shares ? " shared" : " whole")
       << (plan.large->packs ? " packed" : "");
  } else if (plan.small.kernel == SmallKernel::kOuterProduct) {
    to << "outer";
  } else if (plan.small.kernel == SmallKernel::kSplitK) {
    // TILE is "64x64x16/128/4k": rows, columns, k; threads; warps along k; k: A must be K-major.
    const PartPlan& part = plan.small.sided.part;
    const PartTileCost& t = kPartTiles[static_cast<std::size_t>(part.tile)];
    to << "tiles " << t.bm << 'x' << t.bn << 'x' << t.bk << '/' << t.threads << '/' << t.wk
       << (t.k_major ? "k" : "") << side << part.cluster << ' ' << part.parts;
  } else {
    const ThinPlan& thin = plan.small.thin;
    to << kThinNames[static_cast<std::size_t>(thin.kind)] << side << (1 << thin.lanes) << ' '
       << thin.outputs << ' ' << thin.parts;
  }
  return to.str();
}

// All plans that a kernel can run: `most` of the tiles and of the thin ones, those of least
// predicted time first.
std::vector<SimtPlan> plans_of(const PartShape& x, int sms, std::size_t most) {
  std::vector<SimtPlan> plans, thin;
  for (const bool is_swapped : {false, true}) {
    const PartShape side = is_swapped ? swapped(x) : x;
    each_part_plan(side, sms, [&](const PartPlan& part) {
      plans.push_back({std::nullopt, {SmallKernel::kSplitK, {part, is_swapped}}});
    });
    each_thin_plan(side, sms, [&](const ThinPlan& plan) {
      thin.push_back({std::nullopt, {SmallKernel::kThin, {{}, is_swapped}, plan}});
    });
  }
  const auto keep_fastest = [&](std::vector<SimtPlan>& all) {
    std::ranges::sort(all, {}, [](const SimtPlan& plan) { return plan.small.cycles(); });
    if (all.size() > most) all.resize(most);
  };
  keep_fastest(plans);
  keep_fastest(thin);
  plans.insert(plans.end(), thin.begin(), thin.end());
  if (x.k <= limit::outer_k)
    plans.push_back({std::nullopt, {SmallKernel::kOuterProduct, {{}, x.rows > x.cols}}});
  const auto op = [](bool transposed) { return transposed ? Op::kTranspose : Op::kNone; };
  each_large_plan(make_problem(x.rows, x.cols, x.k, 1, 0, op(!x.a_k_major), op(x.b_k_major)),
                  {x.a_aligned ? 16 : 4, x.b_aligned ? 16 : 4}, sms,
                  [&](const LargePlan& plan) { plans.push_back({plan}); });
  return plans;
}

// A plan is read by comparison with the text of each that is possible.
bool parse_line(std::istringstream& from, PartShape& x, int& sms,
                std::variant<SimtPlan, AutoForm>& plan) {
  std::string ops, aligned, word, text;
  if (!(from >> x.rows >> x.cols >> x.k >> ops >> aligned >> sms >> text)) return false;
  while (from >> word) text += ' ' + word;
  x.a_k_major = ops.starts_with('N');
  x.b_k_major = ops.ends_with('T');
  x.a_aligned = aligned.starts_with('4');
  x.b_aligned = aligned.size() > 1 && aligned[1] == '4';
  if (std::min({x.rows, x.cols, x.k}) < 1 || sms < 1 || ops != ops_of(x) ||
      aligned != aligned_of(x))
    return false;
  if (const auto* const form = std::ranges::find(kForms, text); form != std::end(kForms)) {
    plan = static_cast<AutoForm>(form - kForms);
    return true;
  }
  const std::vector<SimtPlan> plans = plans_of(x, sms, std::numeric_limits<std::size_t>::max());
  const auto at = std::ranges::find(plans, text, [](const SimtPlan& of) { return text_of(of); });
  if (at == plans.end()) return false;
  plan = *at;
  return true;
}

}  // namespace

std::vector<SimtPlan> simt_candidates(const Problem& p, const Alignment& at,
                                      const DeviceFacts& device, std::size_t tiles) {
  return plans_of(part_shape(p, at), device.sms, tiles);
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

std::optional<AutoForm> TunedPlans::find_form(const PartShape& shape, int sms) const {
  if (!any_.load(std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto at = forms_.find({shape, sms});
  if (at == forms_.end()) return std::nullopt;
  return at->second;
}

void TunedPlans::set_form(const PartShape& shape, int sms, AutoForm form) {
  const std::lock_guard lock(mutex_);
  forms_.insert_or_assign({shape, sms}, form);
  any_.store(true, std::memory_order_release);
}

void TunedPlans::erase(const PartShape& shape, int sms) {
  const std::lock_guard lock(mutex_);
  plans_.erase({shape, sms});
  forms_.erase({shape, sms});
}

Status TunedPlans::add(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  std::vector<std::pair<Key, std::variant<SimtPlan, AutoForm>>> read;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream from(line);
    Key key;
    std::variant<SimtPlan, AutoForm> plan;
    if (!parse_line(from, key.first, key.second, plan)) {
      return {Code::kInvalidArgument, "line " + std::to_string(number) + ": '" + line +
                                          "' is not '" + std::string(kForm) +
                                          "', or no kernel computes the shape so"};
    }
    read.emplace_back(key, plan);
  }
  for (const auto& [key, plan] : read) {
    if (const auto* const form = std::get_if<AutoForm>(&plan))
      set_form(key.first, key.second, *form);
    else
      set(key.first, key.second, std::get<SimtPlan>(plan));
  }
  return Status::ok();
}

std::string TunedPlans::text() const {
  const std::lock_guard lock(mutex_);
  std::ostringstream to;
  to << "# " << kForm << '\n';
  const auto put = [&](const auto& all) {
    for (const auto& [key, plan] : all) {
      const auto& [x, sms] = key;
      to << x.rows << ' ' << x.cols << ' ' << x.k << ' ' << ops_of(x) << ' ' << aligned_of(x) << ' '
         << sms << ' ' << text_of(plan) << '\n';
    }
  };
  put(plans_);
  put(forms_);
  return to.str();
}

}  // namespace ladder
