// SPDX-License-Identifier: Apache-2.0
// cuSOLVER: singular values and eigenvalues of each type, by what they must fulfil in double
// precision.
#include "solver_data.hpp"

namespace {

// The first two singular values, in a batch of two matrices.
template <class T>
void check_approximate(const Matrix& a, const std::vector<typename Of<T>::Real>& expected) {
  using F = Of<T>;
  using Real = typename F::Real;
  const int m = a.rows, n = a.cols;
  const Device<T> pair(m, 2 * n), u(m, 4), v(n, 4);
  for (int i = 0; i < 2; ++i)
    require(cudaMemcpy(pair.get() + i * n * pair.ld, Device<T>(a).get(), sizeof(T) * n * pair.ld,
                       cudaMemcpyDeviceToDevice));
  const DeviceArray<Real> s(4);
  const Info infos(2);
  double norms[2] = {1, 1};
  status(F::gesvda(handle, CUSOLVER_EIG_MODE_VECTOR, 2, m, n, pair.get(), pair.ld, n * pair.ld,
                   s.get(), 2, u.get(), u.ld, 2 * u.ld, v.get(), v.ld, 2 * v.ld, work<T>(),
                   kSize<T>, infos.get(), norms, 2));
  infos.check();
  const double rounding = m * n * std::numeric_limits<Real>::epsilon();
  require(norms[0] <= rounding && norms[1] <= rounding, "the norm of a residual");
  const Matrix second = part(u.read(), m, 4, [](int, int j) { return j >= 2; });
  close<T>(diagonal(s.read(), 4, 4),
           diagonal(std::vector{expected[0], expected[1], expected[0], expected[1]}, 4, 4),
           "singular values of a batch");
  close<T>(transposed(second) * second, part(unit(4), 4, 4, [](int i, int) { return i >= 2; }),
           "U^H U of a batch");
}

template <class T>
void check_singular_values(int m, int n) {
  using F = Of<T>;
  using Real = typename F::Real;
  const Matrix a = random_matrix<T>(m, n);
  const int least = std::min(m, n);
  const Info info;
  gesvdjInfo_t jacobi;
  status(cusolverDnCreateGesvdjInfo(&jacobi));
  std::vector<Real> expected;
  for (const bool economy : {false, true}) {
    const Device<T> from(a), u(m, economy ? least : m), v(n, economy ? least : n);
    const DeviceArray<Real> s(least);
    status(F::gesvdj(handle, CUSOLVER_EIG_MODE_VECTOR, economy, m, n, from.get(), from.ld, s.get(),
                     u.get(), u.ld, v.get(), v.ld, work<T>(), kSize<T>, info.get(), jacobi));
    info.check();
    expected = s.read();
    require(std::ranges::is_sorted(expected, std::greater<>()), "the order of singular values");
    close<T>(u.read() * diagonal(expected, u.cols, v.cols) * transposed(v.read()), a, "U S V^H");
    close<T>(transposed(v.read()) * v.read(), unit(v.cols), "V^H V");
  }
  status(cusolverDnDestroyGesvdjInfo(jacobi));
  if (m >= n || on_virtual_gpu()) check_approximate<T>(a, expected);
  if (m < n) return;
  for (const char job : {'A', 'S', 'N'}) {
    const Device<T> from(a), left(m, job == 'A' ? m : n), right(n, n);
    const DeviceArray<Real> values(n);
    status(F::gesvd(handle, static_cast<signed char>(job), static_cast<signed char>(job), m, n,
                    from.get(), from.ld, values.get(), left.get(), left.ld, right.get(), right.ld,
                    work<T>(), kSize<T>, nullptr, info.get()));
    info.check();
    close<T>(diagonal(values.read(), n, n), diagonal(expected, n, n), "singular values");
    if (job == 'N') continue;
    close<T>(left.read() * diagonal(values.read(), left.cols, n) * right.read(), a, "U S VT");
  }
  const Device<T> from(a), left(m, n), right(n, n);
  const DeviceArray<Real> values(n);
  status(cusolverDnXgesvd(handle, params, 'S', 'S', m, n, F::kType, from.get(), from.ld, F::kReal,
                          values.get(), F::kType, left.get(), left.ld, F::kType, right.get(),
                          right.ld, F::kType, room, kRoom, host_room, kRoom, info.get()));
  close<T>(left.read() * diagonal(values.read(), n, n) * right.read(), a, "U S VT with 64 bits");
}

template <class T>
void check_eigenvalues(cublasFillMode_t uplo) {
  using F = Of<T>;
  using Real = typename F::Real;
  constexpr int n = 8;
  constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
  const Matrix a = hermitian<T>(n, 0), b = hermitian<T>(n, 12);
  const Info info;
  const Device<T> vectors(a);
  const DeviceArray<Real> values(n);
  status(F::syevd(handle, kVectors, uplo, n, vectors.get(), vectors.ld, values.get(), work<T>(),
                  kSize<T>, info.get()));
  info.check();
  const auto all = values.read();
  require(std::ranges::is_sorted(all), "the order of eigenvalues");
  const Matrix v = vectors.read();
  close<T>(a * v, v * diagonal(all, n, n), "A V");
  close<T>(transposed(v) * v, unit(n), "V^H V");
  // Some of them, by their indices and by their values.
  for (const bool by_index : {true, false}) {
    const Device<T> some(a);
    int found = 0;
    status(F::syevdx(handle, kVectors, by_index ? CUSOLVER_EIG_RANGE_I : CUSOLVER_EIG_RANGE_V, uplo,
                     n, some.get(), some.ld, (all[1] + all[2]) / 2, (all[4] + all[5]) / 2, 3, 5,
                     &found, values.get(), work<T>(), kSize<T>, info.get()));
    require(found == 3, "the number of selected eigenvalues");
    const Matrix three = first_columns(some.read(), 3);
    close<T>(diagonal(values.read(), 3, 3), diagonal(std::vector{all[2], all[3], all[4]}, 3, 3),
             "selected eigenvalues");
    close<T>(a * three, three * diagonal(values.read(), 3, 3), "selected eigenvectors");
  }
  // A batch, and with 64 bits.
  syevjInfo_t jacobi;
  status(cusolverDnCreateSyevjInfo(&jacobi));
  const Device<T> pair(n, 2 * n);
  for (int i = 0; i < 2; ++i)
    require(cudaMemcpy(pair.get() + i * n * pair.ld, Device<T>(i == 0 ? a : b).get(),
                       sizeof(T) * n * pair.ld, cudaMemcpyDeviceToDevice));
  const DeviceArray<Real> both(2 * n);
  const Info infos(2);
  status(F::syevj_batch(handle, kVectors, uplo, n, pair.get(), pair.ld, both.get(), work<T>(),
                        kSize<T>, infos.get(), jacobi, 2));
  infos.check();
  status(cusolverDnDestroySyevjInfo(jacobi));
  const Device<T> wide(b);
  status(cusolverDnXsyevd(handle, params, kVectors, uplo, n, F::kType, wide.get(), wide.ld,
                          F::kReal, values.get(), F::kType, room, kRoom, host_room, kRoom,
                          info.get()));
  close<T>(b * wide.read(), wide.read() * diagonal(values.read(), n, n), "B V with 64 bits");
  auto expected = all;
  const auto of_b = values.read();
  expected.insert(expected.end(), of_b.begin(), of_b.end());
  close<T>(diagonal(both.read(), 2 * n, 2 * n), diagonal(expected, 2 * n, 2 * n),
           "eigenvalues of a batch");
  // A x = w B x and its like.
  for (const auto type : {CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_TYPE_2, CUSOLVER_EIG_TYPE_3}) {
    const Device<T> x(a), right(b);
    status(F::sygvd(handle, type, kVectors, uplo, n, x.get(), x.ld, right.get(), right.ld,
                    values.get(), work<T>(), kSize<T>, info.get()));
    info.check();
    const Matrix w = diagonal(values.read(), n, n), y = x.read();
    if (type == CUSOLVER_EIG_TYPE_1) close<T>(a * y, b * y * w, "A x = w B x");
    if (type == CUSOLVER_EIG_TYPE_2) close<T>(a * b * y, y * w, "A B x = w x");
    if (type == CUSOLVER_EIG_TYPE_3) close<T>(b * a * y, y * w, "B A x = w x");
  }
}

template <class T>
void check_type() {
  check_singular_values<T>(8, 8);
  check_singular_values<T>(11, 5);
  check_singular_values<T>(5, 11);
  check_eigenvalues<T>(CUBLAS_FILL_MODE_LOWER);
  check_eigenvalues<T>(CUBLAS_FILL_MODE_UPPER);
}

}  // namespace

int main() {
  with_handle([] {
    check_type<float>();
    check_type<double>();
    check_type<cuComplex>();
    check_type<cuDoubleComplex>();
  });
}
