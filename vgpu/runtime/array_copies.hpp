// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/runtime.hpp"

namespace vgpu::runtime {

// The same copy between pitched memory. Throws Failure if it leaves an array.
cudaMemcpy3DParms without_arrays(const Runtime& runtime, const cudaMemcpy3DParms& what);

}  // namespace vgpu::runtime
