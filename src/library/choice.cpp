// SPDX-License-Identifier: Apache-2.0
#include "library/choice.hpp"

#include <ladder/registry.hpp>
#include <ladder/sgemm.hpp>

#include <algorithm>
#include <string>

#include "gemm/plan/choice.hpp"

namespace ladder::api {
namespace {

constexpr std::string_view kStrided = "ladder_strided";
// A batch of products that each have few tiles is one launch of the strided kernel.
constexpr std::int64_t kFewProducts = 4, kSmallC = 512 * 512;

// Whether one launch of ladder_split_k computes the batch.
bool is_one_launch(const ladder_context& handle, const Checked& x) {
  return x.a.of == nullptr && x.by.g_alpha == nullptr &&
         gains_by_one_launch(x.p, x.count, x.precision, facts_of(handle.device));
}

// Why the call takes the strided kernel, whatever the memory; null: it need not.
const char* reason_for_strided(const Checked& x, bool one_launch) {
  if (!x.reads() || x.is_empty()) return "C is scaled only";
  if (x.batch_invariant)
    return "flags: only ladder_strided adds in the same order whatever m, n and the batch are";
  if (x.arrays_on_device) return "a_pointers: only ladder_strided reads pointers on the device";
  const bool fp32 = x.precision == Precision::kIeee || x.precision == Precision::kAuto;
  if (fp32 && !one_launch && x.count >= kFewProducts && x.p.m * x.p.n <= kSmallC)
    return "batch_count: one launch computes all of these small products";
  return nullptr;
}

// What the products of the batch need: the maximum, since alignments differ. They repeat after as
// many products as a part has elements.
MemoryNeed need_of(const Checked& x, const Chosen& chosen) {
  constexpr std::int64_t kElements = kPartBytes / 4;
  const bool alike = x.a.of == nullptr && x.a.stride % kElements == 0 &&
                     x.b.stride % kElements == 0 && x.c.stride % kElements == 0;
  const std::int64_t products = x.a.of != nullptr ? x.count
                                : alike           ? 1
                                                  : std::min(x.count, kElements);
  MemoryNeed most;
  for (std::int64_t i = 0; i < products; ++i) {
    MemoryNeed asked;
    const Loan loan(asked);
    // An aligned address stands for the product's, which is not known yet.
    auto* const apart = reinterpret_cast<float*>(static_cast<std::uintptr_t>(kPartBytes));
    const auto [p, o] = product_of(x, chosen, i, apart);
    static_cast<void>(chosen.kernel->launch(p, o, nullptr));
    most.scratch = std::max(most.scratch, asked.scratch);
    most.flags = std::max(most.flags, asked.flags);
  }
  return most;
}

Outcome refused(const Checked& x, const std::string& why) {
  return {LADDER_STATUS_NOT_SUPPORTED, std::string("precision: ") + to_string(x.precision) +
                                           " cannot compute this call: " + why};
}

}  // namespace

Outcome check_limit(const KernelInfo& kernel, std::int64_t bytes, std::int64_t limit) {
  if (bytes <= limit) return {};
  return {LADDER_STATUS_WORKSPACE_TOO_SMALL,
          "workspace: " + std::string(kernel.id) + " needs " + std::to_string(bytes) +
              " bytes, ladder_set_workspace() gave " + std::to_string(limit)};
}

Product product_of(const Checked& x, const Chosen& chosen, std::int64_t number, float* apart) {
  Product product{x.p, x.operands(number)};
  if (!chosen.is_apart) return product;
  product.p.alpha = 1.0F;
  product.p.beta = 0.0F;
  product.p.ldc = x.p.n;
  product.o.c = apart;
  return product;
}

Outcome choose(const ladder_context& handle, const Checked& x, std::int64_t limit, bool needs,
               Chosen& chosen) {
  const bool fp32 = x.precision == Precision::kIeee || x.precision == Precision::kAuto;
  const bool one_launch = is_one_launch(handle, x);
  if (const char* const why = reason_for_strided(x, one_launch)) {
    const bool scales = !x.reads() || x.is_empty();
    if (!fp32 && !scales) return refused(x, std::string(why) + ", in IEEE and AUTO alone");
    chosen = {};
    chosen.why = why;
    return {};
  }
  if (one_launch) {
    if (const auto kernel = find_kernels("ladder_split_k")) {  // not without LADDER_SM_90A
      chosen = {};
      chosen.kernel = kernel.value().front();
      chosen.whole_batch = true;
      chosen.why = "batch_count: one launch computes all products";
      return {};
    }
  }
  std::int64_t lacked = 0;
  for (Precision precision : {x.precision, Precision::kIeee}) {
    const auto kernel = select(x.p, Place::kCuda, precision, handle.device);
    if (!kernel) {
      if (fp32) break;
      return refused(x, kernel.status().message());
    }
    chosen = {};
    if (kernel.value()->id == kStrided) {
      chosen.why = choose_kernel(x.p, x.precision, facts_of(handle.device)).why;
      chosen.short_of = lacked;
      return {};
    }
    chosen.kernel = kernel.value();
    chosen.precision = chosen.kernel->precision;
    chosen.is_apart = x.by.g_alpha != nullptr;
    chosen.short_of = lacked;
    if (needs || limit != kUnlimited) chosen.need = need_of(x, chosen);
    const std::int64_t bytes = chosen.bytes(x);
    Outcome o = check_limit(*chosen.kernel, bytes, limit);
    if (o || !fp32) return o;
    lacked = bytes;
  }
  chosen = {};
  chosen.short_of = lacked;
  chosen.why = "workspace: it needs none";
  return {};
}

}  // namespace ladder::api
