// SPDX-License-Identifier: Apache-2.0
// Verification that stays on the device: operands are drawn there, the FP64 reference is kept
// there, and every word of C's memory is judged there. It answers "proved" or "not proved"; what is
// wrong, and where, the host's way says.
#pragma once
#include <cstddef>
#include <optional>

#include "operands/draw_device.hpp"
#include "verify/bound.hpp"
#include "verify/compare.hpp"
#include "verify/reference.hpp"

namespace ladder {

class DeviceProof {
 public:
  // The reference of one problem and input, by cuBLAS dgemm, or made on the host and brought there.
  // Errors: kOutOfMemory, kLaunchFailed, kUnsupportedDevice (kCublas without it), integer_range's.
  static Result<DeviceProof> make(const Problem& problem, const Input& input, Precision precision,
                                  ReferenceKind kind);

  // Runs the kernel twice from the same state. The errors, where each element is within its bound,
  // everything around and between is as it was and both runs agree in every bit; nothing where that
  // is not proved. `guard` elements of poison lie on each side of C, `operand_guard` of NaN around
  // A and B. Errors: kLaunchFailed, kOutOfMemory.
  Result<std::optional<Errors>> judge(const KernelInfo& kernel, const ErrorBound& bound,
                                      Rounding rounding, std::size_t guard,
                                      std::size_t operand_guard) const;

  std::size_t bytes() const { return c_.bytes() + abs_products_.bytes(); }
  static constexpr const char* kName = "cuBLAS dgemm, judged on the device";

 private:
  DeviceProof(const Problem& problem, const Input& input, const Drawing& drawing)
      : problem_(problem), input_(input), drawing_(drawing) {}
  Status find_lines(const Buffer& a, const Buffer& b);

  Problem problem_;
  Input input_;
  Drawing drawing_;
  Buffer c_, abs_products_;  // as Reference's
  Buffer lines_;             // as Lines': a.largest, a.sum, b.largest, b.sum
};

// A B and |A||B| in double, row-major and dense, by cuBLAS: A and B lie on the device in the
// problem's type. `problem` is row-major and reads both. Errors: kOutOfMemory, kLaunchFailed,
// kUnsupportedDevice without cuBLAS or on the virtual GPU.
Status cublas_products(const Problem& problem, const void* a, const void* b, double* c,
                       double* abs_products);

}  // namespace ladder
