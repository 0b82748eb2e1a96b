// SPDX-License-Identifier: Apache-2.0
// cuSOLVER: factors and solutions of each type, by what they must fulfil in double precision. Wrong
// calls.
#include <cstdint>

#include "solver_data.hpp"

namespace {

template <class T>
void check_lu(int m, int n, bool pivots) {
  using F = Of<T>;
  Matrix a = random_matrix<T>(m, n);
  for (int i = 0; i < std::min(m, n) && !pivots; ++i) a.at(i, i) += 8;
  const Device<T> factors(a);
  const DeviceArray<int> rows(std::min(m, n));
  const Info info;
  int size = 0;
  status(F::getrf_room(handle, m, n, factors.get(), factors.ld, &size));
  require(size <= kSize<T>, "the size of a workspace");
  int* const order = pivots ? rows.get() : nullptr;
  status(F::getrf(handle, m, n, factors.get(), factors.ld, work<T>(), order, info.get()));
  info.check();
  const int least = std::min(m, n);
  Matrix exchanged = a;
  const auto swaps = rows.read();
  for (int i = 0; i < least && pivots; ++i)
    for (int j = 0; j < n; ++j) std::swap(exchanged.at(i, j), exchanged.at(swaps[i] - 1, j));
  Matrix l = part(factors.read(), m, least, [](int i, int j) { return i > j; });
  for (int i = 0; i < least; ++i) l.at(i, i) = 1;
  close<T>(l * upper(factors.read(), least), exchanged, "L U");
  if (m != n) return;
  const Matrix b = random_matrix<T>(n, 3);
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    const Device<T> x(b);
    status(F::getrs(handle, op, n, 3, factors.get(), factors.ld, order, x.get(), x.ld, info.get()));
    info.check();
    close<T>((op == CUBLAS_OP_N ? a : transposed(a, op == CUBLAS_OP_C)) * x.read(), b, "A X");
  }
  // With 64 bits.
  const Device<T> again(a), x(b);
  const DeviceArray<std::int64_t> wide(n);
  status(cusolverDnXgetrf(handle, params, n, n, F::kType, again.get(), again.ld,
                          pivots ? wide.get() : nullptr, F::kType, room, kRoom, host_room, kRoom,
                          info.get()));
  status(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, n, 3, F::kType, again.get(), again.ld,
                          pivots ? wide.get() : nullptr, F::kType, x.get(), x.ld, info.get()));
  info.check();
  close<T>(a * x.read(), b, "A X with 64 bits");
}

template <class T>
void check_cholesky(cublasFillMode_t uplo) {
  using F = Of<T>;
  constexpr int n = 9;
  const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
  const auto inside = [=](int i, int j) { return lower ? i >= j : i <= j; };
  const Matrix a = hermitian<T>(n, 12);
  Matrix half = part(a, n, n, inside);  // of the other triangle nothing is read or written
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (!inside(i, j)) half.at(i, j) = 55;
  const auto check_other = [&](const Matrix& m) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) require(inside(i, j) || m.at(i, j) == 55.0, "the other triangle");
  };
  const Device<T> factor(half);
  const Info info;
  status(F::potrf(handle, uplo, n, factor.get(), factor.ld, work<T>(), kSize<T>, info.get()));
  info.check();
  const Matrix c = part(factor.read(), n, n, inside);
  check_other(factor.read());
  close<T>(lower ? c * transposed(c) : transposed(c) * c, a, "L L^H");
  const Matrix b = random_matrix<T>(n, 2);
  const Device<T> x(b);
  status(F::potrs(handle, uplo, n, 2, factor.get(), factor.ld, x.get(), x.ld, info.get()));
  close<T>(a * x.read(), b, "A X by Cholesky");
  status(F::potri(handle, uplo, n, factor.get(), factor.ld, work<T>(), kSize<T>, info.get()));
  info.check();
  check_other(factor.read());
  Matrix inverse = part(factor.read(), n, n, inside);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (!inside(i, j)) inverse.at(i, j) = std::conj(inverse.at(j, i));
  close<T>(a * inverse, unit(n), "A and its inverse");
  // A batch, and one that is not positive definite.
  Matrix indefinite = a;
  indefinite.at(4, 4) = -1;
  const Device<T> first(a), second(indefinite), right(b);
  const Info infos(2);
  const DeviceArray<T*> both(std::vector<T*>{first.get(), second.get()}),
      rights(std::vector<T*>{right.get()});
  status(F::potrf_batch(handle, uplo, n, both.get(), first.ld, infos.get(), 2));
  require(infos.read() == std::vector<int>{0, 5}, "the info of a batch");
  status(F::potrs_batch(handle, uplo, n, 1, both.get(), first.ld, rights.get(), right.ld,
                        info.get(), 1));
  close<T>(a * first_columns(right.read(), 1), first_columns(b, 1), "A X of a batch");
}

