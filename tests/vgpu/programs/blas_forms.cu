// SPDX-License-Identifier: Apache-2.0
// cuBLAS's rotations, groups of products, packed storage, the forms that name their types, and
// settings, by what they promise: rotations make zeros, other forms give what the plain ones give.
#include <cmath>

#include "blas_batch.hpp"

namespace {

BY_TYPE(tpttr)
BY_TYPE(trttp)
BY_TYPE(rotg)

template <class C>
void check_packed(cublasFillMode_t fill) {
  constexpr int kN = 5;
  Batch<C> a(kN, kN, 2), back(kN, kN, 1);
  Array<C> packed(kN * (kN + 1) / 2);
  ok(trttp(C{}, fill, kN, a.pointers[0], a.ld, packed.data));
  ok(tpttr(C{}, fill, kN, packed.data, back.pointers[0], back.ld));
  done();
  const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < kN; ++j) {
      const bool held = lower ? i >= j : i <= j;
      require(back.at(0, i, j) == (held ? a.was(0, i, j) : back.was(0, i, j)), "tpttr");
    }
  }
  constexpr int second = 1;  // (1, 0) of a lower triangle, (0, 1) of an upper one
  require(reinterpret_cast<typename Batch<C>::W*>(packed.data)[second] ==
              (lower ? a.was(0, 1, 0) : a.was(0, 0, 1)),
          "trttp's order");
}

