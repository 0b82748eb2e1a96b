// SPDX-License-Identifier: Apache-2.0
// Measured plans of FP32 products: those on CUDA cores, and how precision auto computes. They
// replace the planner's for the same shape.
// `ladder tune --suite` writes them; LADDER_PLANS names the file that a process reads.
#pragma once
#include "gemm/plan/large_plan.hpp"
#include "gemm/plan/part_plan.hpp"

#include <ladder/problem.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ladder {

// ladder_large_tiles, or ladder_split_k with `small`.
struct SimtPlan {
  std::optional<LargePlan> large = std::nullopt;
  SmallPlan small{SmallKernel::kSplitK};
};

// The plans to choose from: `tiles` plans of each kernel of ladder_split_k, those of least
// predicted time first, and all plans of ladder_large_tiles. `p` is row-major.
std::vector<SimtPlan> simt_candidates(const Problem& p, const Alignment& at,
                                      const DeviceFacts& device, std::size_t tiles);

// How precision auto computes: on CUDA cores, or by a guarded product on tensor cores, with a
// pre-pass over both operands or with a fused split.
enum class AutoForm : unsigned char { kCudaCores, kPrepass, kFused };

class TunedPlans {
 public:
  // The process's. The first call reads the file that LADDER_PLANS names.
  static TunedPlans& of_process();
  // kIo, kInvalidArgument: why that file was not read.
  const Status& status() const { return status_; }

  std::optional<SimtPlan> find(const PartShape& shape, int sms) const;
  void set(const PartShape& shape, int sms, const SimtPlan& plan);
  std::optional<AutoForm> find_form(const PartShape& shape, int sms) const;
  void set_form(const PartShape& shape, int sms, AutoForm form);
  void erase(const PartShape& shape, int sms);  // both
  // Adds the plans of a file's text, or none. Errors: kInvalidArgument, with the line and the rule.
  Status add(std::string_view text);
  std::string text() const;

 private:
  using Key = std::pair<PartShape, int>;
  mutable std::mutex mutex_;
  std::map<Key, SimtPlan> plans_;
  std::map<Key, AutoForm> forms_;
  std::atomic<bool> any_ = false;
  Status status_;
};

}  // namespace ladder
