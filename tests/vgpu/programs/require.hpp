// SPDX-License-Identifier: Apache-2.0
// Shared by the test programs: they check their own results and exit with status 1 at the first
// wrong one.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>

#include "../verdict.hpp"

inline void require(cudaError_t error, const char* what = "a call", int line = __builtin_LINE()) {
  place = {line};
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s) (line %d)\n", what, cudaGetErrorName(error),
               cudaGetErrorString(error), line);
  wrong_result();
}

inline void require(cudaError_t found, cudaError_t expected, const char* what = "a call",
                    int line = __builtin_LINE()) {
  place = {line};
  if (found == expected) return;
  std::fprintf(stderr, "wrong: %s: %s, expected %s (line %d)\n", what, cudaGetErrorName(found),
               cudaGetErrorName(expected), line);
  wrong_result();
}

// Of a call, and of cudaGetLastError behind it.
inline void fails(cudaError_t found, cudaError_t expected = cudaErrorInvalidValue,
                  int line = __builtin_LINE()) {
  require(found, expected, "the call", line);
  require(cudaGetLastError(), expected, "the last error", line);
}
inline void succeeds(cudaError_t found, int line = __builtin_LINE()) {
  fails(found, cudaSuccess, line);
}
