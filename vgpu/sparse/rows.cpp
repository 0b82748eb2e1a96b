// SPDX-License-Identifier: Apache-2.0
// Sums and products of sparse matrices, triangular systems, and conversions between formats.
#include <utility>

#include "include/entry_points.hpp"
#include "sparse/elements.hpp"

struct cusparseSpGEMMDescr {
  std::int64_t products = 0;  // of two elements
};
struct cusparseSpSVDescr {};
struct cusparseSpSMDescr {};

namespace vgpu::sparse {
namespace {

using Op = cusparseOperation_t;

// Sums of the elements of one row; add_to() appends the row, ordered by columns.
template <class W>
class RowSum {
 public:
  explicit RowSum(i64 cols)
      : sums_(static_cast<std::size_t>(cols)), has_(static_cast<std::size_t>(cols)) {}
  void add(i64 col, W value) {
    const auto c = static_cast<std::size_t>(col);
    if (has_[c] == 0) columns_.push_back(col);
    has_[c] = 1;
    sums_[c] += value;
  }
  void add_to(Rows<W>& rows) {
    std::ranges::sort(columns_);
    for (const i64 col : columns_) {
      const auto c = static_cast<std::size_t>(col);
      rows.columns.push_back(col);
      rows.values.push_back(std::exchange(sums_[c], W()));
      has_[c] = 0;
    }
    rows.offsets.push_back(static_cast<i64>(rows.columns.size()));
    columns_.clear();
  }

