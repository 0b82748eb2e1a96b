// SPDX-License-Identifier: Apache-2.0
// The stand-in for cuBLAS against products in double precision: types, operations, batches and
// scalars, on random sizes. What must not be read is NaN, and what must not be written keeps its
// bits.
#include "blas_matrix.hpp"

namespace {

void** pointers(const Matrix& matrix) {
  std::vector<void*> list;
  for (long entry = 0; entry < matrix.batch; ++entry)
    list.push_back(static_cast<char*>(matrix.device) +
                   entry * matrix.stride * format_of(matrix.type).bytes);
  return upload(list);
}

void check_gemm(cublasHandle_t handle, const Case& t, int form) {
  // Which products of integers cuBLAS has beyond the documented form of tensor cores is not said.
  const bool tensor = t.compute == CUBLAS_COMPUTE_32I && !on_virtual_gpu();
  const long unit = tensor ? 4 : 1;
  const long m = any(1, 40 / static_cast<int>(unit)) * unit, n = any(1, 40),
             k = any(0, 50 / static_cast<int>(unit)) * unit, batch = form == 0 ? 1 : any(1, 3);
  const auto one_of = [&](cublasOperation_t only) {
    constexpr cublasOperation_t kAll[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    return tensor ? only : kAll[any(0, 2)];
  };
  const auto op_a = one_of(CUBLAS_OP_T), op_b = one_of(CUBLAS_OP_N);
  Matrix a = operand(t.a, op_a, m, k, t.ld_unit(), batch, false);
  Matrix b = operand(t.b, op_b, k, n, t.ld_unit(), batch, false);
  Matrix c(t.c, m, n, unit, batch);
  const Scalars s = any_scalars(t);
  // Only beta = 0 is documented to keep an operand from being read.
  if (s.alpha_value != 0 || !on_virtual_gpu()) a.fill(), b.fill();
  if (s.beta_value != 0) c.fill();
  a.upload(), b.upload(), c.upload();  // else NaN
  std::vector<Exact> wanted;
  for (long e = 0; e < batch; ++e)
    wanted.push_back(exact(t, op_a, op_b, a, b, c, s.alpha_value, s.beta_value, e));
  const int im = static_cast<int>(m), in = static_cast<int>(n), ik = static_cast<int>(k);
  const int lda = std::max(1, static_cast<int>(a.ld)), ldb = std::max(1, static_cast<int>(b.ld)),
            ldc = static_cast<int>(c.ld), count = static_cast<int>(batch);
  const std::string what =
      "form " + std::to_string(form) + ", compute " + std::to_string(t.compute);
  // The functions of one type, for one product or a batch with strides.
  const auto of_type = [&](auto zero, auto one, auto strided) {
    using T = decltype(zero);
    const T *const alpha = reinterpret_cast<const T*>(s.alpha), *const beta =
                                                                    reinterpret_cast<const T*>(
                                                                        s.beta);
    T *const da = static_cast<T*>(a.device), *const db = static_cast<T*>(b.device),
             *const dc = static_cast<T*>(c.device);
    if (batch == 1)
      return one(handle, op_a, op_b, im, in, ik, alpha, da, lda, db, ldb, beta, dc, ldc);
    return strided(handle, op_a, op_b, im, in, ik, alpha, da, lda, a.stride, db, ldb, b.stride,
                   beta, dc, ldc, c.stride, count);
  };
  if (form == 3 && t.a == k64F)
    ok(of_type(0.0, cublasDgemm, cublasDgemmStridedBatched), what);
  else if (form == 3)
    ok(of_type(0.0F, cublasSgemm, cublasSgemmStridedBatched), what);
  else if (form == 0)
    ok(cublasGemmEx(handle, op_a, op_b, im, in, ik, s.alpha, a.device, t.a, lda, b.device, t.b, ldb,
                    s.beta, c.device, t.c, ldc, t.compute, CUBLAS_GEMM_DEFAULT),
       what);
  else if (form == 1)
    ok(cublasGemmStridedBatchedEx(handle, op_a, op_b, im, in, ik, s.alpha, a.device, t.a, lda,
                                  a.stride, b.device, t.b, ldb, b.stride, s.beta, c.device, t.c,
                                  ldc, c.stride, count, t.compute, CUBLAS_GEMM_DEFAULT),
       what);
  else
    ok(cublasGemmBatchedEx(handle, op_a, op_b, im, in, ik, s.alpha, pointers(a), t.a, lda,
                           pointers(b), t.b, ldb, s.beta, pointers(c), t.c, ldc, count, t.compute,
                           CUBLAS_GEMM_DEFAULT),
       what);
  take(c, what);
  for (long e = 0; e < batch; ++e) {
    require(is_near(c, e, wanted[static_cast<std::size_t>(e)]), what.c_str());
    if (e == 0 && t.d != k8I) {  // the comparison itself can fail
      Exact off = wanted[0];
      off.v(m - 1, n - 1) += 2 * (off.e(m - 1, n - 1) + std::abs(off.v(m - 1, n - 1)) + 1);
      require(!is_near(c, 0, off, false), "a wrong value is seen");
    }
  }
}

// 8-bit integers with 32-bit sums need aligned operands.
void check_alignment(cublasHandle_t blas) {
  const int one = 1, zero = 0;
  Matrix a(k8I, 8, 8), b(k8I, 8, 8), c(k32I, 8, 8);
  a.fill(), b.fill(), c.fill();
  const auto product = [&](int offset, int lda, int ldb) {
    return cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, 4, 4, 4, &one,
                        static_cast<signed char*>(a.device) + offset, k8I, lda, b.device, k8I, ldb,
                        &zero, c.device, k32I, 8, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT);
  };
  ok(product(4, 4, 8), "aligned operands");
  require(product(1, 4, 8) == CUBLAS_STATUS_NOT_SUPPORTED, "A is not aligned");
  require(product(0, 5, 8) == CUBLAS_STATUS_NOT_SUPPORTED, "lda is no multiple of 4");
  require(product(0, 4, 6) == CUBLAS_STATUS_NOT_SUPPORTED, "ldb is no multiple of 4");
}

void check_nan(cublasHandle_t blas) {
  const float one = 1, zero = 0;
  Matrix a(k32F, 5, 5), b(k32F, 5, 5), c(k32F, 5, 5);
  a.fill(), b.fill(), c.upload();
  put(k32F, a.host.data(), a.at(0, 2, 3), std::numeric_limits<double>::quiet_NaN());
  a.upload();
  ok(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, 5, 5, 5, &one, a.device, k32F,
                  static_cast<int>(a.ld), b.device, k32F, static_cast<int>(b.ld), &zero, c.device,
                  k32F, static_cast<int>(c.ld), CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT),
     "a product with NaN");
  take(c, "a product with NaN");
  for (long i = 0; i < 5; ++i) {
    for (long j = 0; j < 5; ++j)
      require(std::isnan(c.value(0, i, j)) == (i == 2), "NaN fills its row, and only that");
  }
}

