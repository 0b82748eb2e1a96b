// SPDX-License-Identifier: Apache-2.0
// Reasons for refusing a problem that several kernels share.
#pragma once
#include <ladder/kernel.hpp>

#include <string>

namespace ladder {

inline Status accept_row_major_nn(const Problem& p) {
  if (p.layout == Layout::kRowMajor && p.op_a == Op::kNone && p.op_b == Op::kNone)
    return Status::ok();
  return {Code::kUnsupportedProblem,
          "takes row-major operands without transposition, not " + to_string(p)};
}

inline Status accept_cuda(const Device& device, int min_cc) {
  if (!device.has_cuda) return {Code::kUnsupportedDevice, "needs a CUDA device, real or virtual"};
  if (device.cc >= min_cc) return Status::ok();
  return {Code::kUnsupportedDevice, "needs compute capability " + std::to_string(min_cc / 10) +
                                        "." + std::to_string(min_cc % 10) + ", " + device.name +
                                        " has " + std::to_string(device.cc / 10) + "." +
                                        std::to_string(device.cc % 10)};
}

}  // namespace ladder