 private:
  std::vector<W> sums_;
  std::vector<char> has_;
  std::vector<i64> columns_;
};

template <class W>
Rows<W> product(const Rows<W>& a, const Rows<W>& b, i64 cols) {
  Rows<W> result;
  RowSum<W> sum(cols);
  for (i64 row = 0; row < a.count(); ++row) {
    a.each(row, [&](i64 k, W left) {
      b.each(k, [&](i64 col, W right) { sum.add(col, left * right); });
    });
    sum.add_to(result);
  }
  return result;
}

template <class W>
Rows<W> weighted_sum(W alpha, const Rows<W>& a, W beta, const Rows<W>& b, i64 cols) {
  Rows<W> result;
  RowSum<W> sum(cols);
  for (i64 row = 0; row < a.count(); ++row) {
    a.each(row, [&](i64 col, W value) { sum.add(col, alpha * value); });
    b.each(row, [&](i64 col, W value) { sum.add(col, beta * value); });
    sum.add_to(result);
  }
  return result;
}

// For arrays that a call could not name, because it does not know how long they are.
template <class T>
void check_and_mark(T* data, std::size_t bytes) {
  if (bytes != 0 && vgpuDeviceContains(data, bytes) == 0)
    throw std::runtime_error("the result is not wholly in device memory");
  vgpuMarkWritten(data, bytes);
}

// Writes offsets and, where m has them, columns.
template <class W>
void store_structure(const SpMat& m, const Rows<W>& rows) {
  for (std::size_t r = 0; r < rows.offsets.size(); ++r)
    m.first.set(static_cast<i64>(r), rows.offsets[r]);
  if (m.index.data == nullptr) return;
  check(rows.offsets.back() <= m.nnz);
  check_and_mark(m.index.data, rows.columns.size() * index_bytes(m.index.type));
  for (std::size_t p = 0; p < rows.columns.size(); ++p)
    m.index.set(static_cast<i64>(p), rows.columns[p]);
}

template <class W>
void store_values(const SpMat& m, const Rows<W>& rows, W alpha, W beta) {
  check(rows.offsets.back() <= m.nnz);
  check_and_mark(m.values, rows.values.size() * blas::bytes_of(m.type));
  for (std::size_t p = 0; p < rows.values.size(); ++p)
    blend(m.type, m.values, static_cast<i64>(p), alpha, rows.values[p], beta);
}

// A call of SpGEMM.
Call spgemm(const char* name, cusparseHandle_t handle, Op op_a, Op op_b, const SpMat* a,
            const SpMat* b, const SpMat* c, const cusparseSpGEMMDescr* work) {
  Call call(name, handle, a, b, c, work);
  if (!call) return call;
  for (const SpMat* m : {a, b, c})
    call.require(m->format == CUSPARSE_FORMAT_CSR, CUSPARSE_STATUS_NOT_SUPPORTED);
  call.require(!transposes(op_a) && !transposes(op_b), CUSPARSE_STATUS_NOT_SUPPORTED)
      .require(a->first.base == b->first.base && a->first.base == c->first.base,
               CUSPARSE_STATUS_NOT_SUPPORTED)
      .require(a->cols == b->rows && a->rows == c->rows && b->cols == c->cols);
  call.types(a->type, b->type, c->type).in(*a).in(*b);
  return call;
}

// C's descriptor gets the number of elements. Without a buffer, only its size is asked for.
Status count_product(Call call, const SpMat* a, const SpMat* b, SpMat* c, cusparseSpGEMMDescr* work,
                     std::size_t* bytes, const void* buffer) {
  if (buffer == nullptr || !call) return call ? tell_room(work, bytes) : call.status();
  return call.run_now([&] {
    const auto left = load_rows<double>(*a, Op()), right = load_rows<double>(*b, Op());
    work->products = 0;
    for (const i64 k : left.columns) right.each(k, [&](i64, double) { ++work->products; });
    c->nnz = product(left, right, b->cols).offsets.back();
  });
}

// Writes the product to C: its structure, its values or both.
Status store_product(Call call, const SpMat* a, const SpMat* b, const SpMat* c, bool structure,
                     bool values, const void* alpha, const void* beta, cudaDataType type) {
  if (!call) return call.status();
  Scalar scale, keep;
  call.structure(*c, structure);
  if (values) {
    call.values(*c, true);
    scale = call.scalar(alpha, type);
    keep = call.scalar(beta, type);
  }
  return by_number(c->type, [&](auto number) {
    using W = decltype(number);
    return call.run([=, a = *a, b = *b, c = *c] {
      const auto rows = product(load_rows<W>(a, Op()), load_rows<W>(b, Op()), b.cols);
      if (structure) store_structure(c, rows);
      if (values) store_values(c, rows, scale.value<W>(), keep.value<W>());
    });
  });
}

// Solves op(A) Y = alpha op(X), where A's descriptor says which triangle of A is used.
Status solve(Call& call, Op op_a, Op op_x, const void* alpha, const SpMat& a, const DnMat& x,
             const DnMat& y, cudaDataType type) {
  call.require(a.format == CUSPARSE_FORMAT_CSR || a.format == CUSPARSE_FORMAT_COO,
               CUSPARSE_STATUS_NOT_SUPPORTED)
      .require(is_operation(op_a, a.type) && is_operation(op_x, x.type) && a.rows == a.cols &&
               y.rows == a.rows && rows_of(x, op_x) == y.rows && cols_of(x, op_x) == y.cols);
  call.types(a.type, x.type, y.type, type).in(a).in(x).out(y);
  const Scalar scale = call.scalar(alpha, type);
  return by_number(type, [&](auto number) {
    using W = decltype(number);
    return call.run([=] {
      const auto rows = load_rows<W>(a, op_a);
      auto values = load_dense<W>(x, op_x, 0);
      const bool lower = (a.fill == CUSPARSE_FILL_MODE_LOWER) != transposes(op_a),
                 unit = a.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
      const auto at = [&](i64 row) { return values.data() + row * y.cols; };
      for (i64 i = 0; i < y.rows; ++i) {
        const i64 row = lower ? i : y.rows - 1 - i;
        W* const to = at(row);
        W pivot = unit ? W(1) : W();
        for (i64 j = 0; j < y.cols; ++j) to[j] *= scale.value<W>();
        rows.each(row, [&](i64 col, W value) {
          if (col == row && !unit) pivot += value;
          if (lower ? col < row : col > row)
            for (i64 j = 0; j < y.cols; ++j) to[j] -= value * at(col)[j];
        });
        for (i64 j = 0; j < y.cols; ++j) to[j] /= pivot;
      }
      for (i64 i = 0; i < y.rows; ++i)
        for (i64 j = 0; j < y.cols; ++j) blas::store(y.type, y.values, y.place(i, j), at(i)[j]);
    });
  });
}

Status spsv(const char* name, cusparseHandle_t handle, Op op, const void* alpha, const SpMat* a,
            const cusparseDnVecDescr* x, const cusparseDnVecDescr* y, cudaDataType type,
            const void* work) {
  Call call(name, handle, a, x, y);
  call.require(work != nullptr);
  if (!call) return call.status();
  return solve(call, op, Op(), alpha, *a, column(*x), column(*y), type);
}

Status spsm(const char* name, cusparseHandle_t handle, Op op_a, Op op_b, const void* alpha,
            const SpMat* a, const DnMat* b, const DnMat* c, cudaDataType type, const void* work) {
  Call call(name, handle, a, b, c);
  call.require(work != nullptr);
  return call ? solve(call, op_a, op_b, alpha, *a, *b, *c, type) : call.status();
}

// C = alpha A + beta B. With `total`, only C's offsets and the number of its elements, which goes
// where the handle's mode says. C's other arrays are as long as that.
Status add(const char* name, cusparseHandle_t handle, const void* alpha, const SpMat& a,
           const void* beta, const SpMat& b, const SpMat& c, int* total = nullptr) {
  Call call(name, handle);
  call.require(valid(a) && valid(b) && valid(c));
  if (!call) return call.status();
  call.structure(a, false).structure(b, false);
  call.out(c.first.data, static_cast<std::size_t>(c.rows + 1) * sizeof(int));
  Scalar scale, other;
  if (total == nullptr) {
    call.values(a, false).values(b, false);
    scale = call.scalar(alpha, a.type);
    other = call.scalar(beta, a.type);
  } else if (call.on_device()) {
    call.out(total, sizeof *total);
  }
  return by_number(a.type, [&](auto number) {
    using W = decltype(number);
    const auto work = [=] {
      const auto rows = weighted_sum(scale.value<W>(), load_rows<W>(a, Op()), other.value<W>(),
                                     load_rows<W>(b, Op()), a.cols);
      SpMat result = c;
      result.nnz = rows.offsets.back();
      store_structure(result, rows);
      if (total != nullptr) *total = static_cast<int>(result.nnz);
      if (total == nullptr) store_values(result, rows, W(1), W());
    };
    return total == nullptr || call.on_device() ? call.run(work) : call.run_now(work);
  });
}

// The other compressed format, which is CSR of the transposed matrix.
Status transpose(const char* name, cusparseHandle_t handle, const SpMat& a, const SpMat& to,
                 cusparseAction_t action) {
  const bool numeric = action == CUSPARSE_ACTION_NUMERIC;
  Call call(name, handle);
  call.types(a.type).require(valid(a) && a.nnz >= 0);
  if (!call) return call.status();
  call.structure(a, false).structure(to, true);
  if (numeric) call.values(a, false).values(to, true);
  return by_number(a.type, [&](auto number) {
    using W = decltype(number);
    return call.run([=] {
      const auto rows = load_rows<W>(a, CUSPARSE_OPERATION_TRANSPOSE);
      store_structure(to, rows);
      if (numeric) store_values(to, rows, W(1), W());
    });
  });
}

Status offsets_to_rows(const char* name, cusparseHandle_t handle, const int* offsets, int nnz,
                       int m, int* rows, cusparseIndexBase_t base) {
  Call call(name, handle);
  call.require(nnz >= 0 && m >= 0);
  if (!call) return call.status();
  call.in(offsets, static_cast<std::size_t>(m + 1) * sizeof(int))
      .out(rows, static_cast<std::size_t>(nnz) * sizeof(int));
  return call.run([=] {
    each_compressed({writable(offsets), CUSPARSE_INDEX_32I, base}, 0, m, nnz,
                    [&](i64 row, i64 place) { rows[place] = static_cast<int>(row) + base; });
  });
}

Status rows_to_offsets(const char* name, cusparseHandle_t handle, const int* rows, int nnz, int m,
                       int* offsets, cusparseIndexBase_t base) {
  Call call(name, handle);
  call.require(nnz >= 0 && m >= 0);
  if (!call) return call.status();
  call.in(rows, static_cast<std::size_t>(nnz) * sizeof(int))
      .out(offsets, static_cast<std::size_t>(m + 1) * sizeof(int));
  return call.run([=] {
    for (int row = 0; row <= m; ++row)
      offsets[row] = static_cast<int>(std::lower_bound(rows, rows + nnz, row + base) - rows) + base;
  });
}

}  // namespace
}  // namespace vgpu::sparse

