// SPDX-License-Identifier: Apache-2.0
// Imitates a program's own BLAS: counts the calls that reach it.
extern "C" {
__attribute__((visibility("default"))) int calls_of_standin = 0;
__attribute__((visibility("default"))) void cblas_sgemm(int, int, int, int, int, int, float,
                                                        const float*, int, const float*, int, float,
                                                        float*, int) {
  ++calls_of_standin;
}
__attribute__((visibility("default"))) void sgemm_(const char*, const char*, const int*, const int*,
                                                   const int*, const float*, const float*,
                                                   const int*, const float*, const int*,
                                                   const float*, float*, const int*) {
  ++calls_of_standin;
}
}
