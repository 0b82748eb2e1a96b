// SPDX-License-Identifier: Apache-2.0
// Replaces SGEMM under its standard names, CBLAS's cblas_sgemm and Fortran's sgemm_, by the CPU
// rung that uses all cores:
//   LD_PRELOAD=libladder_cblas.so python3 program.py
// (LD_PRELOAD splits at spaces and colons: a path with one of them needs a symbolic link without.)
// All other BLAS functions remain those of the program's own library. Integers have 32 bits, as in
// Debian's BLAS. A call with an invalid argument is forwarded to the caller's BLAS, which reports
// it and then stops or returns. If there is none, the program's cblas_xerbla or xerbla_ is called;
// without one, the reference's message is printed on stderr. C is not modified.
#include <dlfcn.h>
#include <ladder/kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>

#include "host/blocking.hpp"

namespace ladder::h03_cache_block {
extern const std::span<const KernelInfo> kInfo;
}
namespace ladder::h05_threads {
extern const std::span<const KernelInfo> kInfo;
}

extern "C" {
__attribute__((weak)) void cblas_xerbla(int argument, const char* routine, const char* form, ...);
__attribute__((weak)) void xerbla_(const char* routine, const int* argument, std::size_t length);

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
}

namespace {

using ladder::Layout;
using ladder::Op;
using ladder::Problem;

constexpr int kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112, kConjTrans = 113;

// Determines the machine's properties when the library is loaded. If the first product did it, a
// concurrent fork could leave the child waiting for a thread that does not exist there.
[[maybe_unused]] const ladder::host::Way kWay =
    ladder::host::way_for(ladder::make_problem(1024, 1024, 1024), ladder::host::micro_kernel());

// Returns the number of the first invalid argument as sgemm_ counts (1 is trans_a), or 0. The order
// is the reference's, where a row-major product is the column-major one with exchanged operands.
int first_wrong(const Problem& p) {
  const auto least_ld = [](const ladder::Extent& extent) {
    return std::max<std::int64_t>(1, extent.used);
  };
  std::pair<bool, int> wrong[] = {{p.m < 0, 3},
                                  {p.n < 0, 4},
                                  {p.k < 0, 5},
                                  {p.lda < least_ld(extent_a(p)), 8},
                                  {p.ldb < least_ld(extent_b(p)), 10},
                                  {p.ldc < least_ld(extent_c(p)), 13}};
  if (p.layout == Layout::kRowMajor) {
    std::swap(wrong[0], wrong[1]);
    std::swap(wrong[3], wrong[4]);
  }
  for (const auto& [is_wrong, argument] : wrong) {
    if (is_wrong) return argument;
  }
  return 0;
}

void multiply(const Problem& p, const float* a, const float* b, float* c) {
  if (ladder::h05_threads::kInfo.front().launch(p, {a, b, c}, nullptr).is_ok()) return;
  // If there is no memory for packed panels (BLAS has no such error), uses a rung that needs none.
  (void)ladder::h03_cache_block::kInfo.front().launch(p, {a, b, c}, nullptr);
}

const void* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Returns the function that `caller` would have called without this library: the next one of that
// name, or, if the caller has private libraries (a Python module), the one from the libraries it is
// linked to. Null if there is none.
template <class Function>
Function* next_function(const char* name, const void* caller) {
  static const char here = 0;
  void* function = dlsym(RTLD_NEXT, name);
  Dl_info info;
  if (function == nullptr && dladdr(caller, &info) != 0) {
    void* const module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (module != nullptr) {
      function = dlsym(module, name);
      (void)dlclose(module);
    }
    if (file_of(function) == file_of(&here) || file_of(function) == file_of(caller)) return nullptr;
  }
  return reinterpret_cast<Function*>(function);
}

bool op_of(int trans, Op& op) {
  op = trans == kNoTrans ? Op::kNone
                         : Op::kTranspose;  // the conjugate of a real matrix is the matrix
  return trans == kNoTrans || trans == kTrans || trans == kConjTrans;
}

bool op_of(char trans, Op& op) {
  op = trans == 'N' || trans == 'n' ? Op::kNone : Op::kTranspose;
  return op == Op::kNone || trans == 'T' || trans == 't' || trans == 'C' || trans == 'c';
}

}  // namespace

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
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
    wrong = fortran + 1;  // `order` is the first argument
  }
  if (wrong == 0) return multiply(p, a, b, c);
  if (auto* next = next_function<decltype(cblas_sgemm)>("cblas_sgemm", __builtin_return_address(0)))
    return next(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (cblas_xerbla != nullptr) return cblas_xerbla(wrong, "cblas_sgemm", "");
  if (const int fortran = wrong - 1; xerbla_ != nullptr) return xerbla_("SGEMM ", &fortran, 6);
  std::fprintf(stderr, "Parameter %d to routine cblas_sgemm was incorrect\n", wrong);
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
  if (wrong == 0) return multiply(p, a, b, c);
  if (auto* next = next_function<decltype(sgemm_)>("sgemm_", __builtin_return_address(0)))
    return next(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (xerbla_ != nullptr) return xerbla_("SGEMM ", &wrong, 6);
  std::fprintf(stderr, " ** On entry to SGEMM parameter number %2d had an illegal value\n", wrong);
}
