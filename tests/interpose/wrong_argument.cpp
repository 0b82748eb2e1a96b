// SPDX-License-Identifier: Apache-2.0
// Calls both functions with a leading dimension that is too small. Built as a program (the test
// reads its output), and as a module with libraries of its own, as Python loads them.
#include <cstdio>

extern "C" {
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
extern __attribute__((weak)) int calls_of_standin;

// Number of calls that reached the caller's own BLAS, or -1 without one.
__attribute__((visibility("default"))) int call_with_wrong_arguments() {
  constexpr int kRowMajor = 101, kNoTrans = 111;
  const float x[4] = {1, 1, 1, 1}, one = 1;
  float c[4] = {5, 5, 5, 5};
  const int two = 2, too_small = 1;
  cblas_sgemm(kRowMajor, kNoTrans, kNoTrans, 2, 2, 2, one, x, too_small, x, 2, one, c, 2);
  sgemm_("N", "N", &two, &two, &two, &one, x, &too_small, x, &two, &one, c, &two);
  for (const float value : c) {
    if (value != 5) std::puts("C was touched");
  }
  return &calls_of_standin != nullptr ? calls_of_standin : -1;
}
}

int main() {
  const int calls = call_with_wrong_arguments();
  std::printf("went on, %d calls passed on\n", calls);
}
