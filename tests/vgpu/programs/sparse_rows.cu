// SPDX-License-Identifier: Apache-2.0
// cuSPARSE: products and sums of sparse matrices, triangular systems and incomplete factors, of
// every type, against sums in double precision.
#include <tuple>

#include "sparse_data.hpp"

namespace {

// What SpGEMM and geam store, as a dense matrix.
Matrix read_csr(int rows, int cols, const int* offsets, const int* columns, const Values& values,
                int base) {
  Matrix m(rows, cols);
  const auto begin = download(offsets, rows + 1);
  const auto index = download(columns, begin.back() - base);
  const auto all = values.read();
  for (int row = 0; row < rows; ++row) {
    for (int p = begin[row] - base; p < begin[row + 1] - base; ++p) {
      require(p == begin[row] - base || index[p] > index[p - 1], "the order of columns");
      m.at(row, index[p] - base) += all[p];
    }
  }
  return m;
}

void check_sparse_product(cudaDataType type, bool reuse, int line = __builtin_LINE()) {
  const Matrix a = random_matrix(9, 7, type, 3), b = random_matrix(7, 8, type, 3);
  const Sparse left(a, type, {CUSPARSE_FORMAT_CSR, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE}),
      right(b, type, left.form);
  const Factor alpha(-2, type), beta(0, type);
  const Op op = kOps[0];
  const auto alg = CUSPARSE_SPGEMM_DEFAULT;
  int* const offsets = fresh<int>(10);
  cusparseSpMatDescr_t c;
  cusparseSpGEMMDescr_t descriptor;
  status(cusparseCreateCsr(&c, 9, 8, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, type));
  status(cusparseSpGEMM_createDescr(&descriptor));
  std::size_t bytes = 0, more = 0, most = 0;
  const auto estimate = [&](void* work) {
    status(reuse ? cusparseSpGEMMreuse_workEstimation(handle, op, op, left.descriptor,
                                                      right.descriptor, c, alg, descriptor, &bytes,
                                                      work)
                 : cusparseSpGEMM_workEstimation(handle, op, op, alpha, left.descriptor,
                                                 right.descriptor, beta, c, type, alg, descriptor,
                                                 &bytes, work));
  };
  const auto compute = [&](void* work, void* another, void* last) {
    status(reuse
               ? cusparseSpGEMMreuse_nnz(handle, op, op, left.descriptor, right.descriptor, c, alg,
                                         descriptor, &bytes, work, &more, another, &most, last)
               : cusparseSpGEMM_compute(handle, op, op, alpha, left.descriptor, right.descriptor,
                                        beta, c, type, alg, descriptor, &bytes, work));
  };
  estimate(nullptr);
  const Workspace first(bytes);
  estimate(first.data);
  compute(nullptr, nullptr, nullptr);
  const Workspace second(bytes), another(more), last(most);
  compute(second.data, another.data, last.data);
  std::int64_t rows, cols, count;
  status(cusparseSpMatGetSize(c, &rows, &cols, &count));
  int* const columns = fresh<int>(count);
  const Values values(Numbers(count, 1.0), type);
  status(cusparseCsrSetPointers(c, offsets, columns, values.get()));
  if (reuse) {
    status(cusparseSpGEMMreuse_copy(handle, op, op, left.descriptor, right.descriptor, c, alg,
                                    descriptor, &bytes, nullptr));
    const Workspace third(bytes);
    status(cusparseSpGEMMreuse_copy(handle, op, op, left.descriptor, right.descriptor, c, alg,
                                    descriptor, &bytes, third.data));
    for (int time = 0; time < 2; ++time)
      status(cusparseSpGEMMreuse_compute(handle, op, op, alpha, left.descriptor, right.descriptor,
                                         beta, c, type, alg, descriptor));
  } else {
    status(cusparseSpGEMM_copy(handle, op, op, alpha, left.descriptor, right.descriptor, beta, c,
                               type, alg, descriptor));
  }
  require(cudaDeviceSynchronize());
  same(read_csr(9, 8, offsets, columns, values, 1).values,
       combined(alpha.value, product(a, b), 0, a.values.empty() ? a : product(a, b)).values,
       "a product of sparse matrices", line);
  status(cusparseSpGEMM_destroyDescr(descriptor));
  status(cusparseDestroySpMat(c));
}

// Triangular systems: op(A) X is alpha B again. Diagonals are 1 or 2, so that results are exact.
void check_solve(cudaDataType type, Form form, Op op, bool lower, bool unit,
                 int line = __builtin_LINE()) {
  Matrix a = random_matrix(6, 6, type, 2), used(6, 6);
  for (int i = 0; i < 6; ++i) {
    a.at(i, i) = draw(1, 2);
    for (int j = 0; j < 6; ++j)
      if (i == j)
        used.at(i, j) = unit ? 1.0 : a.at(i, j);
      else if (lower ? j < i : j > i)
        used.at(i, j) = a.at(i, j);
  }
  const Sparse sparse(a, type, form);
  cusparseFillMode_t fill = lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  status(
      cusparseSpMatSetAttribute(sparse.descriptor, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
  status(cusparseSpMatSetAttribute(sparse.descriptor, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal,
                                   sizeof diagonal));
  const Matrix b = random_matrix(6, 3, type);
  const Factor alpha(2, type);
  const Dense right(b, type, CUSPARSE_ORDER_ROW);
  const Dense result(Matrix(6, 3), type, CUSPARSE_ORDER_COL);
  cusparseSpSMDescr_t plan;
  status(cusparseSpSM_createDescr(&plan));
  SOLVE(cusparseSpSM, line, handle, op, kOps[0], alpha, sparse.descriptor, right.descriptor,
        result.descriptor, type, CUSPARSE_SPSM_ALG_DEFAULT, plan);
  status(cusparseSpSM_destroyDescr(plan));
  const Matrix x = result.read();
  Matrix scaled = b;
  for (Number& value : scaled.values) value *= 2.0;
  same(product(apply(used, op), x).values, scaled.values, "a triangular system", line);
  // The first column alone.
  cusparseSpSVDescr_t of_one;
  cusparseDnVecDescr_t in, out;
  Numbers column(6), first(6);
  for (int i = 0; i < 6; ++i) column[i] = b.at(i, 0), first[i] = x.at(i, 0);
  const Values vector(column, type);
  status(cusparseCreateDnVec(&in, 6, vector.get(), type));
  status(cusparseCreateDnVec(&out, 6, vector.get(), type));
  status(cusparseSpSV_createDescr(&of_one));
  SOLVE(cusparseSpSV, line, handle, op, alpha, sparse.descriptor, in, out, type,
        CUSPARSE_SPSV_ALG_DEFAULT, of_one);
  status(cusparseSpSV_destroyDescr(of_one));
  same(vector.read(), first, "a triangular system of one column", line);
  status(cusparseDestroyDnVec(in));
  status(cusparseDestroyDnVec(out));
}

void check_sum(cusparseIndexBase_t base, int line = __builtin_LINE()) {
  const Matrix a = random_matrix(8, 5, CUDA_R_64F, 3), b = random_matrix(8, 5, CUDA_R_64F, 3);
  const Form form{CUSPARSE_FORMAT_CSR, CUSPARSE_INDEX_32I, base};
  const Sparse left(a, CUDA_R_64F, form), right(b, CUDA_R_64F, form);
  cusparseMatDescr_t of_base;
  status(cusparseCreateMatDescr(&of_base));
  status(cusparseSetMatIndexBase(of_base, base));
  const auto ints = [](const char* data) { return reinterpret_cast<const int*>(data); };
  const auto doubles = [](const Sparse& m) {
    return reinterpret_cast<const double*>(m.values->get());
  };
  int *const offsets = fresh<int>(9), count = 0;
  const double alpha = 2, beta = -3;
  std::size_t bytes = 0;
  status(cusparseDcsrgeam2_bufferSizeExt(
      handle, 8, 5, &alpha, of_base, left.count, doubles(left), ints(left.first), ints(left.index),
      &beta, of_base, right.count, doubles(right), ints(right.first), ints(right.index), of_base,
      nullptr, offsets, nullptr, &bytes));
  const Workspace work(bytes);
  status(cusparseXcsrgeam2Nnz(handle, 8, 5, of_base, left.count, ints(left.first), ints(left.index),
                              of_base, right.count, ints(right.first), ints(right.index), of_base,
                              offsets, &count, work.data));
  int* const columns = fresh<int>(count);
  const Values values(Numbers(count), CUDA_R_64F);
  status(cusparseDcsrgeam2(handle, 8, 5, &alpha, of_base, left.count, doubles(left),
                           ints(left.first), ints(left.index), &beta, of_base, right.count,
                           doubles(right), ints(right.first), ints(right.index), of_base,
                           reinterpret_cast<double*>(values.get()), offsets, columns, work.data));
  same(read_csr(8, 5, offsets, columns, values, base).values, combined(alpha, a, beta, b).values,
       "a sum of sparse matrices", line);
  // Rows as indices and as offsets, and the transposed matrix.
  int *const rows = fresh<int>(count), *const again = fresh<int>(9);
  status(cusparseXcsr2coo(handle, offsets, count, 8, rows, base));
  status(cusparseXcoo2csr(handle, rows, count, 8, again, base));
  require(download(again, 9) == download(offsets, 9), "offsets of rows", line);
  int *const turned = fresh<int>(6), *const indices = fresh<int>(count);
  const Values by_columns(Numbers(count), CUDA_R_64F);
  const auto kAlg = CUSPARSE_CSR2CSC_ALG_DEFAULT;
  const auto kNumeric = CUSPARSE_ACTION_NUMERIC;
  CALL(cusparseCsr2cscEx2, line, handle, 8, 5, count, values.get(), offsets, columns,
       by_columns.get(), turned, indices, CUDA_R_64F, kNumeric, base, kAlg);
  same(read_csr(5, 8, turned, indices, by_columns, base).values,
       apply(combined(alpha, a, beta, b), kOps[1]).values, "a transposed matrix", line);
  status(cusparseDestroyMatDescr(of_base));
}

// Incomplete factors: where A has elements, their product is A.
template <class T, class Info>
void check_factors(cudaDataType type, bool cholesky, auto functions, Info info,
                   int line = __builtin_LINE()) {
  constexpr int n = 12;
  const auto [size, analyse, factor, zero] = functions;
  Matrix a = random_matrix(n, n, type, 3);
  for (int i = 0; i < n; ++i) {
    a.at(i, i) = 40;
    for (int j = 0; j < i && cholesky; ++j) a.at(i, j) = std::conj(a.at(j, i));
  }
  cusparseMatDescr_t descriptor;
  status(cusparseCreateMatDescr(&descriptor));
  status(cusparseSetMatIndexBase(descriptor, CUSPARSE_INDEX_BASE_ONE));
  for (const bool singular : {false, true}) {
    if (singular) a.at(4, 4) = 0;  // is not stored
    if (singular && !on_virtual_gpu()) continue;
    const Sparse sparse(a, type,
                        {CUSPARSE_FORMAT_CSR, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE});
    T* const values = reinterpret_cast<T*>(sparse.values->get());
    const int *const offsets = reinterpret_cast<int*>(sparse.first), *const columns =
                                                                         reinterpret_cast<int*>(
                                                                             sparse.index);
    int bytes = 0, position = 0;
    status(size(handle, n, sparse.count, descriptor, values, offsets, columns, info, &bytes));
    const Workspace work(bytes);
    constexpr auto kPolicy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
    status(analyse(handle, n, sparse.count, descriptor, values, offsets, columns, info, kPolicy,
                   work.data));
    status(factor(handle, n, sparse.count, descriptor, values, offsets, columns, info, kPolicy,
                  work.data));
    status(zero(handle, info, &position),
           singular ? CUSPARSE_STATUS_ZERO_PIVOT : CUSPARSE_STATUS_SUCCESS);
    require(position == (singular ? 5 : -1), "the place of a zero pivot", line);
    if (singular) continue;
    const Matrix found = to_dense(sparse, n, n, line);
    Matrix left(n, n), right(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) {
        left.at(i, j) = i == j && !cholesky ? 1.0 : found.at(i, j);
        right.at(j, i) = cholesky ? std::conj(found.at(i, j)) : found.at(j, i);
      }
    }
    const Matrix again = product(left, right);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        require(a.at(i, j) == 0.0 || (cholesky && j > i) ||
                    std::abs(again.at(i, j) - a.at(i, j)) < 1e-4,
                "incomplete factors", line);
  }
  status(cusparseDestroyMatDescr(descriptor));
}

#define FACTORS(letter, T, type)                                                             \
  check_factors<T>(                                                                          \
      type, false,                                                                           \
      std::tuple(cusparse##letter##csrilu02_bufferSize, cusparse##letter##csrilu02_analysis, \
                 cusparse##letter##csrilu02, cusparseXcsrilu02_zeroPivot),                   \
      ilu);                                                                                  \
  check_factors<T>(                                                                          \
      type, true,                                                                            \
      std::tuple(cusparse##letter##csric02_bufferSize, cusparse##letter##csric02_analysis,   \
                 cusparse##letter##csric02, cusparseXcsric02_zeroPivot),                     \
      ic)

void check_all_factors() {
  csrilu02Info_t ilu;
  csric02Info_t ic;
  status(cusparseCreateCsrilu02Info(&ilu));
  status(cusparseCreateCsric02Info(&ic));
  FACTORS(S, float, CUDA_R_32F);
  FACTORS(D, double, CUDA_R_64F);
  FACTORS(C, cuComplex, CUDA_C_32F);
  FACTORS(Z, cuDoubleComplex, CUDA_C_64F);
  status(cusparseDestroyCsrilu02Info(ilu));
  status(cusparseDestroyCsric02Info(ic));
}

}  // namespace

int main() {
  status(cusparseCreate(&handle));
  std::vector<Form> all;
  for (const Form& form : forms())
    if (form.format == CUSPARSE_FORMAT_CSR || form.format == CUSPARSE_FORMAT_COO)
      all.push_back(form);
  std::size_t turn = 0;
  for (const auto type : {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F}) {
    check_sparse_product(type, false);
    check_sparse_product(type, true);
    for (const Op op : operations(type))
      for (const int way : {0, 1, 2, 3})
        check_solve(type, all[turn++ % all.size()], op, way % 2 == 0, way / 2 == 0);
  }
  check_sum(CUSPARSE_INDEX_BASE_ZERO);
  check_sum(CUSPARSE_INDEX_BASE_ONE);
  check_all_factors();
  status(cusparseDestroy(handle));
  for (void* const data : allocations) require(cudaFree(data));
  std::puts("right");
}
