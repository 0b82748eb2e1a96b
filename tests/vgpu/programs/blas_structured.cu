// SPDX-License-Identifier: Apache-2.0
// cuBLAS's functions of symmetric, Hermitian, triangular, banded and packed matrices, compared with
// sums over whole matrices. Numbers are small integers, so that results are exact but for division.
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "blas.hpp"

namespace {

using Z = std::complex<double>;
constexpr int kN = 5, kBand = 2, kLd = 7;

const cuDoubleComplex* as(const Z* p) { return reinterpret_cast<const cuDoubleComplex*>(p); }
cuDoubleComplex* as(Z* p) { return reinterpret_cast<cuDoubleComplex*>(p); }

// Managed, so that both sides see it.
struct Numbers {
  Z* at = nullptr;
  int n;
  Numbers(int count, int seed) : n(count) {
    cudaMallocManaged(&at, n * sizeof(Z));
    for (int i = 0; i < n; ++i) at[i] = Z((i * 7 + seed) % 11 - 5, (i * 5 + seed) % 7 - 3);
  }
};

using Dense = std::vector<std::vector<Z>>;

enum class Kind { kSymmetric, kHermitian, kTriangular };
enum class Storage { kFull, kBanded, kPacked };

// What the stored numbers mean.
Dense dense(const Z* a, Kind kind, Storage storage, bool lower, bool unit = false) {
  Dense d(kN, std::vector<Z>(kN));
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < kN; ++j) {
      const bool held = lower ? i >= j : i <= j;
      if (!held && kind == Kind::kTriangular) continue;
      const int r = held ? i : j, c = held ? j : i;
      if (storage == Storage::kBanded && std::abs(r - c) > kBand) continue;
      const int place = storage == Storage::kFull     ? r + c * kLd
                        : storage == Storage::kBanded ? (lower ? r - c : kBand + r - c) + c * kLd
                        : lower                       ? r + c * (2 * kN - c - 1) / 2
                                                      : r + c * (c + 1) / 2;
      Z value = a[place];
      if (kind == Kind::kHermitian)
        value = r == c ? Z(value.real()) : held ? value : std::conj(value);
      d[i][j] = unit && i == j ? Z(1) : value;
    }
  }
  return d;
}
Z op_of(const Dense& d, cublasOperation_t op, int i, int j) {
  return op == CUBLAS_OP_N ? d[i][j] : op == CUBLAS_OP_T ? d[j][i] : std::conj(d[j][i]);
}

int failures = 0;
void same(Z got, Z want, const char* what) {
  if (std::abs(got - want) < 1e-9 * (1 + std::abs(want))) return;
  if (++failures < 10)
    std::printf("%s: %g %g, not %g %g\n", what, got.real(), got.imag(), want.real(), want.imag());
}

void vectors(cublasHandle_t h, bool lower) {
  const auto fill = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const Z alpha(2, 1), beta(1, -1);
  struct {
    const char* name;
    Kind kind;
    Storage storage;
  } const cases[] = {{"symv", Kind::kSymmetric, Storage::kFull},
                     {"hemv", Kind::kHermitian, Storage::kFull},
                     {"hbmv", Kind::kHermitian, Storage::kBanded},
                     {"hpmv", Kind::kHermitian, Storage::kPacked}};
  for (const auto& t : cases) {
    Numbers a(kN * kLd, 1), x(kN, 2), y(2 * kN, 3);
    const Numbers before(2 * kN, 3);
    const Dense d = dense(a.at, t.kind, t.storage, lower);
    cublasStatus_t status;
    if (t.storage == Storage::kPacked)
      status = cublasZhpmv(h, fill, kN, as(&alpha), as(a.at), as(x.at), -1, as(&beta), as(y.at), 2);
    else if (t.storage == Storage::kBanded)
      status = cublasZhbmv(h, fill, kN, kBand, as(&alpha), as(a.at), kLd, as(x.at), -1, as(&beta),
                           as(y.at), 2);
    else if (t.kind == Kind::kHermitian)
      status =
          cublasZhemv(h, fill, kN, as(&alpha), as(a.at), kLd, as(x.at), -1, as(&beta), as(y.at), 2);
    else
      status =
          cublasZsymv(h, fill, kN, as(&alpha), as(a.at), kLd, as(x.at), -1, as(&beta), as(y.at), 2);
    ok(status, t.name);
    cudaDeviceSynchronize();
    for (int i = 0; i < kN; ++i) {
      Z sum = 0;
      for (int j = 0; j < kN; ++j) sum += d[i][j] * x.at[kN - 1 - j];
      same(y.at[2 * i], alpha * sum + beta * before.at[2 * i], t.name);
    }
  }
}

