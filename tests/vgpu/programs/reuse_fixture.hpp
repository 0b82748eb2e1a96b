// SPDX-License-Identifier: Apache-2.0
// The functions of the virtual GPU that tests of reused launches need.
#pragma once
#include <dlfcn.h>

#include "require.hpp"
#include "vgpu/vgpu.h"

template <class F>
F* vgpu_function(const char* name) {
  void* const symbol = dlsym(RTLD_DEFAULT, name);
  require(symbol != nullptr, name);
  return reinterpret_cast<F*>(symbol);
}

inline size_t reused_launches() {
  static const auto function = vgpu_function<decltype(vgpuReusedLaunches)>("vgpuReusedLaunches");
  return function();
}

inline int set_reuse(int on) {
  static const auto function = vgpu_function<decltype(vgpuSetReuse)>("vgpuSetReuse");
  return function(on);
}
