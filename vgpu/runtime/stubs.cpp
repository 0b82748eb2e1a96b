// SPDX-License-Identifier: Apache-2.0
// Stubs for every function of a library of CUDA (the runtime, cuBLAS, cuFFT, ...), so that any
// program loads. VGPU_NAMES is the file that lists them. A stub prints that the function is not
// implemented and returns an error. All stubs are weak: a definition elsewhere in the library
// replaces the stub. The CUDA headers are deliberately not included, because the stubs have no
// parameters. No stub reads an argument, and every stub returns an error code (or nothing).
namespace vgpu {
int refuse_unimplemented(const char* name, bool& said);  // errors.cpp; the library's own file
}

#define VGPU_STUB(name)                                                \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    static bool said = false;                                          \
    return vgpu::refuse_unimplemented(#name, said);                    \
  }
#include VGPU_NAMES
#undef VGPU_STUB