void triangles(cublasHandle_t h, bool lower, cublasOperation_t op, bool unit) {
  const auto fill = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const auto diagonal = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  for (const Storage storage : {Storage::kFull, Storage::kBanded, Storage::kPacked}) {
    Numbers a(kN * kLd, 4), x(kN, 5);
    for (int i = 0; i < a.n; ++i) a.at[i] += Z(20);  // no zeros on the diagonal
    const Numbers before(kN, 5);
    const Dense d = dense(a.at, Kind::kTriangular, storage, lower, unit);
    for (const bool solves : {false, true}) {
      cublasStatus_t status;
      if (storage == Storage::kFull)
        status = (solves ? cublasZtrsv : cublasZtrmv)(h, fill, op, diagonal, kN, as(a.at), kLd,
                                                      as(x.at), 1);
      else if (storage == Storage::kBanded)
        status = (solves ? cublasZtbsv : cublasZtbmv)(h, fill, op, diagonal, kN, kBand, as(a.at),
                                                      kLd, as(x.at), 1);
      else
        status =
            (solves ? cublasZtpsv : cublasZtpmv)(h, fill, op, diagonal, kN, as(a.at), as(x.at), 1);
      ok(status, "triangle");
      cudaDeviceSynchronize();
      for (int i = 0; i < kN; ++i) {
        Z sum = 0;
        for (int j = 0; j < kN; ++j) sum += op_of(d, op, i, j) * before.at[j];
        same(x.at[i], solves ? before.at[i] : sum, solves ? "solved again" : "triangle by vector");
      }
    }
  }
  Numbers a(kN * kLd, 6), b(kN * kLd, 7), c(kN * kLd, 8);
  const Z alpha(1, 2);
  const Dense d = dense(a.at, Kind::kTriangular, Storage::kFull, lower, unit);
  ok(cublasZtrmm(h, CUBLAS_SIDE_RIGHT, fill, op, diagonal, 3, kN, as(&alpha), as(a.at), kLd,
                 as(b.at), kLd, as(c.at), kLd));
  cudaDeviceSynchronize();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < kN; ++j) {
      Z sum = 0;
      for (int l = 0; l < kN; ++l) sum += b.at[i + l * kLd] * op_of(d, op, l, j);
      same(c.at[i + j * kLd], alpha * sum, "trmm");
    }
  }
}

void updates(cublasHandle_t h, bool lower) {
  const auto fill = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const Z alpha(2, -1);
  const double real = 3, kept = 2;
  const auto held = [&](int i, int j) { return lower ? i >= j : i <= j; };
  {
    Numbers a(kN * kLd, 9), x(kN, 10), y(kN, 11);
    const Dense before = dense(a.at, Kind::kHermitian, Storage::kPacked, lower);
    ok(cublasZhpr2(h, fill, kN, as(&alpha), as(x.at), 1, as(y.at), 1, as(a.at)));
    ok(cublasZhpr(h, fill, kN, &real, as(x.at), 1, as(a.at)));
    cudaDeviceSynchronize();
    const Dense now = dense(a.at, Kind::kHermitian, Storage::kPacked, lower);
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j)
        same(now[i][j],
             before[i][j] + alpha * x.at[i] * std::conj(y.at[j]) +
                 std::conj(alpha) * y.at[i] * std::conj(x.at[j]) +
                 real * x.at[i] * std::conj(x.at[j]),
             "hpr2 and hpr");
    }
  }
  for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_C}) {
    Numbers a(kN * kLd, 12), b(kN * kLd, 13), c(kN * kLd, 14);
    const Numbers before(kN * kLd, 14);
    const int k = 4;
    ok(cublasZher2k(h, fill, op, kN, k, as(&alpha), as(a.at), kLd, as(b.at), kLd, &kept, as(c.at),
                    kLd));
    cudaDeviceSynchronize();
    const auto of = [&](const Numbers& m, int i, int l) {
      return op == CUBLAS_OP_N ? m.at[i + l * kLd] : std::conj(m.at[l + i * kLd]);
    };
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j) {
        Z want = before.at[i + j * kLd];
        if (held(i, j)) {
          want *= kept;
          for (int l = 0; l < k; ++l)
            want += alpha * of(a, i, l) * std::conj(of(b, j, l)) +
                    std::conj(alpha) * of(b, i, l) * std::conj(of(a, j, l));
          if (i == j) want = want.real();
        }
        same(c.at[i + j * kLd], want, "her2k");
      }
    }
  }
  Numbers a(kN * kLd, 15), b(kN * kLd, 16), c(kN * kLd, 17);
  const Z zero = 0;
  const Dense d = dense(a.at, Kind::kHermitian, Storage::kFull, lower);
  ok(cublasZhemm(h, CUBLAS_SIDE_LEFT, fill, kN, 3, as(&alpha), as(a.at), kLd, as(b.at), kLd,
                 as(&zero), as(c.at), kLd));
  cudaDeviceSynchronize();
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < 3; ++j) {
      Z sum = 0;
      for (int l = 0; l < kN; ++l) sum += d[i][l] * b.at[l + j * kLd];
      same(c.at[i + j * kLd], alpha * sum, "hemm");
    }
  }
}

void band(cublasHandle_t h, cublasOperation_t op) {
  constexpr int kBelow = 1, kAbove = 2, kRows = 4;
  Numbers a(kN * kLd, 18), x(kN, 19), y(kN, 20);
  const Z alpha(1, 1), zero = 0;
  ok(cublasZgbmv(h, op, kRows, kN, kBelow, kAbove, as(&alpha), as(a.at), kLd, as(x.at), 1,
                 as(&zero), as(y.at), 1));
  cudaDeviceSynchronize();
  const auto at = [&](int i, int j) {
    return i - j > kBelow || j - i > kAbove ? Z(0) : a.at[kAbove + i - j + j * kLd];
  };
  const bool plain = op == CUBLAS_OP_N;
  for (int i = 0; i < (plain ? kRows : kN); ++i) {
    Z sum = 0;
    for (int j = 0; j < (plain ? kN : kRows); ++j)
      sum += (plain ? at(i, j) : std::conj(at(j, i))) * x.at[j];
    same(y.at[i], alpha * sum, "gbmv");
  }
}

}  // namespace

int main() {
  cublasHandle_t h = nullptr;
  ok(cublasCreate(&h));
  for (const bool lower : {false, true}) {
    vectors(h, lower);
    for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      for (const bool unit : {false, true}) triangles(h, lower, op, unit);
    }
    updates(h, lower);
  }
  band(h, CUBLAS_OP_N);
  band(h, CUBLAS_OP_C);
  ok(cublasDestroy(h));
  std::printf(failures == 0 ? "right\n" : "%d wrong\n", failures);
  return failures == 0 ? 0 : 1;
}
