// SPDX-License-Identifier: Apache-2.0
#include "device/tensor_product.cuh"

#include "device/extents.cuh"
#include "device/scale.hpp"
#include "device/tensor_map.cuh"
#include "problem/accept.hpp"

namespace ladder::product {

Status accept(const Problem& p, const Device& device) { return accept_tensor(p, device); }

Status describe(const Problem& p, const Operands& o, int bm, int bn, cudaStream_t stream,
                CallMemory& memory, Call& c, std::int64_t scratch, std::int64_t flags) {
  const std::int64_t size = bytes_of(p.in), out_size = bytes_of(p.out), bk = kRowBytes / size;
  const auto tiles = [](std::int64_t extent, std::int64_t tile) {
    return static_cast<int>(ceil_div(extent, tile));
  };
  c.gC = o.c_as<void>(), c.ldc = p.ldc, c.m = static_cast<int>(p.m), c.n = static_cast<int>(p.n);
  c.tiles_m = tiles(p.m, bm), c.tiles_n = tiles(p.n, bn);
  c.steps = reads_ab(p) && p.m > 0 && p.n > 0 ? tiles(p.k, bk) : 0;
  c.alpha = p.alpha, c.beta = p.beta;
  c.pairs = p.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(c.gC) % (2 * out_size) == 0;
  c.by_map = out_size == 2 && p.beta == 0.0F && p.n * out_size % 16 == 0 &&
             tensor_map_takes(c.gC, p.ldc * out_size);  // rows of stores are multiples of 16 bytes
  if (c.steps == 0) return scale_c(p, o, stream);
  struct Matrix {
    CUtensorMap& map;
    const void* g;
    std::int64_t rows, cols, ld, box_rows;
  };
  const bool k_major = p.op_b == Op::kTranspose;
  Matrix matrices[] = {{c.a, o.a, p.m, p.k, p.lda, bm},
                       {c.b, o.b, k_major ? p.n : p.k, k_major ? p.k : p.n, p.ldb, bk}};
  const auto copied_bytes = [&](const Matrix& x) {
    return tensor_map_takes(x.g, x.ld * size) ? 0 : x.rows * tiles(x.cols, bk) * kRowBytes;
  };
  const std::int64_t bytes = scratch + copied_bytes(matrices[0]) + copied_bytes(matrices[1]);
  if (Status s = memory.take(stream, bytes, flags); !s) return s;
  char* gFree = memory.scratch() + scratch;
  for (Matrix& x : matrices) {
    if (const std::int64_t copied = copied_bytes(x); copied > 0) {
      const std::int64_t row = copied / x.rows;
      if (cudaError_t e = cudaMemcpy2DAsync(gFree, row, x.g, x.ld * size, x.cols * size, x.rows,
                                            cudaMemcpyDeviceToDevice, stream)) {
        return cuda_failure("cudaMemcpy2DAsync", e);
      }
      x.g = gFree, x.ld = row / size, gFree += copied;
    }
    if (Status s = make_tensor_map(x.map, p.in, x.g, x.rows, x.cols, x.ld,
                                   static_cast<int>(x.box_rows), static_cast<int>(bk));
        !s)
      return s;
  }
  return c.by_map ? make_tensor_map(c.out, p.out, c.gC, p.m, p.n, p.ldc, kStoreRows, kStoreCols)
                  : Status::ok();
}

}  // namespace ladder::product
