// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/runtime.hpp"

namespace vgpu::runtime {

// The same copy between pitched memory. Throws Failure if it leaves an array.
cudaMemcpy3DParms without_arrays(const Runtime& runtime, const cudaMemcpy3DParms& what);

// An array as the pitched memory that holds it, for a copy that counts in bytes. Throws Failure if
// the copy leaves the array.
cudaPitchedPtr memory_of_array(const Runtime& runtime, cudaArray_const_t array, const cudaPos& at,
                               const cudaExtent& extent);

}  // namespace vgpu::runtime
