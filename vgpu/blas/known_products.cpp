// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "blas/elements.hpp"
#include "include/vgpu/vgpu.h"

namespace vgpu::blas {
namespace {

constexpr std::size_t kMostKnown = 4096;
constexpr std::size_t kMostBytes = std::size_t{1} << 28;  // of all sums that are kept

struct Range {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
};

bool is_plain(const Operand& operand) {
  return operand.scale == nullptr && operand.scales == Scales::kOne && !operand.is_planar();
}

// Whether A, B, C and the call's arguments are all that the result depends on, and D is all that is
// written.
bool may_be_known(const Product& p) {
  return p.epilogue.is_default() && p.epilogue.largest == nullptr && p.alphas == nullptr &&
         p.mantissa_bits == nullptr && !p.alpha.on_device() && !p.beta.on_device() &&
         is_plain(p.a) && is_plain(p.b) && is_plain(p.c) && is_plain(p.d);
}

bool reads_c(const Product& p) { return p.beta.value<std::complex<double>>() != 0.0; }

// A key that is equal for calls with equal arguments.
std::string key_of(const Product& p) {
  std::string key;
  const auto add = [&](const auto&... values) {
    (key.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  };
  add(p.op_a, p.op_b, p.m, p.n, p.k, p.batch, p.compute, p.scale_type);
  const auto alpha = p.alpha.value<std::complex<double>>(),
             beta = p.beta.value<std::complex<double>>();
  add(alpha, beta);
  for (const Operand* operand : {&p.a, &p.b, &p.d}) {
    add(operand->data, operand->type, operand->ld, operand->stride, operand->is_array,
        operand->row_major);
  }
  return key;
}

// The memory that all entries of the batch are in.
Range range_of(const View& view, std::int64_t batch) {
  const Operand& operand = view.operand;
  const auto bytes = static_cast<std::int64_t>(bytes_of(operand.type));
  const std::int64_t size = view.elements() * bytes;
  const auto* const first = static_cast<const char*>(operand.data);
  if (!operand.is_array) {
    const std::int64_t last = (batch - 1) * operand.stride * bytes;
    return {first + std::min<std::int64_t>(0, last),
            first + std::max<std::int64_t>(0, last) + size};
  }
  const auto* const entries = static_cast<const char* const*>(operand.data);
  const auto [least, greatest] = std::minmax_element(entries, entries + batch);
  return {*least, *greatest + size};
}

// The memory that A and B are in. None if D is in it, too.
std::vector<Range> operands_of(const Product& p, const Range& d) {
  std::vector<Range> ranges{range_of({p.a, p.op_a, p.m, p.k}, p.batch),
                            range_of({p.b, p.op_b, p.k, p.n}, p.batch)};
  for (const Operand* operand : {&p.a, &p.b, &p.d}) {
    const auto* const data = static_cast<const char*>(operand->data);
    if (operand->is_array) ranges.push_back({data, data + p.batch * std::int64_t{sizeof(void*)}});
  }
  if (std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) { return r.overlaps(d); }))
    return {};
  return ranges;
}

struct Known {
  std::size_t moment = 0;  // when it was computed
  std::shared_ptr<const void> sums;
  std::size_t bytes = 0;  // of the sums
};

class KnownProducts {
 public:
  static KnownProducts& get() {
    static auto* const all = new KnownProducts;
    return *all;
  }

  // Whether an equal product was computed, and its operands (`result`: and its result) have not
  // changed since.
  bool holds(const Product& p, bool result) {
    const auto known = all_.find(key_of(p));
    if (known == all_.end()) return false;
    const Range d = range_of({p.d, CUBLAS_OP_N, p.m, p.n}, p.batch);
    const std::vector<Range> operands = operands_of(p, d);
    const auto has_changed = [&](const Range& range) {
      return vgpuMayHaveChanged(known->second.moment, range.begin,
                                static_cast<std::size_t>(range.end - range.begin)) != 0;
    };
    return !operands.empty() && std::none_of(operands.begin(), operands.end(), has_changed) &&
           !(result && has_changed(d));
  }
  Known& operator[](const Product& p) {
    if (all_.size() == kMostKnown) {
      all_.clear();
      bytes_ = 0;
    }
    return all_[key_of(p)];
  }
  void keep(Known& known, std::shared_ptr<const void> sums, std::size_t bytes) {
    bytes_ -= known.bytes;
    known.bytes = bytes_ + bytes <= kMostBytes ? bytes : 0;
    known.sums = known.bytes != 0 ? std::move(sums) : nullptr;
    bytes_ += known.bytes;
  }

  std::mutex mutex;

 private:
  std::map<std::string, Known> all_;
  std::size_t bytes_ = 0;  // of all sums
};

}  // namespace

bool is_computed(const Product& product) {
  if (!may_be_known(product) || reads_c(product)) return false;
  KnownProducts& known = KnownProducts::get();
  const std::scoped_lock lock(known.mutex);
  if (!known.holds(product, true)) return false;
  vgpuWrittenIsMarked();
  return true;
}

void note_computed(const Product& product) {
  if (!may_be_known(product)) return;
  KnownProducts& known = KnownProducts::get();
  const std::scoped_lock lock(known.mutex);
  known[product].moment = vgpuWrittenIsMarked();
}

KnownSums known_sums(const Product& product) {
  if (!may_be_known(product) || !reads_c(product) || product.batch != 1) return {};
  KnownProducts& known = KnownProducts::get();
  const std::scoped_lock lock(known.mutex);
  if (known.holds(product, false)) return {true, known[product].sums};
  known.keep(known[product], nullptr, 0);
  return {};
}

void keep_sums(const Product& product, std::shared_ptr<const void> sums, std::size_t bytes) {
  KnownProducts& known = KnownProducts::get();
  const std::scoped_lock lock(known.mutex);
  known.keep(known[product], std::move(sums), bytes);
}

}  // namespace vgpu::blas
