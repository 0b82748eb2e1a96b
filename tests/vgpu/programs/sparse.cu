// SPDX-License-Identifier: Apache-2.0
// cuSPARSE: every format, type, operation, layout, type of index and base against sums in double
// precision. All values are small integers, so that every result is exact. Wrong calls.
#include <cuda_fp16.h>
#include <cusparse.h>
#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "device_array.hpp"

namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;
using Op = cusparseOperation_t;
constexpr Op kOps[] = {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
                       CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
constexpr cudaDataType kTypes[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F, CUDA_R_16F};

void status(cusparseStatus_t found, cusparseStatus_t expected = CUSPARSE_STATUS_SUCCESS,
            int line = __builtin_LINE()) {
  if (found != expected) std::fprintf(stderr, "%s\n", cusparseGetErrorName(found));
  require(found == expected, "a status of cuSPARSE", line);
}

// The same numbers in each run.
int draw(int least, int most) {
  static unsigned state = 1;
  state = state * 1664525 + 1013904223;
  return least + static_cast<int>((state >> 8) % static_cast<unsigned>(most - least + 1));
}

// Memory that has never been written, until the end of the program.
std::vector<void*> allocations;
template <class T>
T* fresh(std::size_t count) {
  allocations.push_back(allocate<T>(count));
  return static_cast<T*>(allocations.back());
}

bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }
// Of alpha and beta, and what is computed with.
cudaDataType compute_type(cudaDataType type) { return type == CUDA_R_16F ? CUDA_R_32F : type; }

Number number(cudaDataType type) {
  return {static_cast<double>(draw(-3, 3)), is_complex(type) ? draw(-3, 3) : 0.0};
}
Numbers numbers(std::size_t count, cudaDataType type) {
  Numbers values(count);
  for (Number& value : values) value = number(type);
  return values;
}

// Values of any type, as bytes.
std::vector<char> encode(const Numbers& values, cudaDataType type) {
  std::vector<char> bytes;
  const auto add = [&](auto value) {
    const char* const from = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  for (const Number value : values) {
    switch (type) {
      case CUDA_R_16F: add(__half(value.real())); break;
      case CUDA_R_32F: add(static_cast<float>(value.real())); break;
      case CUDA_R_64F: add(value.real()); break;
      case CUDA_C_32F: add(std::complex<float>(value)); break;
      default: add(value); break;
    }
  }
  return bytes;
}
Numbers decode(const std::vector<char>& bytes, cudaDataType type) {
  Numbers values;
  const auto all = [&](auto zero) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof zero) {
      std::memcpy(&zero, &bytes[at], sizeof zero);
      if constexpr (std::is_same_v<decltype(zero), __half>)
        values.emplace_back(static_cast<float>(zero));
      else
        values.emplace_back(zero);
    }
  };
  switch (type) {
    case CUDA_R_16F: all(__half()); break;
    case CUDA_R_32F: all(0.0f); break;
    case CUDA_R_64F: all(0.0); break;
    case CUDA_C_32F: all(std::complex<float>()); break;
    default: all(Number()); break;
  }
  return values;
}

struct Values : DeviceArray<char> {
  Values(const Numbers& values, cudaDataType type)
      : DeviceArray(encode(values, type)), type(type) {}
  Numbers read() const { return decode(DeviceArray::read(), type); }
  cudaDataType type;
};

std::vector<char> encode(const std::vector<int>& indices, cusparseIndexType_t type, int base) {
  std::vector<char> bytes;
  for (const int index : indices) {
    const std::int64_t value = index + base;
    const std::size_t size = type == CUSPARSE_INDEX_64I ? 8 : 4;  // little-endian
    bytes.insert(bytes.end(), reinterpret_cast<const char*>(&value),
                 reinterpret_cast<const char*>(&value) + size);
  }
  return bytes;
}

// A matrix by rows.
struct Matrix {
  int rows, cols;
  Numbers values;
  Matrix(int rows, int cols) : rows(rows), cols(cols), values(std::size_t(rows) * cols) {}
  Number& at(int row, int col) { return values[std::size_t(row) * cols + col]; }
  Number at(int row, int col) const { return values[std::size_t(row) * cols + col]; }
};

Matrix random_matrix(int rows, int cols, cudaDataType type, int one_in = 1) {
  Matrix m(rows, cols);
  for (Number& value : m.values)
    if (draw(1, one_in) == 1) value = number(type);
  return m;
}

