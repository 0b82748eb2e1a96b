// SPDX-License-Identifier: Apache-2.0
// In the place of CUDA 12's runtime: each function fails unless it is redirected.
#define OF_12(name, ...) \
  extern "C" __attribute__((visibility("hidden"))) int name(__VA_ARGS__) { return not_redirected; }
static volatile int not_redirected = 999;
#include "cuda12.hpp"
