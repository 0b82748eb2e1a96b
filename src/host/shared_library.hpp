// SPDX-License-Identifier: Apache-2.0
// An optional shared library of a baseline. It is loaded on first use, so that environment
// variables can be set before; in its own namespace, since BLAS libraries define the same symbols;
// and never unloaded, since its threads outlive calls.
#pragma once
#include <dlfcn.h>

namespace ladder::host {

class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}

  // False if the library or one of the functions is missing.
  bool found() const { return handle_ != nullptr && complete_; }

  template <typename Function>
  Function* get(const char* symbol) {
    void* address = handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
    complete_ = complete_ && address != nullptr;
    return reinterpret_cast<Function*>(address);
  }

 private:
  void* handle_;
  bool complete_ = true;
};

// Whether this processor has the AVX-512 subsets of Skylake servers. Older BLAS libraries treat
// newer processors as models without it, at half the speed.
inline bool has_avx512() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace ladder::host
