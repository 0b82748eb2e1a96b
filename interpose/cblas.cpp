// SPDX-License-Identifier: Apache-2.0
// SGEMM under its standard names, CBLAS's (cblas_sgemm) and Fortran's (sgemm_), on the CPU rung that uses all cores:
//   LD_PRELOAD=libladder_cblas.so python3 program.py
// Everything else of BLAS stays with the library that the program has. 32-bit integers, as Debian's BLAS.
// A wrong argument is reported as BLAS does (Level 3 BLAS, Dongarra et al. 1990): to xerbla of the program's BLAS with
// the argument's number; C is not touched.
#include <ladder/kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace ladder::h05_threads {
extern const std::span<const KernelInfo> kInfo;
}

extern "C" {
// Of the program's own BLAS, where it has one.
__attribute__((weak)) void cblas_xerbla(int argument, const char* routine, const char* form, ...);
__attribute__((weak)) void xerbla_(const char* routine, const int* argument, std::size_t length);

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc);
void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
}

namespace {

using ladder::Layout;
using ladder::Op;
using ladder::Problem;

constexpr int kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112, kConjTrans = 113;

// The first wrong argument, counted as sgemm_ does (1 is trans_a), 0 if there is none.
int first_wrong(const Problem& p) {
  if (p.m < 0) return 3;
  if (p.n < 0) return 4;
  if (p.k < 0) return 5;
  const auto least_ld = [](const ladder::Extent& extent) { return std::max<std::int64_t>(1, extent.used); };
  if (p.lda < least_ld(extent_a(p))) return 8;
  if (p.ldb < least_ld(extent_b(p))) return 10;
  if (p.ldc < least_ld(extent_c(p))) return 13;
  return 0;
}

void multiply(const Problem& p, const float* a, const float* b, float* c) {
  // Only memory for packed panels can be lacking, for which BLAS has no error: C keeps its value then.
  (void)ladder::h05_threads::kInfo.front().launch(p, {a, b, c}, nullptr);
}

bool op_of(int trans, Op& op) {
  op = trans == kNoTrans ? Op::kNone : Op::kTranspose;  // the conjugate of a real matrix is the matrix
  return trans == kNoTrans || trans == kTrans || trans == kConjTrans;
}

bool op_of(char trans, Op& op) {
  op = trans == 'N' || trans == 'n' ? Op::kNone : Op::kTranspose;
  return op == Op::kNone || trans == 'T' || trans == 't' || trans == 'C' || trans == 'c';
}

}  // namespace

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  Problem p{.m = m,
            .n = n,
            .k = k,
            .lda = lda,
            .ldb = ldb,
            .ldc = ldc,
            .alpha = alpha,
            .beta = beta,
            .layout = order == kColMajor ? Layout::kColMajor : Layout::kRowMajor};
  int wrong = 0;
  if (order != kRowMajor && order != kColMajor) {
    wrong = 1;
  } else if (!op_of(trans_a, p.op_a)) {
    wrong = 2;
  } else if (!op_of(trans_b, p.op_b)) {
    wrong = 3;
  } else if (const int fortran = first_wrong(p)) {
    wrong = fortran + 1;  // `order` comes first
  }
  if (wrong == 0) {
    multiply(p, a, b, c);
  } else if (cblas_xerbla != nullptr) {
    cblas_xerbla(wrong, "cblas_sgemm", "");
  }
}

void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc) {
  Problem p{.m = *m,
            .n = *n,
            .k = *k,
            .lda = *lda,
            .ldb = *ldb,
            .ldc = *ldc,
            .alpha = *alpha,
            .beta = *beta,
            .layout = Layout::kColMajor};
  int wrong = 0;
  if (!op_of(*trans_a, p.op_a)) {
    wrong = 1;
  } else if (!op_of(*trans_b, p.op_b)) {
    wrong = 2;
  } else {
    wrong = first_wrong(p);
  }
  if (wrong == 0) {
    multiply(p, a, b, c);
  } else if (xerbla_ != nullptr) {
    xerbla_("SGEMM ", &wrong, 6);
  }
}
