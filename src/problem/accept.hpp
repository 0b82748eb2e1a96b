// SPDX-License-Identifier: Apache-2.0
// Reasons for refusing a problem that several kernels share.
#pragma once
#include <ladder/kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace ladder {

inline Status accept_row_major_nn(const Problem& p) {
  if (p.layout == Layout::kRowMajor && p.op_a == Op::kNone && p.op_b == Op::kNone)
    return Status::ok();
  return {Code::kUnsupportedProblem,
          "takes row-major operands without transposition, not " + to_string(p)};
}

inline Status accept_map_extents(const Problem& p) {
  constexpr std::int64_t kMostExtent = std::int64_t{1} << 30, kLeadingEnd = std::int64_t{1} << 38;
  if (std::max({p.m, p.n, p.k}) <= kMostExtent && std::max({p.lda, p.ldb, p.ldc}) < kLeadingEnd)
    return Status::ok();
  return {Code::kUnsupportedProblem,
          "takes sizes of at most 2^30 and leading dimensions below 2^38, not " + to_string(p)};
}

// For kernels that read their operands through tensor maps.
inline Status accept_for_tensor_maps(const Problem& p) {
  if (Status s = accept_row_major_nn(p); !s) return s;
  return accept_map_extents(p);
}

// The same with B stored along k, the only order in which tensor cores read bytes.
inline Status accept_k_major(const Problem& p) {
  if (p.layout == Layout::kRowMajor && p.op_a == Op::kNone && p.op_b == Op::kTranspose)
    return accept_map_extents(p);
  return {Code::kUnsupportedProblem,
          "takes row-major operands with B transposed, not " + to_string(p)};
}

inline Status accept_cuda(const Device& device, int min_cc) {
  if (!device.has_cuda) return {Code::kUnsupportedDevice, "needs a CUDA device, real or virtual"};
  if (device.cc >= min_cc) return Status::ok();
  return {Code::kUnsupportedDevice, "needs compute capability " + std::to_string(min_cc / 10) +
                                        "." + std::to_string(min_cc % 10) + ", " + device.name +
                                        " has " + std::to_string(device.cc / 10) + "." +
                                        std::to_string(device.cc % 10)};
}

// Kernels on CUDA cores are built as PTX for Turing and later. The others are the first GPUs with
// cp.async, bf16 and tf32, and with TMA.
constexpr int kMinCc = 75, kAmpere = 80, kHopper = 90;

// For kernels with instructions of sm_90a, which no later GPU has.
inline Status accept_hopper(const Device& device) {
  if (Status s = accept_cuda(device, kHopper); !s) return s;
  if (device.cc == kHopper) return Status::ok();
  return {Code::kUnsupportedDevice, "needs instructions of compute capability 9.0 alone, " +
                                        device.name + " has " + std::to_string(device.cc / 10) +
                                        "." + std::to_string(device.cc % 10)};
}

// For the library's products on Hopper's tensor cores that do not split their operands.
inline Status accept_tensor(const Problem& p, const Device& device) {
  if (Status s = accept_hopper(device); !s) return s;
  return bytes_of(p.in) == 1 ? accept_k_major(p) : accept_for_tensor_maps(p);
}

// For the products on Hopper of split operands, whose indices are ints.
inline Status accept_split_extents(const Problem& p) {
  if (std::max({p.m, p.n, p.k}) <= std::int64_t{1} << 28) return Status::ok();
  return {Code::kUnsupportedProblem, "takes sizes of at most 2^28, not " + to_string(p)};
}
inline Status accept_split(const Problem& p, const Device& device) {
  if (Status s = accept_hopper(device); !s) return s;
  return accept_split_extents(p);
}

// Row-major operands without transposition, from compute capability kCc on; kHopper: on it alone.
template <int kCc>
Status accept_plain(const Problem& p, const Device& device) {
  if (Status s = kCc == kHopper ? accept_hopper(device) : accept_cuda(device, kCc); !s) return s;
  return accept_row_major_nn(p);
}

// The registry's row of a rung for such operands. `rung`: the file's name, where that has several.
template <int kCc>
constexpr KernelInfo plain_rung(std::string_view id, std::string_view idea,
                                decltype(KernelInfo::launch) launch, std::string_view rung = {},
                                Precision precision = Precision::kIeee) {
  return {.id = id,
          .rung = rung.empty() ? id : rung,
          .idea = idea,
          .precision = precision,
          .min_cc = kCc,
          .accepts = accept_plain<kCc>,
          .launch = launch};
}

// The row of a host rung, which takes any problem.
constexpr KernelInfo host_rung(std::string_view id, std::string_view idea,
                               decltype(KernelInfo::launch) launch, bool all_cores = false) {
  return {.id = id,
          .rung = id,
          .idea = idea,
          .place = Place::kHost,
          .all_cores = all_cores,
          .accepts = [](const Problem&, const Device&) { return Status::ok(); },
          .launch = launch};
}

}  // namespace ladder
