// SPDX-License-Identifier: Apache-2.0
// Giving memory to the program and taking it back, with what was never freed.
#pragma once
#include <cstddef>
#include <string>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {

// On the calling thread's device. 0 bytes give a null pointer. `caller`: where the program asked,
// for the leak check.
cudaError_t allocate(Runtime& runtime, void** pointer, std::size_t bytes, Origin origin,
                     unsigned flags, const void* caller);

// Throws Failure, naming `function`, where no live allocation of such an origin starts at
// `pointer`.
cudaError_t release(Runtime& runtime, const char* function, void* pointer, bool host);

// The report of what was never freed, several lines; "" if nothing. Pinned memory counts, memory
// pools' does too.
std::string leaks(const Runtime& runtime);

}  // namespace vgpu::runtime