using namespace vgpu::sparse;  // NOLINT: only entry points follow

VGPU_BY(cusparseSpGEMM_createDescr, 1, Objects::create(a0, cusparseSpGEMMDescr()));
VGPU_BY(cusparseSpGEMM_destroyDescr, 1, Objects::destroy(a0));
VGPU_BY(cusparseSpGEMM_workEstimation, 13,
        count_product(spgemm(__func__, a0, a1, a2, a4, a5, a7, a10), a4, a5, a7, a10, a11, a12));
VGPU_BY(cusparseSpGEMM_compute, 13,
        count_product(spgemm(__func__, a0, a1, a2, a4, a5, a7, a10), a4, a5, a7, a10, a11, a12));
VGPU_BY(cusparseSpGEMM_copy, 11,
        store_product(spgemm(__func__, a0, a1, a2, a4, a5, a7, a10), a4, a5, a7, true, true, a3, a6,
                      a8));
VGPU_BY(cusparseSpGEMM_estimateMemory, 15, (void(tell_room(a0, a14)), tell_room(a0, a12)));
VGPU_BY(cusparseSpGEMM_getNumProducts, 2,
        a0 == nullptr || a1 == nullptr ? CUSPARSE_STATUS_INVALID_VALUE
                                       : (*a1 = a0->products, CUSPARSE_STATUS_SUCCESS));
