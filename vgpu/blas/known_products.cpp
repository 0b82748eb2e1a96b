// SPDX-License-Identifier: Apache-2.0
#include "blas/known_products.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "blas/elements.hpp"
#include "include/vgpu/vgpu.h"

namespace vgpu::blas {
namespace {

constexpr std::size_t kMostKnown = 4096;

struct Range {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
};

bool is_plain(const Operand& operand) {
  return operand.scale == nullptr && operand.scales == Scales::kOne && !operand.is_planar();
}

// Whether the result depends on A, B and the call's arguments alone.
bool may_be_known(const Product& p) {
  return p.epilogue.is_default() && p.epilogue.largest == nullptr && p.alphas == nullptr &&
         p.mantissa_bits == nullptr && !p.alpha.on_device() && !p.beta.on_device() &&
         p.beta.value<std::complex<double>>() == 0.0 && is_plain(p.a) && is_plain(p.b) &&
         is_plain(p.c) && is_plain(p.d);
}

// What all that the call is given has in common with an equal call.
std::string key_of(const Product& p) {
  std::string key;
  const auto add = [&](const auto&... values) {
    (key.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  };
  add(p.op_a, p.op_b, p.m, p.n, p.k, p.batch, p.compute, p.scale_type);
  const auto alpha = p.alpha.value<std::complex<double>>();
  add(alpha);
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
    return {first + std::min<std::int64_t>(0, last), first + std::max<std::int64_t>(0, last) + size};
  }
  const auto* const entries = static_cast<const char* const*>(operand.data);
  const auto [least, greatest] = std::minmax_element(entries, entries + batch);
  return {*least, *greatest + size};
}

// All memory that the product reads or writes; none if it writes what it reads.
std::vector<Range> ranges_of(const Product& p) {
  const Range a = range_of({p.a, p.op_a, p.m, p.k}, p.batch),
              b = range_of({p.b, p.op_b, p.k, p.n}, p.batch),
              d = range_of({p.d, CUBLAS_OP_N, p.m, p.n}, p.batch);
  std::vector<Range> ranges{a, b};
  for (const Operand* operand : {&p.a, &p.b, &p.d}) {
    const auto* const data = static_cast<const char*>(operand->data);
    if (operand->is_array) ranges.push_back({data, data + p.batch * std::int64_t{sizeof(void*)}});
  }
  if (std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) { return r.overlaps(d); }))
    return {};
  ranges.push_back(d);
  return ranges;
}

std::mutex& mutex() {
  static std::mutex all;
  return all;
}
// When the result was computed, by the call's key.
std::map<std::string, std::size_t>& computed() {
  static auto* const all = new std::map<std::string, std::size_t>;
  return *all;
}

}  // namespace

bool is_computed(const Product& product) {
  if (!may_be_known(product)) return false;
  const std::scoped_lock lock(mutex());
  const auto known = computed().find(key_of(product));
  if (known == computed().end()) return false;
  const std::vector<Range> ranges = ranges_of(product);
  const bool same = !ranges.empty() &&
                    std::none_of(ranges.begin(), ranges.end(), [&](const Range& range) {
                      return vgpuMayHaveChanged(known->second, range.begin,
                                                static_cast<std::size_t>(range.end - range.begin));
                    });
  if (same) vgpuWrittenIsMarked();
  return same;
}

void note_computed(const Product& product) {
  if (!may_be_known(product)) return;
  const std::scoped_lock lock(mutex());
  if (computed().size() == kMostKnown) computed().clear();
  computed()[key_of(product)] = vgpuWrittenIsMarked();
}

}  // namespace vgpu::blas