template <class C>
void check_givens(cublasPointerMode_t mode) {
  using W = typename Number<C>::Standard;
  ok(cublasSetPointerMode(handle, mode));
  for (const auto& [first, second] :
       {std::pair{3.0, 4.0}, {4.0, -3.0}, {0.0, 2.0}, {-5.0, 0.0}, {0.0, 0.0}}) {
    Array<W> a{W(first)}, b{W(second)}, s(1);
    Array<decltype(std::abs(W{}))> c(1);
    const auto number = [](Array<W>& of) { return reinterpret_cast<C*>(of.data); };
    if constexpr (!std::is_arithmetic_v<W>) b[0] *= W(0, 1);
    const W x = a[0], y = b[0];
    ok(rotg(C{}, number(a), number(b), c.data, number(s)));
    done();
    near(W(c[0]) * x + s[0] * y, a[0], "rotg: r");
    near(W(c[0]) * y - turned(s[0]) * x, 0, "rotg: zero");
    near(c[0] * c[0] + std::norm(s[0]), 1, "rotg: a rotation");
  }
  ok(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
}

void check_modified() {
  for (int i = 0; i < 200; ++i) {
    const double sizes[] = {1e-9, 1, 1e9};
    float d1 = static_cast<float>(std::abs(uniform()) * sizes[i % 3]),
          d2 = static_cast<float>(uniform() * (i % 5 == 0 ? 1 : std::copysign(1, uniform())) *
                                  sizes[i / 3 % 3]),
          x = static_cast<float>(uniform()), param[5] = {9, 0, 0, 0, 0};
    const float was_d1 = d1, was_x = x, y = static_cast<float>(uniform());
    ok(cublasSrotmg(handle, &d1, &d2, &x, &y, param));
    require(param[0] == -2 || param[0] == -1 || param[0] == 0 || param[0] == 1, "rotmg: the flag");
    if (param[0] == -2 || (d1 == 0 && d2 == 0)) continue;
    Array<float> vx{was_x}, vy{y};
    ok(cublasSrotm(handle, 1, vx, 1, vy, 1, param));
    done();
    near(vx[0], x, "rotm gives rotmg's x");
    require(std::abs(vy[0]) <= 1e-4 * (std::abs(y) + std::abs(was_x)) *
                                   std::max({1.0F, std::abs(param[2]), std::abs(param[4])}),
            "rotm makes y zero");
    require(d1 == 0 || (std::abs(d1) > 0x1p-25 && std::abs(d1) < 0x1p25) || was_d1 == 0,
            "rotmg scales d1");
  }
  Array<float> a{1, 2}, b{3, 4};
  float none[5] = {-2, 9, 9, 9, 9}, all[5] = {-1, 2, 3, 5, 7};
  ok(cublasSrotm(handle, 2, a, 1, b, 1, none));
  ok(cublasRotmEx(handle, 2, a, CUDA_R_32F, 1, b, CUDA_R_32F, 1, all, CUDA_R_32F, CUDA_R_32F));
  all[1] = 100;  // the host's numbers are read when the function is called
  done();
  require(a[0] == 2 * 1 + 5 * 3 && a[1] == 2 * 2 + 5 * 4 && b[0] == 3 * 1 + 7 * 3, "rotm");
}

void check_rotations() {
  const float c = 0.6F, s = 0.8F;
  const cuComplex turned_s = {0, 0.8F};
  Array<cuComplex> x{{1, 2}}, y{{3, -1}};
  ok(cublasCsrot(handle, 1, x, 1, y, 1, &c, &s));
  done();
  near({x[0].x, x[0].y}, {0.6 + 2.4, 1.2 - 0.8}, "csrot: x");
  near({y[0].x, y[0].y}, {1.8 - 0.8, -0.6 - 1.6}, "csrot: y");
  Array<cuComplex> u{{1, 2}}, v{{3, -1}};
  ok(cublasCrot(handle, 1, u, 1, v, 1, &c, &turned_s));
  done();
  near({u[0].x, u[0].y}, {0.6 + 0.8, 1.2 + 2.4}, "crot: x");
  near({v[0].x, v[0].y}, {1.8 - 1.6, -0.6 + 0.8}, "crot: y");
  Array<float> a{1}, b{2};
  ok(cublasRotEx(handle, 1, a, CUDA_R_32F, 1, b, CUDA_R_32F, 1, &c, &s, CUDA_R_32F, CUDA_R_32F));
  const float half = 0.5F;
  ok(cublasCsscal(handle, 1, &half, x, 1));
  done();
  near(a[0], 0.6 + 1.6, "RotEx");
  near({x[0].x, x[0].y}, {1.5, 0.2}, "csscal");
}

void check_typed() {
  Array<cuComplex> x{{1, 2}, {-3, 4}}, y{{2, -1}, {1, 1}}, dot(1);
  int most = 0;
  float sum = 0, norm = 0;
  ok(cublasDotEx(handle, 2, x, CUDA_C_32F, 1, y, CUDA_C_32F, 1, &dot[0], CUDA_C_32F, CUDA_C_32F));
  near({dot[0].x, dot[0].y}, Z(1, 2) * Z(2, -1) + Z(-3, 4) * Z(1, 1), "DotEx");
  ok(cublasDotcEx(handle, 2, x, CUDA_C_32F, 1, y, CUDA_C_32F, 1, &dot[0], CUDA_C_32F, CUDA_C_32F));
  near({dot[0].x, dot[0].y}, Z(1, -2) * Z(2, -1) + Z(-3, -4) * Z(1, 1), "DotcEx");
  ok(cublasIamaxEx(handle, 2, x, CUDA_C_32F, 1, &most));
  ok(cublasAsumEx(handle, 2, x, CUDA_C_32F, 1, &sum, CUDA_R_32F, CUDA_R_32F));
  ok(cublasNrm2Ex(handle, 2, x, CUDA_C_32F, 1, &norm, CUDA_R_32F, CUDA_R_32F));
  require(most == 2 && sum == 10, "IamaxEx, AsumEx");
  near(norm, std::sqrt(30.0), "Nrm2Ex");
  ok(cublasCopyEx(handle, 2, x, CUDA_C_32F, 1, y, CUDA_C_32F, -1));
  ok(cublasSwapEx(handle, 1, x, CUDA_C_32F, 1, x + 1, CUDA_C_32F, 1));
  done();
  require(y[0].x == -3 && y[1].x == 1 && x[0].y == 4 && x[1].y == 2, "CopyEx, SwapEx");
}

// Against the plain forms.
void check_products() {
  constexpr int kN = 4;
  Batch<cuComplex> a(kN, kN, 0), b(kN, kN, 0), plain(kN, kN, 0), other(kN, kN, 0);
  const cuComplex one = {1, 0}, zero = {0, 0};
  const float real_one = 1, real_zero = 0;
  const auto equal = [&](const char* what) {
    done();
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j <= i; ++j) near(other.at(0, i, j), plain.at(0, i, j), what);
    }
  };
  ok(cublasCgemm(handle, CUBLAS_OP_N, CUBLAS_OP_C, kN, kN, kN, &one, a.pointers[0], kN,
                 b.pointers[0], kN, &zero, plain.pointers[0], kN));
  ok(cublasCgemm3m(handle, CUBLAS_OP_N, CUBLAS_OP_C, kN, kN, kN, &one, a.pointers[0], kN,
                   b.pointers[0], kN, &zero, other.pointers[0], kN));
  equal("cgemm3m");
  other.at(0, 2, 1) = 0;
  ok(cublasCgemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_C, kN, kN, kN, &one, a.pointers[0], CUDA_C_32F,
                   kN, b.pointers[0], CUDA_C_32F, kN, &zero, other.pointers[0], CUDA_C_32F, kN));
  equal("CgemmEx");
  ok(cublasCherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, kN, kN, &real_one, a.pointers[0], kN,
                 &real_zero, plain.pointers[0], kN));
  ok(cublasCherkEx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, kN, kN, &real_one, a.pointers[0],
                   CUDA_C_32F, kN, &real_zero, other.pointers[0], CUDA_C_32F, kN));
  equal("CherkEx");
  ok(cublasCsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, kN, kN, &one, a.pointers[0], kN,
                 &zero, plain.pointers[0], kN));
  ok(cublasCsyrk3mEx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, kN, kN, &one, a.pointers[0],
                     CUDA_C_32F, kN, &zero, other.pointers[0], CUDA_C_32F, kN));
  equal("Csyrk3mEx");
}

