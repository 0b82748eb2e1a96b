// SPDX-License-Identifier: Apache-2.0
// Every function of the real libcudart.so.13 exists here, so that any program loads: those that are
// not implemented say so and fail. All are weak: a definition elsewhere in this library takes a
// stub's place. The CUDA headers are not included on purpose: these have no parameters. Nothing
// reads an argument, and every one returns an error code (or nothing).
namespace vgpu::runtime {
int refuse_unimplemented(const char* name, bool& said);  // errors.cpp
}

#define VGPU_STUB(name)                                                \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    static bool said = false;                                          \
    return vgpu::runtime::refuse_unimplemented(#name, said);           \
  }
#include "runtime/names.inc"
#undef VGPU_STUB
