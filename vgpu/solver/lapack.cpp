// SPDX-License-Identifier: Apache-2.0
#include "solver/lapack.hpp"

#include <dlfcn.h>

namespace vgpu::solver {

void* lapack_function(const char* name) {
  static void* const library = [] {
    void* found = nullptr;
    for (const char* file : {"libopenblas.so.0", "liblapack.so.3"})
      if (found == nullptr) found = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    return found;
  }();
  return library != nullptr ? ::dlsym(library, name) : nullptr;
}

}  // namespace vgpu::solver