void check_groups() {
  // Two groups: two products of 2 x 3 x 4, one of 3 x 3 x 3 with A transposed.
  Batch<double> a(4, 4, 0), b(4, 4, 0), c(4, 4, 0);
  const cublasOperation_t op_a[] = {CUBLAS_OP_N, CUBLAS_OP_T}, op_b[] = {CUBLAS_OP_N, CUBLAS_OP_N};
  const int m[] = {2, 3}, n[] = {3, 3}, k[] = {4, 3}, ld[] = {4, 4}, sizes[] = {2, 1};
  const double alpha[] = {2, 3}, beta[] = {0, 1};
  ok(cublasDgemmGroupedBatched(handle, op_a, op_b, m, n, k, alpha, a.pointers, ld, b.pointers, ld,
                               beta, c.pointers, ld, 2, sizes));
  done();
  for (int product = 0; product < 3; ++product) {
    const int g = product == 2;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        double want = beta[g] * c.was(product, i, j);
        for (int l = 0; l < k[g]; ++l)
          want +=
              alpha[g] * (g ? a.was(product, l, i) : a.was(product, i, l)) * b.was(product, l, j);
        const bool inside = i < m[g] && j < n[g];
        near(c.at(product, i, j), inside ? want : c.was(product, i, j), "groups");
      }
    }
  }
}

void check_settings() {
  cublasEmulationStrategy_t strategy;
  ok(cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER));
  ok(cublasGetEmulationStrategy(handle, &strategy));
  require(strategy == CUBLAS_EMULATION_STRATEGY_EAGER, "the strategy");
  Batch<double> a(2, 2, 0), b(2, 2, 0), c(2, 2, 0);
  const double one = 1, zero = 0;
  ok(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a.pointers[0], CUDA_R_64F, 2,
                  b.pointers[0], CUDA_R_64F, 2, &zero, c.pointers[0], CUDA_R_64F, 2,
                  CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, CUBLAS_GEMM_DEFAULT),
     "emulated FP64");
  done();
  near(c.at(0, 1, 0), a.was(0, 1, 0) * b.was(0, 0, 0) + a.was(0, 1, 1) * b.was(0, 1, 0),
       "emulated FP64");

  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  const double host[6] = {1, 2, 3, 4, 5, 6};
  double back[4] = {}, *device = nullptr;
  require(cudaMalloc(&device, sizeof host));
  ok(cublasSetMatrixAsync(2, 2, sizeof(double), host, 3, device, 2, stream));
  ok(cublasGetVectorAsync(4, sizeof(double), device, 1, back, 1, stream));
  require(cudaStreamSynchronize(stream));
  require(back[0] == 1 && back[1] == 2 && back[2] == 4 && back[3] == 5, "asynchronous copies");
  require(cublasSetMatrixAsync(2, 2, 8, host, 0, device, 2, stream), CUBLAS_STATUS_INVALID_VALUE,
          "a leading dimension of 0");
  cudaFree(device);
  cudaStreamDestroy(stream);
}

template <class C>
void check_all() {
  check_packed<C>(CUBLAS_FILL_MODE_LOWER);
  check_packed<C>(CUBLAS_FILL_MODE_UPPER);
  check_givens<C>(CUBLAS_POINTER_MODE_HOST);
  check_givens<C>(CUBLAS_POINTER_MODE_DEVICE);
}

}  // namespace

int main() {
  ok(cublasCreate(&handle));
  check_all<float>();
  check_all<double>();
  check_all<cuComplex>();
  check_all<cuDoubleComplex>();
  check_modified();
  check_rotations();
  check_typed();
  check_products();
  check_groups();
  check_settings();
  ok(cublasDestroy(handle));
}
