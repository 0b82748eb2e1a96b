// SPDX-License-Identifier: Apache-2.0
// The installed OpenBLAS (libopenblas.so.0): the baseline of the CPU rungs, and the FP64
// reference's product.
#pragma once
#include <string>

namespace ladder::host {

struct OpenBlas {
  // Values of cblas.h; integers are 32-bit, as in Debian's libopenblas0.
  static constexpr int kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112;
  using Sgemm = void(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                     const float* a, int lda, const float* b, int ldb, float beta, float* c,
                     int ldc);
  using Dgemm = void(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                     const double* a, int lda, const double* b, int ldb, double beta, double* c,
                     int ldc);
  Sgemm* sgemm = nullptr;
  Dgemm* dgemm = nullptr;
  void (*set_num_threads)(int) = nullptr;
  int (*get_num_procs)() = nullptr;
  std::string config;  // version and build
  std::string core;    // kernel set selected by OpenBLAS, such as "SkylakeX"
  // Forced by OPENBLAS_CORETYPE, which this program sets on processors with AVX-512.
  bool core_was_given = false;
};

// Null if it is not installed.
const OpenBlas* openblas();

}  // namespace ladder::host
