// SPDX-License-Identifier: Apache-2.0
// In the place of CUDA 12's runtime, linked in or shared: each function fails unless it is
// redirected or replaced.
#ifdef VGPU_SHARED_RUNTIME
#define VISIBILITY "default"
#else
#define VISIBILITY "hidden"
#endif
#define OF_12(name, ...)                                                     \
  extern "C" __attribute__((visibility(VISIBILITY))) int name(__VA_ARGS__) { \
    return not_redirected;                                                   \
  }
static volatile int not_redirected = 999;
#include "cuda12.hpp"
