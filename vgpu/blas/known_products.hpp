// SPDX-License-Identifier: Apache-2.0
// Products that are computed again and again, as benchmarks do, from the same memory into the same.
#pragma once
#include <cstddef>
#include <memory>

#include "blas/product.hpp"

namespace vgpu::blas {

// Whether device memory holds the product's result: an equal call has computed it, and neither its
// operands nor the result have changed since.
bool is_computed(const Product& product);

// Says that device memory holds the product's result now, and that what it wrote is marked.
void note_computed(const Product& product);

// op(A) op(B) of a product that adds to C, kept from the second time on that it is computed from
// the same operands.
struct KnownSums {
  bool repeats = false;              // the operands are those of an equal call before
  std::shared_ptr<const void> sums;  // null if they were not kept
};
KnownSums known_sums(const Product& product);
void keep_sums(const Product& product, std::shared_ptr<const void> sums, std::size_t bytes);

}  // namespace vgpu::blas
