// SPDX-License-Identifier: Apache-2.0
// Elements of sparse and dense matrices.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "sparse/descriptors.hpp"

namespace vgpu::sparse {

inline void check(bool holds) {
  if (!holds) throw std::runtime_error("an index lies outside of its matrix: the result is wrong");
}

// Calls body(line, place) for each place of a compressed line, from one offset to the next.
template <class Body>
void each_compressed(const Indices& offsets, i64 from, i64 lines, i64 nnz, Body body) {
  for (i64 line = 0; line < lines; ++line) {
    const i64 begin = offsets[from + line], end = offsets[from + line + 1];
    check(0 <= begin && begin <= end && end <= nnz);
    for (i64 place = begin; place < end; ++place) body(line, place);
  }
}

// Calls body(row, column, place of the value) for each stored element of a matrix of a batch.
template <class Body>
void each_stored(const SpMat& m, int batch, Body body) {
  const i64 b = m.batches > 1 ? batch : 0, from = b * m.first_stride, at = b * m.index_stride,
            value = b * m.value_stride;
  const auto visit = [&](i64 row, i64 col, i64 place) {
    check(0 <= row && row < m.rows * m.block && 0 <= col && col < m.cols * m.block);
    body(row, col, value + place);
  };
  switch (m.format) {
    case CUSPARSE_FORMAT_CSR:
      each_compressed(m.first, from, m.rows, m.nnz,
                      [&](i64 row, i64 place) { visit(row, m.index[at + place], place); });
      break;
    case CUSPARSE_FORMAT_CSC:
      each_compressed(m.first, from, m.cols, m.nnz,
                      [&](i64 col, i64 place) { visit(m.index[at + place], col, place); });
      break;
    case CUSPARSE_FORMAT_COO:
      for (i64 place = 0; place < m.nnz; ++place)
        visit(m.first[at + place], m.index[at + place], place);
      break;
    case CUSPARSE_FORMAT_BSR:
      each_compressed(m.first, from, m.rows, m.nnz, [&](i64 row, i64 place) {
        const i64 col = m.index[at + place];
        for (i64 i = 0; i < m.block * m.block; ++i) {
          const bool by_rows = m.order == CUSPARSE_ORDER_ROW;
          const i64 r = by_rows ? i / m.block : i % m.block,
                    c = by_rows ? i % m.block : i / m.block;
          visit(row * m.block + r, col * m.block + c, place * m.block * m.block + i);
        }
      });
      break;
    default: break;
  }
}

template <class W>
W conjugate_if(bool conjugates, W value) {
  return conjugates ? blas::conjugate(value) : value;
}

inline bool transposes(cusparseOperation_t op) { return op != CUSPARSE_OPERATION_NON_TRANSPOSE; }
inline bool conjugates(cusparseOperation_t op) {
  return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}
// Of elements of this type: only complex ones can be conjugated.
inline bool is_operation(cusparseOperation_t op, cudaDataType type) {
  return op == CUSPARSE_OPERATION_NON_TRANSPOSE || op == CUSPARSE_OPERATION_TRANSPOSE ||
         (conjugates(op) && blas::is_complex(type));
}
template <class Matrix>
i64 rows_of(const Matrix& m, cusparseOperation_t op) {
  return transposes(op) ? m.cols : m.rows;
}
template <class Matrix>
i64 cols_of(const Matrix& m, cusparseOperation_t op) {
  return transposes(op) ? m.rows : m.cols;
}

// A vector as a matrix of one column.
inline DnMat column(const cusparseDnVecDescr& v) {
  return {v.size, 1, std::max<i64>(v.size, 1), v.values, v.type, CUSPARSE_ORDER_COL};
}

// op(m) by rows.
template <class W>
std::vector<W> load_dense(const DnMat& m, cusparseOperation_t op, int batch) {
  const i64 rows = rows_of(m, op), cols = cols_of(m, op),
            from = m.batches > 1 ? batch * m.stride : 0;
  std::vector<W> values;
  values.reserve(static_cast<std::size_t>(rows * cols));
  for (i64 i = 0; i < rows; ++i) {
    for (i64 j = 0; j < cols; ++j) {
      const i64 place = from + (transposes(op) ? m.place(j, i) : m.place(i, j));
      values.push_back(conjugate_if(conjugates(op), blas::load<W>(m.type, m.values, place)));
    }
  }
  return values;
}

// alpha * sum + beta * old. beta = 0 does not read.
template <class W>
void blend(cudaDataType type, void* values, i64 place, W alpha, W sum, W beta) {
  const W old = beta == W() ? W() : beta * blas::load<W>(type, values, place);
  blas::store(type, values, place, alpha * sum + old);
}

template <class T>
T* writable(const T* data) {
  return const_cast<T*>(data);
}

// A CSR matrix of the functions that take its arrays.
inline SpMat csr(i64 rows, i64 cols, i64 nnz, const int* offsets, const int* columns,
                 const void* values, cudaDataType type, cusparseIndexBase_t base) {
  constexpr auto kInt = CUSPARSE_INDEX_32I;
  return {CUSPARSE_FORMAT_CSR,
          rows,
          cols,
          nnz,
          {writable(offsets), kInt, base},
          {writable(columns), kInt, base},
          writable(values),
          type};
}

// An operand of the functions of descriptors without arrays. rows = -1 is invalid.
template <class T = float>
SpMat csr(i64 rows, i64 cols, cusparseMatDescr_t m, i64 nnz, const T* values, const int* offsets,
          const int* columns) {
  const bool valid = m != nullptr && m->type == CUSPARSE_MATRIX_TYPE_GENERAL && nnz >= 0;
  return csr(valid ? rows : -1, cols, nnz, offsets, columns, values, blas::kTypeOf<blas::Number<T>>,
             valid ? m->base : CUSPARSE_INDEX_BASE_ZERO);
}
inline bool valid(const SpMat& m) { return m.rows >= 0 && m.cols >= 0; }

// A matrix by rows; the order of a row's elements is that of the matrix.
template <class W>
struct Rows {
  std::vector<i64> offsets{0}, columns;
  std::vector<W> values;

