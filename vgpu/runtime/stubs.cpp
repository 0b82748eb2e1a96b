// SPDX-License-Identifier: Apache-2.0
// Stubs for every function of CUDA's runtime, so that any program loads. A stub prints
// that the function is not implemented and returns an error. All stubs are weak: a definition
// elsewhere in this library replaces the stub. The CUDA headers are deliberately not included,
// because the stubs have no parameters. No stub reads an argument, and every stub returns an error
// code (or nothing).
namespace vgpu::runtime {
int refuse_unimplemented(const char* name, bool& said);  // errors.cpp
}

#define VGPU_STUB(name)                                                \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    static bool said = false;                                          \
    return vgpu::runtime::refuse_unimplemented(#name, said);           \
  }
#include "runtime_names.inc"
#undef VGPU_STUB