// A column of all numbers in half precision, by 1.
void check_every_half(cublasHandle_t blas) {
  constexpr int kCount = 1 << 16;
  std::vector<std::uint16_t> codes(kCount);
  for (int i = 0; i < kCount; ++i) codes[i] = static_cast<std::uint16_t>(i);
  const float one = 1, zero = 0;
  float* const c = allocate<float>(kCount);
  ok(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, kCount, 1, 1, &one, upload(codes), CUDA_R_16F,
                  kCount, upload<__half>({__half(1)}), CUDA_R_16F, 1, &zero, c, CUDA_R_32F, kCount,
                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
     "every half");
  const std::vector<float> numbers = download(c, kCount);
  for (int i = 0; i < kCount; ++i) {
    __half_raw code;
    code.x = codes[i];
    const float number = __half2float(__half(code));
    require(numbers[i] == number || (std::isnan(numbers[i]) && std::isnan(number)), "a half");
  }
}

}  // namespace

int main() {
  cublasHandle_t blas = nullptr;
  ok(cublasCreate(&blas));
  constexpr int kRounds = 8;
  for (int i = 0; i < kGemmCases * kRounds; ++i) {
    const Case& t = kCases[i % kGemmCases];
    const bool has_own_functions = &t == &kCases[0] || t.a == k64F;
    for (int form = 0; form < (has_own_functions ? 4 : 3); ++form) check_gemm(blas, t, form);
  }
  check_nan(blas);
  check_every_half(blas);
  check_alignment(blas);
  ok(cublasDestroy(blas));
}
