// SPDX-License-Identifier: Apache-2.0
// cuSPARSE: products with dense matrices, conversions and vectors, of every format, type,
// operation, layout, type of index and base, against sums in double precision. Wrong calls.
#include <limits>

#include "sparse_data.hpp"

namespace {

void check_products(cudaDataType type, Form form, int turn, int line = __builtin_LINE()) {
  const cudaDataType compute = compute_type(type);
  const Factor alpha(turn % 2 == 0 ? 2 : -1, compute), beta(turn % 3 == 0 ? 0 : 3, compute);
  const Matrix a = random_matrix(8, 6, type, 3);
  const Sparse sparse(a, type, form);
  status(cusparseSetPointerMode(
      handle, turn % 2 == 0 ? CUSPARSE_POINTER_MODE_HOST : CUSPARSE_POINTER_MODE_DEVICE));
  for (const Op op : operations(type)) {
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
    if (CALL(cusparseSpMV, line, handle, op, alpha, sparse.descriptor, in, beta, out, compute,
             CUSPARSE_SPMV_ALG_DEFAULT))
      same(to.read(), expected.values, "a product with a vector", line);
    status(cusparseDestroyDnVec(in));
    status(cusparseDestroyDnVec(out));
    for (const Op op_b : operations(type)) {
      const auto order = (turn + op_b) % 2 == 0 ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW,
                 other = (turn + op) % 2 == 0 ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
      const Matrix b = random_matrix(op_b == kOps[0] ? left.cols : 5,
                                     op_b == kOps[0] ? 5 : left.cols, type),
                   c = random_matrix(left.rows, 5, type);
      const Dense right(b, type, order);
      Dense result(c, type, other);
      if (CALL(cusparseSpMM, line, handle, op, op_b, alpha, sparse.descriptor, right.descriptor,
               beta, result.descriptor, compute, CUSPARSE_SPMM_ALG_DEFAULT))
        result.check(combined(alpha.value, product(left, apply(b, op_b)), beta.value, c),
                     "a product with a matrix", line);
    }
  }
  // Of the products of dense matrices only the elements that A has. cuSPARSE does not convert BSR.
  const bool samples = form.format == CUSPARSE_FORMAT_CSR ||
                       (form.format == CUSPARSE_FORMAT_BSR && on_virtual_gpu());
  for (const Op op : {kOps[0], kOps[1]}) {
    if (!samples) break;
    const Matrix p = random_matrix(op == kOps[0] ? 8 : 4, op == kOps[0] ? 4 : 8, type),
                 q = random_matrix(6, 4, type);
    const Dense left(p, type, CUSPARSE_ORDER_ROW), right(q, type, CUSPARSE_ORDER_COL);
    const Matrix sums =
        combined(alpha.value, product(apply(p, op), apply(q, kOps[1])), beta.value, a);
    Matrix expected = sums;
    const Sparse found(a, type, form);
    if (!CALL(cusparseSDDMM, line, handle, op, kOps[1], alpha, left.descriptor, right.descriptor,
              beta, found.descriptor, compute, CUSPARSE_SDDMM_ALG_DEFAULT))
      continue;
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 6; ++j) {
        bool stored = a.at(i, j) != 0.0;
        for (int k = 0; k < 4; ++k)
          stored |= form.format == CUSPARSE_FORMAT_BSR &&
                    a.at(i / 2 * 2 + k / 2, j / 2 * 2 + k % 2) != 0.0;
        if (!stored) expected.at(i, j) = 0;
      }
    }
    same(to_dense(found, 8, 6, line).values, expected.values, "a sampled product", line);
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
  constexpr auto kAlg = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
  const auto convert = [&](void* work) {
    status(cusparseDenseToSparse_analysis(handle, dense.descriptor, found, kAlg, work));
    std::int64_t rows, cols, count;
    status(cusparseSpMatGetSize(found, &rows, &cols, &count));
    require(rows == 7 && cols == 9 && count == expected.count, "the number of elements", line);
    status((coo   ? cusparseCooSetPointers
            : csc ? cusparseCscSetPointers
                  : cusparseCsrSetPointers)(found, first.get(), index.get(), values.get()));
    return cusparseDenseToSparse_convert(handle, dense.descriptor, found, kAlg, work);
  };
  with_workspace(
      [&](std::size_t* bytes) {
        return cusparseDenseToSparse_bufferSize(handle, dense.descriptor, found, kAlg, bytes);
      },
      convert, line);
  require(first.read() == download(expected.first, lines * width) &&
              index.read() == download(expected.index, expected.count * width),
          "the structure of a dense matrix", line);
  same(values.read(), expected.values->read(), "the elements of a dense matrix", line);
  status(cusparseDestroySpMat(found));
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
  CALL(cusparseSpVV, line, handle, kOps[is_complex(type) ? 2 : 0], in, out, sum.data(), compute);
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
  std::size_t bytes = 0;
  status(cusparseSpMV_bufferSize(handle, kOps[0], &alpha, a.descriptor, in, &beta, out, CUDA_R_32F,
                                 CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  const Workspace buffer(bytes);
  const auto work = [&] {
    add_one<<<1, 64, 0, stream>>>(x.get(), 64);
    status(cusparseSpMV(handle, kOps[0], &alpha, a.descriptor, in, &beta, out, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, buffer.data));
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
  CALL(cusparseSpMM, __LINE__, handle, kOps[0], kOps[0], &alpha, sparse.descriptor, b, &beta, c,
       CUDA_R_64F, CUSPARSE_SPMM_ALG_DEFAULT);
  same(out.read(), expected, "a batch of products", __LINE__);
}

// A matrix without elements, and one without columns.
void check_empty() {
  const Factor alpha(2, CUDA_R_32F), beta(3, CUDA_R_32F);
  for (const int cols : {5, 0}) {
    const Sparse a(Matrix(4, cols), CUDA_R_32F, {});
    const Matrix c = random_matrix(4, 2, CUDA_R_32F);
    const Dense b(random_matrix(cols, 2, CUDA_R_32F), CUDA_R_32F, CUSPARSE_ORDER_COL);
    Dense result(c, CUDA_R_32F, CUSPARSE_ORDER_ROW);
    CALL(cusparseSpMM, __LINE__, handle, kOps[0], kOps[0], alpha, a.descriptor, b.descriptor, beta,
         result.descriptor, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT);
    result.check(combined(0, c, 3, c), "a product with an empty matrix", __LINE__);
  }
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
  status(multiply(nullptr, b), CUSPARSE_STATUS_INVALID_VALUE);
  status(multiply(handle, small), CUSPARSE_STATUS_INVALID_VALUE);
  const Workspace work(1 << 16);
  status(cusparseSpMM(handle, kOps[2], kOps[0], &one, a.descriptor, b.descriptor, &one,
                      b.descriptor, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, work.data),
         CUSPARSE_STATUS_INVALID_VALUE);
  const Sparse columns(m, CUDA_R_32F, {CUSPARSE_FORMAT_CSC});
  status(cusparseSDDMM(handle, kOps[0], kOps[0], &one, b.descriptor, b.descriptor, &one,
                       columns.descriptor, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, work.data),
         CUSPARSE_STATUS_NOT_SUPPORTED);
  cusparseSpMatDescr_t oblong;
  status(cusparseCreateBsr(&oblong, 2, 2, 1, 2, 3, a.first, a.index, a.values->get(),
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                           CUDA_R_32F, CUSPARSE_ORDER_COL),
         CUSPARSE_STATUS_INVALID_VALUE);
  cusparseDnMatDescr_t wrong;
  status(cusparseCreateDnMat(&wrong, 4, 4, 3, nullptr, CUDA_R_32F, CUSPARSE_ORDER_COL),
         CUSPARSE_STATUS_INVALID_VALUE);
  require(std::strcmp(cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT),
                      "CUSPARSE_STATUS_ZERO_PIVOT") == 0,
          "a name");
  if (!on_virtual_gpu()) return;  // hardware answers otherwise
  status(multiply(handle, b, CUDA_C_16F), CUSPARSE_STATUS_NOT_SUPPORTED);
  status(multiply(handle, Dense(m, CUDA_C_32F, CUSPARSE_ORDER_COL)), CUSPARSE_STATUS_NOT_SUPPORTED);
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
  }
  check_batches();
  check_empty();
  check_stream();
  check_wrong_calls();
  status(cusparseDestroy(handle));
  for (void* const data : allocations) require(cudaFree(data));
  std::puts("right");
}
