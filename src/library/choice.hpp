// SPDX-License-Identifier: Apache-2.0
// Which kernel a checked call takes, and what memory it needs.
#pragma once
#include "device/loan.hpp"
#include "gemm/plan/facts.hpp"
#include "library/checked.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

namespace ladder::api {

inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

struct Chosen {
  const KernelInfo* kernel = nullptr;  // null: the strided kernel, which takes a whole batch
  Precision precision = Precision::kIeee;
  // The product is written to memory of its own and the epilogue scales it: the kernels take alpha
  // and beta as values.
  bool is_apart = false;
  bool whole_batch = false;   // one launch of `kernel` computes all products
  std::string_view why;       // of the strided kernel
  MemoryNeed need;            // of one product, where it was asked for
  std::int64_t short_of = 0;  // bytes that a kernel chosen before this one lacked

  std::int64_t product_bytes(const Checked& x) const {
    return is_apart ? part_bytes(x.p.m * x.p.n * 4) : 0;
  }
  std::int64_t bytes(const Checked& x) const { return product_bytes(x) + bytes_of(need); }
};

// Chooses a kernel that does with `limit` bytes of workspace. `needs`: whether to find
// Chosen::need where the limit does not require it. Errors: LADDER_STATUS_NOT_SUPPORTED,
// LADDER_STATUS_WORKSPACE_TOO_SMALL.
Outcome choose(const ladder_context& handle, const Checked& x, std::int64_t limit, bool needs,
               Chosen& chosen);

// Errors: LADDER_STATUS_WORKSPACE_TOO_SMALL, where the kernel needs more than `limit` bytes.
Outcome check_limit(const KernelInfo& kernel, std::int64_t bytes, std::int64_t limit);

// What the planner needs to know of a handle's device to choose a kernel.
inline DeviceFacts facts_of(const Device& device) {
  return {.sms = device.sm_count, .cc = device.cc};
}

// The problem and operands of one product, as the kernel takes them; `apart` is for a product that
// is apart.
struct Product {
  Problem p;
  Operands o;
};
Product product_of(const Checked& x, const Chosen& chosen, std::int64_t number, float* apart);

}  // namespace ladder::api
