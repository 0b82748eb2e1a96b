// SPDX-License-Identifier: Apache-2.0
// Shared by the test programs of cuBLAS: random numbers, and checks of a call's status.
#pragma once
#include <cublas_v2.h>

#include <random>
#include <string>

#include "device_array.hpp"

inline std::mt19937 generator(7);
inline int any(int least, int most) {
  return std::uniform_int_distribution(least, most)(generator);
}
inline double uniform() { return std::uniform_real_distribution(-1.0, 1.0)(generator); }

inline void require(cublasStatus_t found, cublasStatus_t expected, const std::string& what,
                    int line = __builtin_LINE()) {
  require(found == expected, (what + ": " + cublasGetStatusName(found)).c_str(), line);
}
inline void ok(cublasStatus_t status, const std::string& what = "a call",
               int line = __builtin_LINE()) {
  require(status, CUBLAS_STATUS_SUCCESS, what, line);
}