VGPU_BY(cusparseSpGEMMreuse_workEstimation, 10, tell_room(a0, a8));
VGPU_BY(cusparseSpGEMMreuse_nnz, 14,
        (void(tell_room(a0, a10)), void(tell_room(a0, a12)),
         count_product(spgemm(__func__, a0, a1, a2, a3, a4, a5, a7), a3, a4, a5, a7, a8, a9)));
VGPU_BY(cusparseSpGEMMreuse_copy, 10,
        a9 == nullptr ? tell_room(a0, a8)
                      : store_product(spgemm(__func__, a0, a1, a2, a3, a4, a5, a7), a3, a4, a5,
                                      true, false, nullptr, nullptr, CUDA_R_32F));
VGPU_BY(cusparseSpGEMMreuse_compute, 11,
        store_product(spgemm(__func__, a0, a1, a2, a4, a5, a7, a10), a4, a5, a7, false, true, a3,
                      a6, a8));

VGPU_BY(cusparseSpSV_createDescr, 1, Objects::create(a0, cusparseSpSVDescr()));
VGPU_BY(cusparseSpSV_destroyDescr, 1, Objects::destroy(a0));
VGPU_BY(cusparseSpSV_bufferSize, 10, tell_room(a0, a9));
VGPU_BY(cusparseSpSV_analysis, 10, known(a0));
VGPU_BY(cusparseSpSV_solve, 9, spsv(__func__, a0, a1, a2, a3, a4, a5, a6, a8));
VGPU_BY(cusparseSpSM_createDescr, 1, Objects::create(a0, cusparseSpSMDescr()));
VGPU_BY(cusparseSpSM_destroyDescr, 1, Objects::destroy(a0));
VGPU_BY(cusparseSpSM_bufferSize, 11, tell_room(a0, a10));
VGPU_BY(cusparseSpSM_analysis, 11, known(a0));
VGPU_BY(cusparseSpSM_solve, 10, spsm(__func__, a0, a1, a2, a3, a4, a5, a6, a7, a9));

VGPU_BY(cusparseXcoo2csr, 6, rows_to_offsets(__func__, a0, a1, a2, a3, a4, a5));
VGPU_BY(cusparseXcsr2coo, 6, offsets_to_rows(__func__, a0, a1, a2, a3, a4, a5));
VGPU_BY(cusparseCsr2cscEx2, 15,
        transpose(__func__, a0, csr(a1, a2, a3, a5, a6, a4, a10, a12),
                  csr(a2, a1, a3, a8, a9, a7, a10, a12), a11));
VGPU_BY(cusparseCsr2cscEx2_bufferSize, 15, tell_room(a0, a14));
VGPU_BY(cusparseXcsrgeam2Nnz, 15,
        a13 == nullptr ? CUSPARSE_STATUS_INVALID_VALUE
                       : add(__func__, a0, nullptr, csr<float>(a1, a2, a3, a4, nullptr, a5, a6),
                             nullptr, csr<float>(a1, a2, a7, a8, nullptr, a9, a10),
                             csr<float>(a1, a2, a11, 0, nullptr, a12, nullptr), a13));
#define VGPU_ADD(letter)                                                                  \
  VGPU_BY(cusparse##letter##csrgeam2, 20,                                                 \
          add(__func__, a0, a3, csr(a1, a2, a4, a5, a6, a7, a8), a9,                      \
              csr(a1, a2, a10, a11, a12, a13, a14), csr(a1, a2, a15, 0, a16, a17, a18))); \
  VGPU_BY(cusparse##letter##csrgeam2_bufferSizeExt, 20, tell_room(a0, a19))
VGPU_ADD(S);
VGPU_ADD(D);
VGPU_ADD(C);
VGPU_ADD(Z);
