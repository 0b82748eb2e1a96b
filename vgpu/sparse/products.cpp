// SPDX-License-Identifier: Apache-2.0
// Products with dense matrices, and conversions from and to dense matrices.
#include <utility>

#include "include/entry_points.hpp"
#include "sparse/elements.hpp"

namespace vgpu::sparse {
namespace {

using Op = cusparseOperation_t;

// m with rows and columns of elements, not of blocks.
SpMat sized(const SpMat& m) {
  SpMat elements = m;
  elements.rows *= m.block;
  elements.cols *= m.block;
  return elements;
}

// C = alpha op(A) op(B) + beta C
Status multiply(Call& call, Op op_a, Op op_b, const void* alpha, const SpMat& a, const DnMat& b,
                const void* beta, const DnMat& c, cudaDataType type) {
  const SpMat size = sized(a);
  const i64 rows = rows_of(size, op_a), cols = c.cols;
  call.require(is_operation(op_a, a.type) && is_operation(op_b, b.type) && rows == c.rows &&
               cols_of(size, op_a) == rows_of(b, op_b) && cols_of(b, op_b) == cols)
      .require((a.batches == 1 || a.batches == c.batches) &&
               (b.batches == 1 || b.batches == c.batches));
  call.types(a.type, b.type, type, c.type).in(a).in(b).out(c);
  const Scalar scale = call.scalar(alpha, type), keep = call.scalar(beta, type);
  return by_number(type, [&](auto number) {
    using W = decltype(number);
    return call.run([=] {
      for (int batch = 0; batch < c.batches; ++batch) {
        const auto right = load_dense<W>(b, op_b, batch);
        std::vector<W> sums(static_cast<std::size_t>(rows * cols));
        each_stored(a, batch, [&](i64 row, i64 col, i64 place) {
          if (transposes(op_a)) std::swap(row, col);
          const W value = conjugate_if(conjugates(op_a), blas::load<W>(a.type, a.values, place));
          W* const to = sums.data() + row * cols;
          const W* const from = right.data() + col * cols;
          for (i64 j = 0; j < cols; ++j) to[j] += value * from[j];
        });
        for (i64 i = 0; i < rows; ++i)
          for (i64 j = 0; j < cols; ++j)
            blend(c.type, c.values, batch * c.stride + c.place(i, j), scale.value<W>(),
                  sums.data()[i * cols + j], keep.value<W>());
      }
    });
  });
}

Status spmv(const char* name, cusparseHandle_t handle, Op op, const void* alpha, const SpMat* a,
            const cusparseDnVecDescr* x, const void* beta, const cusparseDnVecDescr* y,
            cudaDataType type) {
  Call call(name, handle, a, x, y);
  if (!call) return call.status();
  return multiply(call, op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, *a, column(*x), beta,
                  column(*y), type);
}

Status spmm(const char* name, cusparseHandle_t handle, Op op_a, Op op_b, const void* alpha,
            const SpMat* a, const DnMat* b, const void* beta, const DnMat* c, cudaDataType type) {
  Call call(name, handle, a, b, c);
  return call ? multiply(call, op_a, op_b, alpha, *a, *b, beta, *c, type) : call.status();
}

// The elements that C has, of alpha op(A) op(B) + beta C
Status sddmm(const char* name, cusparseHandle_t handle, Op op_a, Op op_b, const void* alpha,
             const DnMat* a, const DnMat* b, const void* beta, const SpMat* c, cudaDataType type) {
  Call call(name, handle, a, b, c);
  if (!call) return call.status();
  const SpMat size = sized(*c);
  const i64 depth = cols_of(*a, op_a);
  call.require(c->format == CUSPARSE_FORMAT_CSR || c->format == CUSPARSE_FORMAT_BSR,
               CUSPARSE_STATUS_NOT_SUPPORTED)
      .require(is_operation(op_a, a->type) && is_operation(op_b, b->type) &&
               rows_of(*a, op_a) == size.rows && cols_of(*b, op_b) == size.cols &&
               rows_of(*b, op_b) == depth)
      .require((a->batches == 1 || a->batches == c->batches) &&
               (b->batches == 1 || b->batches == c->batches));
  call.types(a->type, b->type, type, c->type).in(*a).in(*b).out_values(*c);
  const Scalar scale = call.scalar(alpha, type), keep = call.scalar(beta, type);
  return by_number(type, [&, a = *a, b = *b, c = *c](auto number) {
    using W = decltype(number);
    return call.run([=] {
      for (int batch = 0; batch < c.batches; ++batch) {
        const auto left = load_dense<W>(a, op_a, batch), right = load_dense<W>(b, op_b, batch);
        each_stored(c, batch, [&](i64 row, i64 col, i64 place) {
          W sum{};
          for (i64 k = 0; k < depth; ++k)
            sum += left.data()[row * depth + k] * right.data()[k * size.cols + col];
          blend(c.type, c.values, place, scale.value<W>(), sum, keep.value<W>());
        });
      }
    });
  });
}

Status to_dense(const char* name, cusparseHandle_t handle, const SpMat* a, const DnMat* b) {
  Call call(name, handle, a, b);
  if (!call) return call.status();
  const SpMat size = sized(*a);
  call.require(size.rows == b->rows && size.cols == b->cols && a->type == b->type);
  call.types(a->type, b->type).in(*a).out(*b);
  return by_number(a->type, [&, a = *a, b = *b](auto number) {
    using W = decltype(number);
    return call.run([=] {
      for (i64 i = 0; i < b.rows; ++i)
        for (i64 j = 0; j < b.cols; ++j) blas::store(b.type, b.values, b.place(i, j), W());
      each_stored(a, 0, [&](i64 row, i64 col, i64 place) {
        blas::store(b.type, b.values, b.place(row, col), blas::load<W>(a.type, a.values, place));
      });
    });
  });
}

// Calls body(row, column) for each element that is not zero, by rows or by columns.
template <class Body>
void each_not_zero(const DnMat& m, bool by_columns, Body body) {
  for (i64 line = 0; line < (by_columns ? m.cols : m.rows); ++line) {
    for (i64 i = 0; i < (by_columns ? m.rows : m.cols); ++i) {
      const i64 row = by_columns ? i : line, col = by_columns ? line : i;
      if (blas::load<std::complex<double>>(m.type, m.values, m.place(row, col)) != 0.0)
        body(row, col);
    }
  }
}

// The descriptor gets the number of elements, and CSR and CSC get their offsets.
Status count_elements(const char* name, cusparseHandle_t handle, const DnMat* a, SpMat* b) {
  Call call(name, handle, a, b);
  if (!call) return call.status();
  const bool coo = b->format == CUSPARSE_FORMAT_COO, csc = b->format == CUSPARSE_FORMAT_CSC;
  const i64 lines = csc ? b->cols : b->rows;
  call.require(a->rows == b->rows && a->cols == b->cols && a->type == b->type)
      .require(coo || csc || b->format == CUSPARSE_FORMAT_CSR, CUSPARSE_STATUS_NOT_SUPPORTED);
  call.types(a->type).in(*a);
  if (!coo)
    call.out(b->first.data, static_cast<std::size_t>(lines + 1) * index_bytes(b->first.type));
  return call.run_now([&] {
    std::vector<i64> offsets(static_cast<std::size_t>(lines + 1));
    each_not_zero(*a, csc, [&](i64 row, i64 col) {
      ++offsets[static_cast<std::size_t>((csc ? col : row) + 1)];
    });
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    for (std::size_t i = 0; !coo && i < offsets.size(); ++i)
      b->first.set(static_cast<i64>(i), offsets[i]);
    b->nnz = offsets.back();
  });
}

Status from_dense(const char* name, cusparseHandle_t handle, const DnMat* a, const SpMat* b) {
  Call call(name, handle, a, b);
  if (!call) return call.status();
  call.require(a->rows == b->rows && a->cols == b->cols && a->type == b->type)
      .require(b->format >= CUSPARSE_FORMAT_CSR && b->format <= CUSPARSE_FORMAT_COO,
               CUSPARSE_STATUS_NOT_SUPPORTED);
  call.types(a->type).in(*a).out(*b);
  return call.run([a = *a, b = *b] {
    const bool csc = b.format == CUSPARSE_FORMAT_CSC;
    const auto bytes = blas::bytes_of(a.type);
    i64 at = 0;
    each_not_zero(a, csc, [&](i64 row, i64 col) {
      check(at < b.nnz);
      if (b.format == CUSPARSE_FORMAT_COO) b.first.set(at, row);
      b.index.set(at, csc ? row : col);
      std::memcpy(
          static_cast<char*>(b.values) + static_cast<std::size_t>(at++) * bytes,
          static_cast<const char*>(a.values) + static_cast<std::size_t>(a.place(row, col)) * bytes,
          bytes);
    });
  });
}

}  // namespace
}  // namespace vgpu::sparse

