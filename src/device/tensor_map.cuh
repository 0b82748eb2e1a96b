// SPDX-License-Identifier: Apache-2.0
// Host: tensor maps of row-major matrices.
#pragma once
#include <cuda.h>
#include <ladder/problem.hpp>
#include <ladder/status.hpp>

#include <cstdint>

namespace ladder {

// Whether a tensor map takes this address and row length: multiples of 16 bytes (CUDA Driver API,
// "Tensor Map Object Management").
inline bool tensor_map_takes(const void* g, std::int64_t ld_bytes) {
  return (reinterpret_cast<std::uintptr_t>(g) | static_cast<std::uintptr_t>(ld_bytes)) % 16 == 0;
}

// The map of a matrix of rows x cols, copied in boxes of box_rows x box_cols. A row of a box is as
// long as the swizzle: 128 or 64 bytes. Errors: kLaunchFailed, where the driver lacks the encoder
// or refuses.
Status make_tensor_map(CUtensorMap& map, Type type, const void* g, std::int64_t rows,
                       std::int64_t cols, std::int64_t ld, int box_rows, int box_cols);

}  // namespace ladder
