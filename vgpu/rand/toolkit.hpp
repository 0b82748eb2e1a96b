// SPDX-License-Identifier: Apache-2.0
// The toolkit's own libcurand.so.10, whose host generators need no GPU.
#pragma once
#pragma GCC visibility push(default)
#include <curand.h>
#pragma GCC visibility pop

#include "include/host_call.hpp"

namespace vgpu::rand {

// The library's function of that name; null, and said once, if the library is not found.
void* toolkit_function(const char* name);

// toolkit<curandGenerate>("curandGenerate", argument...): what the library's function returns.
template <auto* Function, class... Arguments>
curandStatus_t toolkit(const char* name, Arguments... arguments) {
  static const auto function = reinterpret_cast<decltype(Function)>(toolkit_function(name));
  return function != nullptr ? function(arguments...) : CURAND_STATUS_INITIALIZATION_FAILED;
}

}  // namespace vgpu::rand