Matrix apply(const Matrix& m, Op op) {
  if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return m;
  Matrix turned(m.cols, m.rows);
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.cols; ++j)
      turned.at(j, i) = op == CUSPARSE_OPERATION_TRANSPOSE ? m.at(i, j) : std::conj(m.at(i, j));
  return turned;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.cols; ++k)
      for (int j = 0; j < b.cols; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

void same(const Numbers& found, const Numbers& expected, const char* what, int line) {
  require(found == expected, what, line);
}

// A matrix on the device, by columns or by rows, with a gap between its lines.
struct Dense {
  Dense(const Matrix& m, cudaDataType type, cusparseOrder_t order)
      : m(m),
        order(order),
        ld((order == CUSPARSE_ORDER_COL ? m.rows : m.cols) + 3),
        values(spread(), type) {
    status(cusparseCreateDnMat(&descriptor, m.rows, m.cols, ld, values.get(), type, order));
  }
  ~Dense() { cusparseDestroyDnMat(descriptor); }
  std::size_t place(int i, int j) const {
    return order == CUSPARSE_ORDER_COL ? std::size_t(j) * ld + i : std::size_t(i) * ld + j;
  }
  Numbers spread() const {
    Numbers all(std::size_t(ld) * (order == CUSPARSE_ORDER_COL ? m.cols : m.rows), 7.0);
    for (int i = 0; i < m.rows; ++i)
      for (int j = 0; j < m.cols; ++j) all[place(i, j)] = m.at(i, j);
    return all;
  }
  // Also that nothing between the lines has changed.
  void check(const Matrix& expected, const char* what, int line) {
    m = expected;
    same(values.read(), spread(), what, line);
  }
  Matrix m;
  cusparseOrder_t order;
  int ld;
  Values values;
  cusparseDnMatDescr_t descriptor;
};

struct Form {
  cusparseFormat_t format = CUSPARSE_FORMAT_CSR;
  cusparseIndexType_t index = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};
std::vector<Form> forms() {
  std::vector<Form> all;
  for (const auto format :
       {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO, CUSPARSE_FORMAT_BSR})
    for (const auto index : {CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I})
      for (const auto base : {CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE})
        all.push_back({format, index, base});
  return all;
}

// A sparse matrix on the device. Blocks of BSR are 2 x 3, by columns.
struct Sparse {
  Sparse(const Matrix& m, cudaDataType type, Form form) : form(form) {
    const bool by_columns = form.format == CUSPARSE_FORMAT_CSC;
    const int height = form.format == CUSPARSE_FORMAT_BSR ? 2 : 1,
              width = form.format == CUSPARSE_FORMAT_BSR ? 3 : 1,
              lines = by_columns ? m.cols : m.rows / height,
              across = by_columns ? m.rows : m.cols / width;
    std::vector<int> offsets{0}, rows, indices;
    Numbers stored;
    for (int line = 0; line < lines; ++line) {
      for (int i = 0; i < across; ++i) {
        Numbers block;
        for (int col = 0; col < width; ++col)
          for (int row = 0; row < height; ++row)
            block.push_back(by_columns ? m.at(i, line)
                                       : m.at(line * height + row, i * width + col));
        if (std::ranges::all_of(block, [](Number value) { return value == 0.0; })) continue;
        rows.push_back(line);
        indices.push_back(i);
        stored.insert(stored.end(), block.begin(), block.end());
      }
      offsets.push_back(static_cast<int>(indices.size()));
    }
    count = static_cast<int>(indices.size());
    const bool coo = form.format == CUSPARSE_FORMAT_COO;
    first = upload(encode(coo ? rows : offsets, form.index, form.base));
    index = upload(encode(indices, form.index, form.base));
    values = new Values(stored, type);
    const auto [format, kind, base] = form;
    if (coo)
      status(cusparseCreateCoo(&descriptor, m.rows, m.cols, count, first, index, values->get(),
                               kind, base, type));
    else if (format == CUSPARSE_FORMAT_BSR)
      status(cusparseCreateBsr(&descriptor, lines, across, count, height, width, first, index,
                               values->get(), kind, kind, base, type, CUSPARSE_ORDER_COL));
    else
      status((by_columns ? cusparseCreateCsc : cusparseCreateCsr)(
          &descriptor, m.rows, m.cols, count, first, index, values->get(), kind, kind, base, type));
  }
  ~Sparse() {
    status(cusparseDestroySpMat(descriptor));
    require(cudaFree(first));
    require(cudaFree(index));
    delete values;
  }
  Form form;
  int count;
  char *first, *index;
  Values* values;
  cusparseSpMatDescr_t descriptor;
};

cusparseHandle_t handle;

// alpha and beta, on the host or on the device.
struct Factor {
  Factor(Number value, cudaDataType type)
      : value(value), host(encode({value}, type)), device(host) {}
  operator const void*() const {
    cusparsePointerMode_t mode;
    status(cusparseGetPointerMode(handle, &mode));
    return mode == CUSPARSE_POINTER_MODE_HOST ? host.data() : device.get();
  }
  Number value;
  std::vector<char> host;
  DeviceArray<char> device;
};

Matrix combined(Number alpha, const Matrix& sum, Number beta, const Matrix& old) {
  Matrix c = sum;
  for (std::size_t i = 0; i < c.values.size(); ++i)
    c.values[i] = alpha * sum.values[i] + (beta == 0.0 ? 0.0 : beta * old.values[i]);
  return c;
}

// The memory that a function asks for.
struct Workspace {
  explicit Workspace(std::size_t bytes) { require(cudaMalloc(&data, bytes)); }
  ~Workspace() { cudaFree(data); }
  void* data;
};

void check_products(cudaDataType type, Form form, int turn, int line = __builtin_LINE()) {
  const cudaDataType compute = compute_type(type);
  const Factor alpha(turn % 2 == 0 ? 2 : -1, compute), beta(turn % 3 == 0 ? 0 : 3, compute);
  const Matrix a = random_matrix(8, 6, type, 3);
  const Sparse sparse(a, type, form);
  status(cusparseSetPointerMode(
      handle, turn % 2 == 0 ? CUSPARSE_POINTER_MODE_HOST : CUSPARSE_POINTER_MODE_DEVICE));
  for (const Op op : kOps) {
    const Matrix left = apply(a, op), x = random_matrix(left.cols, 1, type);
    Matrix y = random_matrix(left.rows, 1, type);
    const Matrix expected = combined(alpha.value, product(left, x), beta.value, y);
    if (beta.value == 0.0)
      y.values.assign(y.values.size(), std::numeric_limits<double>::quiet_NaN());
    const Values from(x.values, type), to(y.values, type);
    cusparseConstDnVecDescr_t in;
    cusparseDnVecDescr_t out;
    status(cusparseCreateConstDnVec(&in, x.rows, from.get(), type));
    status(cusparseCreateDnVec(&out, y.rows, to.get(), type));
    std::size_t bytes = 0;
    status(cusparseSpMV_bufferSize(handle, op, alpha, sparse.descriptor, in, beta, out, compute,
                                   CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    const Workspace work(bytes);
    status(cusparseSpMV(handle, op, alpha, sparse.descriptor, in, beta, out, compute,
                        CUSPARSE_SPMV_ALG_DEFAULT, work.data));
    same(to.read(), expected.values, "a product with a vector", line);
    status(cusparseDestroyDnVec(in));
    status(cusparseDestroyDnVec(out));
    for (const Op op_b : kOps) {
      const auto order = (turn + op_b) % 2 == 0 ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW,
                 other = (turn + op) % 2 == 0 ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
      const Matrix b = random_matrix(op_b == kOps[0] ? left.cols : 5,
                                     op_b == kOps[0] ? 5 : left.cols, type),
                   c = random_matrix(left.rows, 5, type);
      const Dense right(b, type, order);
      Dense result(c, type, other);
      status(cusparseSpMM(handle, op, op_b, alpha, sparse.descriptor, right.descriptor, beta,
                          result.descriptor, compute, CUSPARSE_SPMM_ALG_DEFAULT, work.data));
      result.check(combined(alpha.value, product(left, apply(b, op_b)), beta.value, c),
                   "a product with a matrix", line);
    }
  }
  // Of the products of dense matrices only the elements that A has.
  for (const Op op : kOps) {
    const Matrix p = random_matrix(op == kOps[0] ? 8 : 4, op == kOps[0] ? 4 : 8, type),
                 q = random_matrix(6, 4, type);
    const Dense left(p, type, CUSPARSE_ORDER_ROW), right(q, type, CUSPARSE_ORDER_COL);
    const Matrix sums =
        combined(alpha.value, product(apply(p, op), apply(q, kOps[1])), beta.value, a);
    Matrix expected = sums;
    const Sparse found(a, type, form);
    status(cusparseSDDMM(handle, op, kOps[1], alpha, left.descriptor, right.descriptor, beta,
                         found.descriptor, compute, CUSPARSE_SDDMM_ALG_DEFAULT, nullptr));
    Dense seen(Matrix(8, 6), type, CUSPARSE_ORDER_ROW);
    status(cusparseSparseToDense(handle, found.descriptor, seen.descriptor,
                                 CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 6; ++j) {
        bool stored = a.at(i, j) != 0.0;
        for (int k = 0; k < 6; ++k)
          stored |= form.format == CUSPARSE_FORMAT_BSR &&
                    a.at(i / 2 * 2 + k / 3, j / 3 * 3 + k % 3) != 0.0;
        if (!stored) expected.at(i, j) = 0;
      }
    }
    seen.check(expected, "a sampled product", line);
  }
  status(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
}

void check_from_dense(cudaDataType type, Form form, int line = __builtin_LINE()) {
  const Matrix m = random_matrix(7, 9, type, 4);
  const Dense dense(m, type, CUSPARSE_ORDER_COL);
  const Sparse expected(m, type, form);
  const std::size_t width = form.index == CUSPARSE_INDEX_64I ? 8 : 4;
  const bool coo = form.format == CUSPARSE_FORMAT_COO, csc = form.format == CUSPARSE_FORMAT_CSC;
  const std::size_t lines = coo ? expected.count : csc ? 10 : 8;
  const DeviceArray<char> first(lines * width), index(expected.count * width);
  const Values values(Numbers(expected.count), type);
  cusparseSpMatDescr_t found;
  if (coo)
    status(
        cusparseCreateCoo(&found, 7, 9, 0, nullptr, nullptr, nullptr, form.index, form.base, type));
  else
    status((csc ? cusparseCreateCsc : cusparseCreateCsr)(
        &found, 7, 9, 0, first.get(), nullptr, nullptr, form.index, form.index, form.base, type));
  status(cusparseDenseToSparse_analysis(handle, dense.descriptor, found,
                                        CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  std::int64_t rows, cols, count;
  status(cusparseSpMatGetSize(found, &rows, &cols, &count));
  require(rows == 7 && cols == 9 && count == expected.count, "the number of elements", line);
  status((coo   ? cusparseCooSetPointers
          : csc ? cusparseCscSetPointers
                : cusparseCsrSetPointers)(found, first.get(), index.get(), values.get()));
  status(cusparseDenseToSparse_convert(handle, dense.descriptor, found,
                                       CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  require(cudaDeviceSynchronize());
  require(first.read() == download(expected.first, lines * width) &&
              index.read() == download(expected.index, expected.count * width),
          "the structure of a dense matrix", line);
  same(values.read(), expected.values->read(), "the elements of a dense matrix", line);
  status(cusparseDestroySpMat(found));
}

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
      right(b, type, {});
  const Factor alpha(-2, type), beta(0, type);
  const Op op = kOps[0];
  const auto alg = CUSPARSE_SPGEMM_DEFAULT;
  int* const offsets = fresh<int>(10);
  cusparseSpMatDescr_t c;
  cusparseSpGEMMDescr_t descriptor;
  status(cusparseCreateCsr(&c, 9, 8, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
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
  const auto compute = [&](void* work) {
    status(reuse ? cusparseSpGEMMreuse_nnz(handle, op, op, left.descriptor, right.descriptor, c,
                                           alg, descriptor, &bytes, work, &more, work, &most, work)
                 : cusparseSpGEMM_compute(handle, op, op, alpha, left.descriptor, right.descriptor,
                                          beta, c, type, alg, descriptor, &bytes, work));
  };
  estimate(nullptr);
  const Workspace first(bytes);
  estimate(first.data);
  compute(nullptr);
  const Workspace second(bytes);
  compute(second.data);
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
  same(read_csr(9, 8, offsets, columns, values, 0).values,
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
  cusparseSpSMDescr_t work;
  status(cusparseSpSM_createDescr(&work));
  status(cusparseSpSM_solve(handle, op, kOps[0], alpha, sparse.descriptor, right.descriptor,
                            result.descriptor, type, CUSPARSE_SPSM_ALG_DEFAULT, work));
  status(cusparseSpSM_destroyDescr(work));
  require(cudaDeviceSynchronize());
  Matrix x(6, 3), scaled = b;
  const auto found = result.values.read();
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) x.at(i, j) = found[result.place(i, j)];
  for (Number& value : scaled.values) value *= 2.0;
  same(product(apply(used, op), x).values, scaled.values, "a triangular system", line);
  // The first column alone.
  cusparseSpSVDescr_t plan;
  cusparseDnVecDescr_t in, out;
  Numbers column(6), first(6);
  for (int i = 0; i < 6; ++i) column[i] = b.at(i, 0), first[i] = x.at(i, 0);
  const Values vector(column, type);
  status(cusparseCreateDnVec(&in, 6, vector.get(), type));
  status(cusparseCreateDnVec(&out, 6, vector.get(), type));
  status(cusparseSpSV_createDescr(&plan));
  status(cusparseSpSV_solve(handle, op, alpha, sparse.descriptor, in, out, type,
                            CUSPARSE_SPSV_ALG_DEFAULT, plan));
  status(cusparseSpSV_destroyDescr(plan));
  same(vector.read(), first, "a triangular system of one column", line);
  status(cusparseDestroyDnVec(in));
  status(cusparseDestroyDnVec(out));
}

void check_sum(cusparseIndexBase_t base, int line = __builtin_LINE()) {
  const Matrix a = random_matrix(8, 5, CUDA_R_64F, 3), b = random_matrix(8, 5, CUDA_R_64F, 3);
  const Sparse left(a, CUDA_R_64F, {}),
      right(b, CUDA_R_64F, {CUSPARSE_FORMAT_CSR, CUSPARSE_INDEX_32I, base});
  cusparseMatDescr_t of_zero, of_base;
  status(cusparseCreateMatDescr(&of_zero));
  status(cusparseCreateMatDescr(&of_base));
  status(cusparseSetMatIndexBase(of_base, base));
  const auto ints = [](const char* data) { return reinterpret_cast<const int*>(data); };
  const auto doubles = [](const Sparse& m) {
    return reinterpret_cast<const double*>(m.values->get());
  };
  int *const offsets = fresh<int>(9), count = 0;
  status(cusparseXcsrgeam2Nnz(handle, 8, 5, of_zero, left.count, ints(left.first), ints(left.index),
                              of_base, right.count, ints(right.first), ints(right.index), of_base,
                              offsets, &count, nullptr));
  int* const columns = fresh<int>(count);
  const Values values(Numbers(count), CUDA_R_64F);
  const double alpha = 2, beta = -3;
  status(cusparseDcsrgeam2(handle, 8, 5, &alpha, of_zero, left.count, doubles(left),
                           ints(left.first), ints(left.index), &beta, of_base, right.count,
                           doubles(right), ints(right.first), ints(right.index), of_base,
                           reinterpret_cast<double*>(values.get()), offsets, columns, nullptr));
  same(read_csr(8, 5, offsets, columns, values, base).values, combined(alpha, a, beta, b).values,
       "a sum of sparse matrices", line);
  // Rows as indices and as offsets, and the transposed matrix.
  int *const rows = fresh<int>(count), *const again = fresh<int>(9);
  status(cusparseXcsr2coo(handle, offsets, count, 8, rows, base));
  status(cusparseXcoo2csr(handle, rows, count, 8, again, base));
  require(download(again, 9) == download(offsets, 9), "offsets of rows", line);
  int *const turned = fresh<int>(6), *const indices = fresh<int>(count);
  const Values by_columns(Numbers(count), CUDA_R_64F);
  status(cusparseCsr2cscEx2(handle, 8, 5, count, values.get(), offsets, columns, by_columns.get(),
                            turned, indices, CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, base,
                            CUSPARSE_CSR2CSC_ALG_DEFAULT, nullptr));
  same(read_csr(5, 8, turned, indices, by_columns, base).values,
       apply(combined(alpha, a, beta, b), kOps[1]).values, "a transposed matrix", line);
  status(cusparseDestroyMatDescr(of_zero));
  status(cusparseDestroyMatDescr(of_base));
}

void check_vectors(cudaDataType type, int line = __builtin_LINE()) {
  const std::vector<int> places{1, 4, 5};
  const DeviceArray<char> indices(encode(places, CUSPARSE_INDEX_32I, 1));
  const cudaDataType compute = compute_type(type);
  const Factor alpha(2, compute), beta(-1, compute);
  Numbers x = numbers(3, type), y = numbers(7, type);
  const Values sparse(x, type), dense(y, type);
  cusparseSpVecDescr_t in;
  cusparseDnVecDescr_t out;
  status(cusparseCreateSpVec(&in, 7, 3, indices.get(), sparse.get(), CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ONE, type));
  status(cusparseCreateDnVec(&out, 7, dense.get(), type));
  const auto check = [&](const char* what) {
    same(sparse.read(), x, what, line);
    same(dense.read(), y, what, line);
  };
  status(cusparseAxpby(handle, alpha, in, beta, out));
  for (Number& value : y) value = -value;
  for (int i = 0; i < 3; ++i) y[places[i]] += 2.0 * x[i];
  check("a sum of vectors");
  std::vector<char> sum(16);
  status(cusparseSpVV(handle, kOps[2], in, out, sum.data(), compute, nullptr));
  Number expected;
  for (int i = 0; i < 3; ++i) expected += std::conj(x[i]) * y[places[i]];
  require(decode(sum, compute)[0] == expected, "a product of vectors", line);
  status(cusparseRot(handle, alpha, beta, in, out));
  for (int i = 0; i < 3; ++i) {
    const Number first = x[i], second = y[places[i]];
    x[i] = 2.0 * first - second;
    y[places[i]] = 2.0 * second + first;
  }
  check("a rotation");
  status(cusparseScatter(handle, in, out));
  for (int i = 0; i < 3; ++i) y[places[i]] = x[i];
  check("scattered elements");
  require(cudaMemset(sparse.get(), 0, encode(x, type).size()));
  status(cusparseGather(handle, out, in));
  check("gathered elements");
  status(cusparseDestroySpVec(in));
  status(cusparseDestroyDnVec(out));
}

__global__ void add_one(float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] += 1;
}

// A product follows the kernel before it on its stream, also in a graph, and kernels may read what
// it has written in memory that nothing else has.
void check_stream() {
  Matrix unit(64, 64);
  for (int i = 0; i < 64; ++i) unit.at(i, i) = 1;
  const Sparse a(unit, CUDA_R_32F, {});
  const DeviceArray<float> x(64);
  float* const y = fresh<float>(64);
  cudaStream_t stream, found;
  require(cudaStreamCreate(&stream));
  status(cusparseSetStream(handle, stream));
  status(cusparseGetStream(handle, &found));
  require(found == stream, "the stream");
  cusparseDnVecDescr_t in, out;
  status(cusparseCreateDnVec(&in, 64, x.get(), CUDA_R_32F));
  status(cusparseCreateDnVec(&out, 64, y, CUDA_R_32F));
  const float alpha = 2, beta = 0;
  const auto work = [&] {
    add_one<<<1, 64, 0, stream>>>(x.get(), 64);
    status(cusparseSpMV(handle, kOps[0], &alpha, a.descriptor, in, &beta, out, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
    add_one<<<1, 64, 0, stream>>>(y, 64);
  };
  work();
  require(cudaStreamSynchronize(stream));
  require(download(y, 64)[63] == 3, "a product between kernels");
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  work();
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&ready, graph, 0));
  for (int launch = 0; launch < 2; ++launch) require(cudaGraphLaunch(ready, stream));
  require(cudaStreamSynchronize(stream));
  require(download(y, 64)[63] == 7, "a captured product");
  status(cusparseSetStream(handle, nullptr));
  status(cusparseDestroyDnVec(in));
  status(cusparseDestroyDnVec(out));
}

void check_batches() {
  constexpr int kBatches = 3;
  const Matrix a = random_matrix(4, 5, CUDA_R_64F, 2);
  const Sparse sparse(a, CUDA_R_64F, {});
  Numbers right, expected;
  for (int batch = 0; batch < kBatches; ++batch) {
    const Matrix b = random_matrix(5, 2, CUDA_R_64F), c = product(a, b);
    right.insert(right.end(), b.values.begin(), b.values.end());
    expected.insert(expected.end(), c.values.begin(), c.values.end());
  }
  const Values in(right, CUDA_R_64F), out(Numbers(expected.size()), CUDA_R_64F);
  cusparseDnMatDescr_t b, c;
  status(cusparseCreateDnMat(&b, 5, 2, 2, in.get(), CUDA_R_64F, CUSPARSE_ORDER_ROW));
  status(cusparseCreateDnMat(&c, 4, 2, 2, out.get(), CUDA_R_64F, CUSPARSE_ORDER_ROW));
  status(cusparseDnMatSetStridedBatch(b, kBatches, 10));
  status(cusparseDnMatSetStridedBatch(c, kBatches, 8));
  status(cusparseCsrSetStridedBatch(sparse.descriptor, kBatches, 0, 0));
  const double alpha = 1, beta = 0;
  status(cusparseSpMM(handle, kOps[0], kOps[0], &alpha, sparse.descriptor, b, &beta, c, CUDA_R_64F,
                      CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
  same(out.read(), expected, "a batch of products", __LINE__);
}

void check_wrong_calls() {
  const Matrix m = random_matrix(4, 4, CUDA_R_32F, 2);
  const Sparse a(m, CUDA_R_32F, {});
  const Dense b(m, CUDA_R_32F, CUSPARSE_ORDER_COL),
      small(Matrix(4, 3), CUDA_R_32F, CUSPARSE_ORDER_COL);
  const float one = 1;
  const auto multiply = [&](cusparseHandle_t with, const Dense& to,
                            cudaDataType type = CUDA_R_32F) {
    return cusparseSpMM(with, kOps[0], kOps[0], &one, a.descriptor, b.descriptor, &one,
                        to.descriptor, type, CUSPARSE_SPMM_ALG_DEFAULT, nullptr);
  };
  status(multiply(nullptr, b), CUSPARSE_STATUS_NOT_INITIALIZED);
  status(multiply(handle, small), CUSPARSE_STATUS_INVALID_VALUE);
  cusparseDnMatDescr_t wrong;
  status(cusparseCreateDnMat(&wrong, 4, 4, 3, nullptr, CUDA_R_32F, CUSPARSE_ORDER_COL),
         CUSPARSE_STATUS_INVALID_VALUE);
  require(std::strcmp(cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT),
                      "CUSPARSE_STATUS_ZERO_PIVOT") == 0,
          "a name");
  if (dlsym(RTLD_DEFAULT, "vgpuDeviceName") == nullptr) return;  // hardware answers otherwise
  status(multiply(handle, b, CUDA_C_16F), CUSPARSE_STATUS_NOT_SUPPORTED);
  float host[16] = {};
  status(cusparseDnMatSetValues(b.descriptor, host));
  status(multiply(handle, b), CUSPARSE_STATUS_EXECUTION_FAILED);
  status(cusparseDnMatSetValues(b.descriptor, b.values.get()));
  const int beyond = 4;
  require(cudaMemcpy(a.index, &beyond, sizeof beyond, cudaMemcpyHostToDevice));
  status(multiply(handle, b));
  require(cudaDeviceSynchronize());
  bsrsv2Info_t info;
  status(cusparseCreateBsrsv2Info(&info), CUSPARSE_STATUS_NOT_SUPPORTED);
}

}  // namespace

int main() {
  status(cusparseCreate(&handle));
  int turn = 0;
  for (const auto type : kTypes) {
    for (const Form& form : forms()) {
      check_products(type, form, turn++);
      if (form.format != CUSPARSE_FORMAT_BSR) check_from_dense(type, form);
    }
    check_vectors(type);
    if (type == CUDA_R_16F) continue;
    check_sparse_product(type, false);
    check_sparse_product(type, true);
    for (const Op op : kOps)
      for (const int way : {0, 1, 2, 3})
        check_solve(type, forms()[turn++ % 12], op, way % 2 == 0, way / 2 == 0);
  }
  check_sum(CUSPARSE_INDEX_BASE_ZERO);
  check_sum(CUSPARSE_INDEX_BASE_ONE);
  check_batches();
  check_stream();
  check_wrong_calls();
  status(cusparseDestroy(handle));
  for (void* const data : allocations) require(cudaFree(data));
  std::puts("right");
}