  i64 count() const { return static_cast<i64>(offsets.size()) - 1; }
  template <class Body>
  void each(i64 row, Body body) const {
    const auto r = static_cast<std::size_t>(row);
    for (auto p = static_cast<std::size_t>(offsets[r]);
         p < static_cast<std::size_t>(offsets[r + 1]); ++p)
      body(columns[p], values[p]);
  }
};

// op(m); values are 0 if it has none.
template <class W>
Rows<W> load_rows(const SpMat& m, cusparseOperation_t op) {
  const bool turned = transposes(op);
  Rows<W> rows;
  rows.offsets.assign(static_cast<std::size_t>((turned ? m.cols : m.rows) * m.block + 1), 0);
  const auto each = [&](auto body) {
    each_stored(m, 0, [&](i64 row, i64 col, i64 place) {
      body(static_cast<std::size_t>(turned ? col : row), turned ? row : col, place);
    });
  };
  each([&](std::size_t row, i64, i64) { ++rows.offsets[row + 1]; });
  for (std::size_t r = 1; r < rows.offsets.size(); ++r) rows.offsets[r] += rows.offsets[r - 1];
  std::vector<i64> next(rows.offsets);
  rows.columns.resize(static_cast<std::size_t>(rows.offsets.back()));
  rows.values.resize(rows.columns.size());
  each([&](std::size_t row, i64 col, i64 place) {
    const auto at = static_cast<std::size_t>(next[row]++);
    rows.columns[at] = col;
    if (m.values != nullptr)
      rows.values[at] = conjugate_if(conjugates(op), blas::load<W>(m.type, m.values, place));
  });
  return rows;
}

}  // namespace vgpu::sparse
