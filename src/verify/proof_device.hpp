// SPDX-License-Identifier: Apache-2.0
// Verification entirely on the device: it generates the operands, keeps the FP64 reference and
// checks every word of C's memory. The answer is "proved" or "not proved"; verification on the host
// then finds what is wrong and where.
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
  // Prepares the reference of one problem and input: computed by cuBLAS dgemm, or computed on the
  // host and copied. Errors: kOutOfMemory, kLaunchFailed, kUnsupportedDevice (kCublas not
  // available), and those of integer_range().
  static Result<DeviceProof> make(const Problem& problem, const Input& input, Precision precision,
                                  ReferenceKind kind);

  // Runs the kernel twice from the same state. Returns the errors if every element is within its
  // bound, all surrounding and padding memory is unchanged, and both runs agree bitwise; otherwise
  // nullopt. C has `guard` elements of poison on each side, A and B have `operand_guard` elements
  // of NaN. Errors: kLaunchFailed, kOutOfMemory.
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
  Buffer c_, abs_products_;  // as in Reference
  Buffer lines_;             // as in Lines: a.largest, a.sum, b.largest, b.sum
};

// Computes A B and |A||B| in double, row-major and dense, with cuBLAS. A and B are on the device in
// the problem's type. `problem` must be row-major and read both. Errors: kOutOfMemory,
// kLaunchFailed, kUnsupportedDevice (without cuBLAS, or on the virtual GPU).
Status cublas_products(const Problem& problem, const void* a, const void* b, double* c,
                       double* abs_products);

}  // namespace ladder
