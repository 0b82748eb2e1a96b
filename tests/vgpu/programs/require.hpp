// SPDX-License-Identifier: Apache-2.0
// Shared by the test programs: they check their own results and exit with status 1 at the first
// wrong one.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>

#include "../verdict.hpp"

inline void require(cudaError_t error, const char* what, int line = __builtin_LINE()) {
  place = {line};
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s) (line %d)\n", what, cudaGetErrorName(error),
               cudaGetErrorString(error), line);
  wrong_result();
}

inline void require(cudaError_t found, cudaError_t expected, const char* what,
                    int line = __builtin_LINE()) {
  place = {line};
  if (found == expected) return;
  std::fprintf(stderr, "wrong: %s: %s, expected %s (line %d)\n", what, cudaGetErrorName(found),
               cudaGetErrorName(expected), line);
  wrong_result();
}
