// SPDX-License-Identifier: Apache-2.0
// Products that are computed again and again, as benchmarks do, from the same memory into the same.
#pragma once
#include "blas/product.hpp"

namespace vgpu::blas {

// Whether device memory holds the product's result: an equal call has computed it, and neither its
// operands nor the result have changed since.
bool is_computed(const Product& product);

// Says that device memory holds the product's result now, and that what it wrote is marked.
void note_computed(const Product& product);

}  // namespace vgpu::blas
