// SPDX-License-Identifier: Apache-2.0
// Stubs for every function of the real library, so that any program loads. A stub prints
// that the function is not implemented and returns an error. All stubs are weak: a definition
// elsewhere in this library replaces the stub. The cuBLAS headers are deliberately not included,
// because the stubs have no parameters. No stub reads an argument, and every stub returns a status.
namespace vgpu::blas {
int refuse_unimplemented(const char* name, bool& said);  // status.cpp
}

#define VGPU_STUB(name)                                                \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    static bool said = false;                                          \
    return vgpu::blas::refuse_unimplemented(#name, said);              \
  }
#include VGPU_NAMES
#undef VGPU_STUB
