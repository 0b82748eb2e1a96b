// SPDX-License-Identifier: Apache-2.0
// Shared by the test programs: they check their own results and exit with status 1 at the first
// wrong one.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../verdict.hpp"

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  wrong_result();
}

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorName(error), cudaGetErrorString(error));
  wrong_result();
}