template <class T>
void check_qr(int m, int n) {
  using F = Of<T>;
  const Matrix a = random_matrix<T>(m, n);
  const int k = std::min(m, n);
  const Device<T> factors(a);
  const DeviceArray<T> tau(k);
  const Info info;
  status(F::geqrf(handle, m, n, factors.get(), factors.ld, tau.get(), work<T>(), kSize<T>,
                  info.get()));
  info.check();
  const Matrix r = upper(factors.read(), k);
  const Device<T> product(a);
  status(F::ormqr(handle, CUBLAS_SIDE_LEFT, kComplex<T> ? CUBLAS_OP_C : CUBLAS_OP_T, m, n, k,
                  factors.get(), factors.ld, tau.get(), product.get(), product.ld, work<T>(),
                  kSize<T>, info.get()));
  info.check();
  close<T>(product.read(), upper(factors.read(), m), "Q^H A");
  if (m < n) return;
  status(F::orgqr(handle, m, k, k, factors.get(), factors.ld, tau.get(), work<T>(), kSize<T>,
                  info.get()));
  info.check();
  const Matrix q = factors.read();
  close<T>(q * r, a, "Q R");
  close<T>(transposed(q) * q, unit(n), "Q^H Q");
}

template <class T>
void check_type() {
  for (const bool pivots : {true, false}) {
    check_lu<T>(7, 7, pivots);
    check_lu<T>(6, 9, pivots);
    check_lu<T>(9, 6, pivots);
  }
  check_qr<T>(9, 9);
  check_qr<T>(11, 6);
  check_qr<T>(6, 11);
  check_cholesky<T>(CUBLAS_FILL_MODE_LOWER);
  check_cholesky<T>(CUBLAS_FILL_MODE_UPPER);
}

__global__ void scale(double* a, int n, double factor) {
  if (threadIdx.x < n) a[threadIdx.x] *= factor;
}

// A factorization follows the kernel before it on its stream, also in a graph, and kernels may read
// what it has written in memory that nothing else has.
void check_stream() {
  cudaStream_t stream, found;
  require(cudaStreamCreate(&stream));
  status(cusolverDnSetStream(handle, stream));
  status(cusolverDnGetStream(handle, &found));
  require(found == stream, "the stream");
  const DeviceArray<double> a(std::vector<double>{4, 2, 2, 5});
  double* const eigenvalues = allocate<double>(2);  // that nothing has written
  const Info info;
  const auto step = [&] {
    scale<<<1, 4, 0, stream>>>(a.get(), 4, 2);
    status(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_LOWER, 2, a.get(),
                            2, eigenvalues, work<double>(), kSize<double>, info.get()));
    scale<<<1, 2, 0, stream>>>(eigenvalues, 2, 3);
  };
  step();
  require(cudaStreamSynchronize(stream));
  const double sum = download(eigenvalues, 2)[0] + download(eigenvalues, 2)[1];
  require(std::abs(sum - 54) < 1e-9, "eigenvalues between kernels");
  if (!on_virtual_gpu()) return;  // NVIDIA's cusolverDnDsyevd cannot be captured
  const std::vector<double> fresh{4, 2, 2, 5};
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step();
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&ready, graph, 0));
  for (int launch = 0; launch < 2; ++launch) {
    require(cudaMemcpy(a.get(), fresh.data(), 32, cudaMemcpyHostToDevice));
    require(cudaGraphLaunch(ready, stream));
    require(cudaStreamSynchronize(stream));
    const auto values = download(eigenvalues, 2);
    require(std::abs(values[0] + values[1] - 54) < 1e-9, "captured eigenvalues");
  }
  require(cudaFree(eigenvalues));
}

void check_wrong_calls() {
  const DeviceArray<float> a(std::vector<float>{1, 2, 2, 4});
  const Info info;
  const auto factor = [&](float* data, int n, int ld) {
    return cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, n, data, ld, work<float>(),
                            kSize<float>, info.get());
  };
  status(factor(a.get(), -1, 2), CUSOLVER_STATUS_INVALID_VALUE);
  status(factor(a.get(), 2, 1), CUSOLVER_STATUS_INVALID_VALUE);
  status(factor(a.get(), 2, 2));
  info.check(2);  // it is not positive definite
  status(cusolverDnSgesvd(handle, 'N', 'N', 1, 2, a.get(), 1, a.get(), nullptr, 1, nullptr, 1,
                          work<float>(), kSize<float>, nullptr, info.get()),
         CUSOLVER_STATUS_INVALID_VALUE);
  if (!on_virtual_gpu()) return;  // hardware answers otherwise
  status(cusolverDnSpotrf(nullptr, CUBLAS_FILL_MODE_LOWER, 2, a.get(), 2, work<float>(),
                          kSize<float>, info.get()),
         CUSOLVER_STATUS_NOT_INITIALIZED);
  float host[4] = {1, 0, 0, 1};
  status(factor(host, 2, 2), CUSOLVER_STATUS_EXECUTION_FAILED);
  status(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, 2, CUDA_R_16F, a.get(), 2,
                          CUDA_R_16F, room, kRoom, host_room, kRoom, info.get()),
         CUSOLVER_STATUS_NOT_SUPPORTED);
  status(cusolverDnXgesvdr(handle, params, 'N', 'N', 2, 2, 1, 1, 1, CUDA_R_32F, a.get(), 2,
                           CUDA_R_32F, a.get(), CUDA_R_32F, nullptr, 2, CUDA_R_32F, nullptr, 2,
                           CUDA_R_32F, room, kRoom, host_room, kRoom, info.get()),
         CUSOLVER_STATUS_NOT_SUPPORTED);
}

}  // namespace

int main() {
  with_handle([] {
    check_type<float>();
    check_type<double>();
    check_type<cuComplex>();
    check_type<cuDoubleComplex>();
    check_stream();
    status(cusolverDnSetStream(handle, nullptr));
    check_wrong_calls();
  });
}
