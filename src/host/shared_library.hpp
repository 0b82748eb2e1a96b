// SPDX-License-Identifier: Apache-2.0
// A shared library that a baseline needs and that may be absent. Loaded when first asked for, so
// that what it reads from its environment while loading can be set before; apart from other
// libraries, since BLAS libraries define one another's names; and kept until the process ends,
// since their threads outlive any call.
#pragma once
#include <dlfcn.h>

namespace ladder::host {

class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}

  // False where the library or one of the functions is missing.
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

// Whether this processor has the AVX-512 of Skylake's servers. BLAS libraries older than it take it
// for an older one and leave half its speed.
inline bool has_avx512() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}
inline bool is_amd_with_avx512() {  // since Zen 4
#if defined(__x86_64__)
  return has_avx512() && __builtin_cpu_is("amd");
#else
  return false;
#endif
}

}  // namespace ladder::host
