// SPDX-License-Identifier: Apache-2.0
// The FP64 result that kernels are compared with: all of it (dgemm), or the identity C t = alpha A
// (B t) + beta C0 t. A store keeps references, since all kernels are verified on the same problems.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "operands/input.hpp"

namespace ladder {

// A problem and its operands in row-major form, the only form that verification uses. If the
// problem was column-major, A and B are exchanged, and (i, j) here is (j, i) there.
struct Operation {
  Problem problem;
  const float* a = nullptr;
  const float* b = nullptr;
  const float* c = nullptr;  // C before the product
  bool swapped = false;
};
Operation as_operation(const Problem& problem, const Images& images);

struct Reference {
  std::vector<double> c;             // m x n, row-major, dense: alpha op(A) op(B) + beta C0
  std::vector<double> abs_products;  // |alpha| (|op(A)| |op(B)|)
  std::string name;
};

enum class ReferenceKind : std::uint8_t {
  // cuBLAS dgemm on a GPU; dgemm on the host if that is fast enough; otherwise the identity
  kAuto,
  kHost,      // OpenBLAS dgemm where built with it, else a blocked loop
  kCublas,    // needs a real GPU
  kIdentity,  // O(n^2): two products with a vector
};

// Returns the kind that kAuto selects for this problem on this device.
ReferenceKind choose_reference(const Problem& problem, const Device& device);

// `kind` must be kHost or kCublas. Errors: kOutOfMemory, kLaunchFailed, kUnsupportedDevice (kCublas
// not available).
Result<Reference> make_reference(const Operation& operation, ReferenceKind kind);

// Fills `reference` as make_reference() does, with cuBLAS. Errors: kOutOfMemory, kLaunchFailed,
// kUnsupportedDevice (without cuBLAS, or on the virtual GPU).
Status cublas_reference(const Operation& operation, Reference& reference);

// Operands and reference of one problem and input.
struct Prepared {
  Images images;
  Operation operation;
  ReferenceKind kind = ReferenceKind::kHost;
  Reference reference;  // empty for kIdentity
};

class DeviceProof;

// Keeps the most recently used references: up to `capacity_bytes` on the host (0: a quarter of the
// memory available at construction), and up to a quarter of the device's memory on the device.
class ReferenceStore {
 public:
  explicit ReferenceStore(std::size_t capacity_bytes = 0);
  // Errors: those of make_images() and make_reference().
  Result<std::shared_ptr<const Prepared>> get(const Problem& problem, const Input& input,
                                              Precision precision, ReferenceKind kind);
  // The same on the device. Result and errors: as DeviceProof::make().
  Result<std::shared_ptr<const DeviceProof>> on_device(const Problem& problem, const Input& input,
                                                       Precision precision, ReferenceKind kind);

 private:
  struct Entry {
    Problem problem;
    Input input;
    Precision precision;
    ReferenceKind kind;
    std::shared_ptr<const Prepared> prepared;
    std::size_t bytes;
  };
  struct DeviceEntry {
    Problem problem;
    Input input;
    Precision precision;
    ReferenceKind kind;
    std::shared_ptr<const DeviceProof> proof;
    std::size_t bytes;
  };
  std::size_t capacity_;
  std::list<Entry> entries_;  // most recently used first, in both lists
  std::list<DeviceEntry> on_device_;
};

// The largest magnitude and the sum of magnitudes of each row of op(A) and column of op(B) (each is
// a "line" here). They bound the error of split terms whose exponent range does not cover a line's
// smallest elements.
struct LineMagnitudes {
  std::vector<double> largest, sum;  // one entry per line
};

struct Lines {
  LineMagnitudes a, b;
  double scale = 0;  // |alpha|

  // |alpha| (largest |a_i| sum |b_j| + sum |a_i| largest |b_j|)
  double of(std::int64_t i, std::int64_t j) const {
    return a.largest.empty() ? 0.0 : scale * (a.largest[i] * b.sum[j] + a.sum[i] * b.largest[j]);
  }
};

// Empty where A and B are not read.
Lines lines_of(const Operation& operation);

}  // namespace ladder
