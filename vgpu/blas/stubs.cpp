// SPDX-License-Identifier: Apache-2.0
// Every function of the real libcublas.so.13 exists here, so that any program loads: those that are
// not implemented say so and fail. All are weak: a definition elsewhere in this library takes a
// stub's place. The cuBLAS headers are not included on purpose: these have no parameters. Nothing
// reads an argument, and every one returns a status.
namespace vgpu::blas {
int refuse_unimplemented(const char* name, bool& said);  // handle.cpp
}

#define VGPU_STUB(name)                                                \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    static bool said = false;                                          \
    return vgpu::blas::refuse_unimplemented(#name, said);              \
  }
#include "blas/names.inc"
#undef VGPU_STUB
