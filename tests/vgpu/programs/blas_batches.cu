// SPDX-License-Identifier: Apache-2.0
// cuBLAS's batches of small matrices: LU and QR factorisations, inverses, least squares and
// triangular systems. Products of the results must give back what was factorised.
#include <cstring>
#include <limits>

#include "blas_batch.hpp"

namespace {

BY_TYPE(getrfBatched)
BY_TYPE(getrsBatched)
BY_TYPE(getriBatched)
BY_TYPE(matinvBatched)
BY_TYPE(geqrfBatched)
BY_TYPE(gelsBatched)
BY_TYPE(trsm)
BY_TYPE(trsmBatched)

// op(A) x = b for the solutions that took b's place.
template <class C>
void check_solved(const Batch<C>& a, Batch<C>& x, cublasOperation_t op, const char* what) {
  for (int b = 0; b < x.kCount; ++b) {
    for (int j = 0; j < x.columns; ++j) {
      for (int i = 0; i < a.columns; ++i) {
        Z sum = 0;
        for (int l = 0; l < a.columns; ++l) {
          const auto element = op == CUBLAS_OP_N   ? a.was(b, i, l)
                               : op == CUBLAS_OP_T ? a.was(b, l, i)
                                                   : turned(a.was(b, l, i));
          sum += Z(element) * Z(x.at(b, l, j));
        }
        near(sum, x.was(b, i, j), what);
      }
    }
  }
}

template <class C>
void check_lu(bool pivots) {
  constexpr int kCount = Batch<C>::kCount, kN = 6;
  Batch<C> a(kN, kN, 2), inverse(kN, kN, 1);
  Array<int> places(kN * kCount), info(kCount);
  int* const used = pivots ? places.data : nullptr;
  if (pivots)
    for (int b = 0; b < kCount; ++b) a.at(b, 0, 0) = a.before[b * kN * a.ld] = 0;
  ok(getrfBatched(C{}, kN, a.pointers, a.ld, used, info, kCount));
  done();
  for (int b = 0; b < kCount; ++b) {
    require(info[b] == 0, "getrf: info");
    require(!pivots || places[b * kN] > 1, "getrf: the first row changes places");
  }
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    Batch<C> x(kN, 2, 3);
    int said = 7;
    ok(getrsBatched(C{}, op, kN, 2, a.pointers, a.ld, used, x.pointers, x.ld, &said, kCount));
    done();
    require(said == 0, "getrs: info");
    check_solved(a, x, op, "getrs");
  }
  ok(getriBatched(C{}, kN, a.pointers, a.ld, used, inverse.pointers, inverse.ld, info, kCount));
  done();
  for (int b = 0; b < kCount; ++b) {
    require(info[b] == 0, "getri: info");
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j) {
        Z sum = 0;
        for (int l = 0; l < kN; ++l) sum += Z(a.was(b, i, l)) * Z(inverse.at(b, l, j));
        near(sum, i == j ? 1 : 0, "getri");
      }
    }
  }
}

template <class C>
void check_inverse() {
  constexpr int kCount = Batch<C>::kCount, kN = 5;
  Batch<C> a(kN, kN, 0), inverse(kN, kN, 2);
  for (int i = 0; i < kN; ++i) a.at(1, i, 3) = 0;  // the second one has no inverse
  Array<int> info(kCount);
  ok(matinvBatched(C{}, kN, a.pointers, a.ld, inverse.pointers, inverse.ld, info, kCount));
  done();
  require(info[0] == 0 && info[1] == 4 && info[2] == 0, "matinv: info");
  Z sum = 0;
  for (int l = 0; l < kN; ++l) sum += Z(a.at(2, 1, l)) * Z(inverse.at(2, l, 1));
  near(sum, 1, "matinv");
  require(a.at(2, 1, 1) == a.was(2, 1, 1), "matinv leaves A");
  require(matinvBatched(C{}, 33, a.pointers, 33, inverse.pointers, 33, info, kCount) ==
              CUBLAS_STATUS_INVALID_VALUE,
          "matinv: at most 32 rows");
}