using namespace vgpu::sparse;  // NOLINT: only entry points follow

VGPU_BY(cusparseSpMV, 10, spmv(__func__, a0, a1, a2, a3, a4, a5, a6, a7));
VGPU_BY(cusparseSpMV_bufferSize, 10, tell_room(a0, a9));
VGPU_BY(cusparseSpMV_preprocess, 10, known(a0));
VGPU_BY(cusparseSpMM, 11, spmm(__func__, VGPU_ARGUMENTS_9));
VGPU_BY(cusparseSpMM_bufferSize, 11, tell_room(a0, a10));
VGPU_BY(cusparseSpMM_preprocess, 11, known(a0));
VGPU_BY(cusparseSDDMM, 11, sddmm(__func__, VGPU_ARGUMENTS_9));
VGPU_BY(cusparseSDDMM_bufferSize, 11, tell_room(a0, a10));
VGPU_BY(cusparseSDDMM_preprocess, 11, known(a0));
VGPU_BY(cusparseSparseToDense, 5, to_dense(__func__, a0, a1, a2));
VGPU_BY(cusparseSparseToDense_bufferSize, 5, tell_room(a0, a4));
VGPU_BY(cusparseDenseToSparse_bufferSize, 5, tell_room(a0, a4));
VGPU_BY(cusparseDenseToSparse_analysis, 5, count_elements(__func__, a0, a1, a2));
VGPU_BY(cusparseDenseToSparse_convert, 5, from_dense(__func__, a0, a1, a2));