// Of Q R: |column of R| = |column of A|, and R^H R = A^H A.
template <class C>
void check_qr() {
  constexpr int kCount = Batch<C>::kCount, kM = 7, kN = 4;
  Batch<C> a(kM, kN, 1), tau(kN, 1, 0);
  int info = 7;
  ok(geqrfBatched(C{}, kM, kN, a.pointers, a.ld, tau.pointers, &info, kCount));
  done();
  require(info == 0, "geqrf: info");
  for (int b = 0; b < kCount; ++b) {
    for (int i = 0; i < kN; ++i) {
      for (int j = i; j < kN; ++j) {
        Z r = 0, was = 0;
        for (int l = 0; l <= i; ++l) r += Z(turned(a.at(b, l, i))) * Z(a.at(b, l, j));
        for (int l = 0; l < kM; ++l) was += Z(turned(a.was(b, l, i))) * Z(a.was(b, l, j));
        near(r, was, "geqrf");
      }
    }
  }
  Batch<C> c(kM, 2, 2), least(kM, kN, 1);
  Array<int> singular(kCount);
  ok(gelsBatched(C{}, CUBLAS_OP_N, kM, kN, 2, least.pointers, least.ld, c.pointers, c.ld, &info,
                 singular.data, kCount));
  done();
  for (int b = 0; b < kCount; ++b) {
    require(singular[b] == 0, "gels: no zero on the diagonal");
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < kN; ++k) {  // what is left is orthogonal to A's columns
        Z sum = 0;
        for (int i = 0; i < kM; ++i) {
          Z rest = c.was(b, i, j);
          for (int l = 0; l < kN; ++l) rest -= Z(least.was(b, i, l)) * Z(c.at(b, l, j));
          sum += Z(turned(least.was(b, i, k))) * rest;
        }
        near(sum, 0, "gels");
      }
    }
  }
}

// Of a batch, or of its first matrices alone. What is not read is NaN.
template <class C>
void check_trsm(bool batched, bool left, bool lower, cublasOperation_t op, bool unit) {
  using W = typename Batch<C>::W;
  constexpr int kCount = Batch<C>::kCount, kM = 5, kN = 3;
  const int order = left ? kM : kN;
  Batch<C> a(order, order, 1), x(kM, kN, 2);
  const auto is_held = [&](int i, int j) { return i == j ? !unit : lower == (i > j); };
  for (int b = 0; b < kCount; ++b) {
    for (int i = 0; i < order; ++i) {
      for (int j = 0; j < order; ++j)
        if (!is_held(i, j)) a.at(b, i, j) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  const W factor = 2;
  C alpha;
  std::memcpy(&alpha, &factor, sizeof alpha);
  const auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const auto fill = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const auto diagonal = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  if (batched)
    ok(trsmBatched(C{}, side, fill, op, diagonal, kM, kN, &alpha, a.pointers, a.ld, x.pointers,
                   x.ld, kCount));
  else
    ok(trsm(C{}, side, fill, op, diagonal, kM, kN, &alpha, a.pointers[0], a.ld, x.pointers[0],
            x.ld));
  done();
  const auto triangle = [&](int b, int i, int j) -> Z {
    if (op != CUBLAS_OP_N) std::swap(i, j);
    if (!is_held(i, j)) return i == j ? 1 : 0;
    return op == CUBLAS_OP_C ? turned(a.was(b, i, j)) : a.was(b, i, j);
  };
  for (int b = 0; b < (batched ? kCount : 1); ++b) {
    for (int i = 0; i < kM; ++i) {
      for (int j = 0; j < kN; ++j) {
        Z sum = 0;
        for (int l = 0; l < order; ++l)
          sum += left ? triangle(b, i, l) * Z(x.at(b, l, j)) : Z(x.at(b, i, l)) * triangle(b, l, j);
        near(sum, 2.0 * Z(x.was(b, i, j)), "trsm");
      }
    }
  }
}

template <class C>
void check_all() {
  check_lu<C>(true);
  check_lu<C>(false);
  check_inverse<C>();
  check_qr<C>();
  for (int form = 0; form < 16; ++form) {
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
      check_trsm<C>((form & 1) != 0, (form & 2) != 0, (form & 4) != 0, op, (form & 8) != 0);
  }
}

}  // namespace

int main() {
  ok(cublasCreate(&handle));
  check_all<float>();
  check_all<double>();
  check_all<cuComplex>();
  check_all<cuDoubleComplex>();
  ok(cublasDestroy(handle));
}
